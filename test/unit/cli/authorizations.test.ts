import {
  authorizationFindings,
  comparisonOf,
  groupsByBlock,
  type Looked,
} from '../../../src/cli/doctor/authorizationChecks';
import { aHash } from '../../support/builders';

const NOW = Date.now();
const SENT = aHash();
const EMPTY = aHash();

type Recorded = Looked['of'];
const of = (change: Partial<Recorded> = {}): Recorded => ({
  transactionId: 'txn_1',
  accountId: 'acc_1',
  address: '0xacc',
  safeNonce: 3n,
  safeTxHash: SENT,
  cancellationHash: EMPTY,
  unknownHash: null,
  authorizedAt: new Date(NOW - 3_600_000),
  outcome: null,
  blockNumber: null,
  fromBlock: 90n,
  ...change,
});
const looked = (recorded: Partial<Recorded>, seen: Partial<Looked> = {}): Looked => ({
  of: of(recorded),
  found: null,
  used: null,
  complete: false,
  isAhead: false,
  ...seen,
});
const execution = (safeTxHash: string, kind: 'success' | 'failure', blockNumber = 100n) => ({
  found: {
    account: '0xacc' as const,
    safeTxHash: safeTxHash as `0x${string}`,
    kind,
    blockNumber,
    blockHash: aHash(),
  },
});
const inBlock = { blockNumber: 100n };

describe('doctor about authorizations on chain', () => {
  it.each([
    ['same', { outcome: 'executed', ...inBlock }, execution(SENT, 'success')],
    ['same', { outcome: 'reverted', ...inBlock }, execution(SENT, 'failure')],
    ['same', { outcome: 'cancelled', ...inBlock }, execution(EMPTY, 'success')],
    ['different', { outcome: 'executed', ...inBlock }, execution(SENT, 'failure')],
    ['different', { outcome: 'executed', ...inBlock }, execution(EMPTY, 'success')],
    ['different', { outcome: 'reverted', ...inBlock }, execution(SENT, 'success')],
    ['missing', { outcome: 'executed', ...inBlock }, {}],
    ['missing', { outcome: 'executed' }, { used: false }],
    ['missing', { outcome: 'executed' }, { used: true, complete: true }],
    ['unknown', { outcome: 'executed' }, { used: true }],
    ['unknown', { outcome: 'executed' }, {}],
    ['ahead', { outcome: 'executed', ...inBlock }, { isAhead: true }],
    ['same', { outcome: 'executed', ...inBlock }, { isAhead: true, ...execution(SENT, 'success') }],
    ['open', {}, { used: false }],
    ['open', {}, { used: true, ...execution(SENT, 'success', 111n) }],
    ['unread', {}, { used: true, ...execution(SENT, 'success', 110n) }],
    ['unread', {}, { used: true, ...execution(EMPTY, 'success', 110n) }],
    ['taken', {}, { used: true, complete: true }],
    ['unknown', {}, { used: true }],
    ['unknown', {}, {}],
  ] as const)('calls it %s, recorded as %j, with %j on chain', (comparison, recorded, seen) => {
    expect(comparisonOf(looked(recorded, seen), 110n)).toBe(comparison);
  });

  const on = { id: 1, confirmed: 110n };
  const taken = { used: true, complete: true };

  it('fails for an outcome that the chain does not have, or has otherwise', () => {
    const some = [
      looked({ transactionId: 'txn_a', outcome: 'executed', ...inBlock }),
      looked({ transactionId: 'txn_b', outcome: 'reverted', ...inBlock }, execution(SENT, 'success')),
      looked({ outcome: 'executed', ...inBlock }, execution(SENT, 'success')),
    ];
    expect(authorizationFindings({ ...on, total: 3 }, some, NOW)).toMatchObject([
      { part: 'authorizations 1', status: 'fail', found: 'recorded, and not on chain: txn_a (executed)' },
      { status: 'fail', found: 'the chain shows another outcome than recorded: txn_b (reverted)' },
    ]);
  });

  it('does not call missing what the node is too far behind to have', () => {
    const behind = [looked({ transactionId: 'txn_a', outcome: 'executed', ...inBlock }, { isAhead: true })];
    expect(authorizationFindings({ ...on, total: 1 }, behind, NOW)).toEqual([
      {
        part: 'authorizations 1',
        status: 'warn',
        found: 'recorded in blocks that its node does not have yet: txn_a (executed)',
        todo: 'run doctor again in a minute; then check the node',
      },
    ]);
  });

  it('warns of a nonce that something else has used, and fails after ten minutes', () => {
    const found = 'something else has used the nonce of txn_1';
    const after = (ms: number) =>
      authorizationFindings({ ...on, total: 1 }, [looked({ authorizedAt: new Date(NOW - ms) }, taken)], NOW);
    expect(after(599_000)).toMatchObject([{ status: 'warn', found }]);
    expect(after(600_000)).toMatchObject([{ status: 'fail', found }]);
  });

  it('is ok with what is open, and says how many could not be compared', () => {
    const same = looked({ outcome: 'executed', ...inBlock }, execution(SENT, 'success'));
    const some = [same, looked({}, { used: false })];
    const found = (list: readonly Looked[], total: number) =>
      authorizationFindings({ ...on, total }, list, NOW).map((one) => [one.status, one.found]);
    expect(found(some, 2)).toEqual([
      ['ok', '2 authorizations, 1 undecided: the chain shows what is recorded'],
    ]);
    expect(found([...some, looked({})], 5)).toEqual([
      ['ok', '2 of 5 compared, 1 undecided: the chain shows what is recorded'],
    ]);
    expect(found([], 0)).toEqual([['ok', 'none yet']]);
  });

  it('asks for at most a hundred at once, within a thousand blocks', () => {
    const at = (...blocks: readonly number[]) => blocks.map((block) => ({ blockNumber: BigInt(block) }));
    const sizes = (groups: readonly (readonly unknown[])[]) => groups.map(({ length }) => length);
    expect(groupsByBlock([...at(1, 2_000, 1_001, 1_000), { blockNumber: null }])).toEqual([
      at(2_000, 1_001),
      at(1_000, 1),
    ]);
    expect(sizes(groupsByBlock(at(...Array.from({ length: 250 }, () => 7))))).toEqual([100, 100, 50]);
  });
});
