import {
  accountsOnNetworks,
  formerOwners,
  isLate,
  isOutOfReach,
  type SafeOnNetwork,
  weaknessesOf,
} from '../../../console/src/domain/adminsSafe';
import { differenceOf } from '../../../console/src/text/difference';
import { anAddress } from '../../support/builders';

const admin = (type: 'user' | 'api' = 'user', walletKind: 'key' | 'contract' = 'key') => ({
  ...{ id: 'mem_1', name: 'Alice', type, walletAddress: anAddress(), walletKind },
});

const NOW = Date.parse('2026-11-26T12:00:00.000Z');
const safe = (over: Partial<SafeOnNetwork> = {}): SafeOnNetwork => ({
  networkId: 1,
  status: 'behind',
  owners: [],
  threshold: 2,
  sequence: 1,
  since: '2026-11-26T11:00:00.000Z',
  observedAt: '2026-11-26T11:59:00.000Z',
  reason: null,
  ...over,
});

describe("the admins' Safe", () => {
  it('is weak where one wallet is enough, and where bots are', () => {
    const [person, other, bot] = [admin(), admin(), admin('api')];
    expect(weaknessesOf({ members: [person, other, bot], threshold: 2 })).toEqual([]);
    expect(weaknessesOf({ members: [person, other], threshold: 1 })).toEqual(['threshold']);
    expect(weaknessesOf({ members: [person, bot, admin('api')], threshold: 2 })).toEqual(['bots']);
    expect(weaknessesOf({ members: [person, bot], threshold: 1 })).toEqual(['threshold', 'bots']);
  });

  it('is out of reach where fewer admins have a key than must sign', () => {
    const contract = admin('user', 'contract');
    expect(isOutOfReach({ members: [admin(), admin(), contract], threshold: 2 })).toBe(false);
    expect(isOutOfReach({ members: [admin(), contract], threshold: 2 })).toBe(true);
  });

  it('has former owners, whatever the case of their addresses', () => {
    const [alice, bob] = [admin(), admin()];
    const owners = [alice.walletAddress.toLowerCase(), bob.walletAddress];
    expect(formerOwners(safe({ owners }), { members: [alice], threshold: 1 })).toEqual([bob.walletAddress]);
    expect(formerOwners(safe({ owners: null }), { members: [alice], threshold: 1 })).toEqual([]);
  });

  it('is late after an hour in which the admins of now are not there', () => {
    expect(isLate(safe(), NOW)).toBe(false);
    expect(isLate(safe(), NOW + 1)).toBe(true);
    expect(isLate(safe({ status: 'missing' }), NOW + 1)).toBe(true);
    for (const status of ['current', 'diverged', 'independent', 'impossible', 'unknown'] as const)
      expect(isLate(safe({ status }), NOW + 1)).toBe(false);
  });

  it('is for each account on each network', () => {
    const networks = [1, 2].map((id) => ({ id, name: `Network ${id}`, rescue: 'ready' as const }));
    const account = { id: 'acc_1', name: 'Treasury', address: anAddress(), createdAt: '', updatedAt: '' };
    expect(accountsOnNetworks([{ ...account, networks }]).map(({ network }) => network.id)).toEqual([1, 2]);
  });
});

test('a change of the admins says whether their Safe is on, before and after', () => {
  const members = [admin()];
  const now = { members, groups: [], policies: [], accounts: [], admins: { members, threshold: 1 } };
  const names = { member: () => undefined, group: () => undefined, account: () => undefined };
  const compared = { ...now, ...names, network: () => undefined } as unknown as Parameters<
    typeof differenceOf
  >[1];
  const data = { members, threshold: 1, onChain: true };
  const [change] = differenceOf({ resourceType: 'admins', action: 'update', data }, compared);
  expect(change?.fields).toEqual([{ field: "Admins' Safe", before: 'off', after: 'on' }]);
  const on = { ...compared, admins: { members, threshold: 1, onChain: { enabled: true } } };
  expect(differenceOf({ resourceType: 'admins', action: 'update', data }, on)[0]?.fields).toEqual([]);
});
