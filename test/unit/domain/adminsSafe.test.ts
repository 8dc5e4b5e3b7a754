/** @deep */
import fc from 'fast-check';
import {
  type AdminsSafeStatus,
  adminsSafeStatus,
  type Owners,
  type OwnersStep,
  planOwners,
  SENTINEL,
  wantedOwners,
} from '../../../src/domain/adminsSafe';
import { adminsSafeNotes } from '../../../src/domain/adminsSafeNotes';
import { adminsOf, type OrganizationState } from '../../../src/domain/governance';
import type { WalletKind } from '../../../src/domain/wallet';
import { anAddress } from '../../support/builders';
import { DEEP } from '../../support/suite';

/** The owners of a Safe as its contract keeps them: OwnerManager 1.4.1, with all that it requires. */
class OwnersOnChain {
  private readonly next = new Map<string, string>();
  private count: number;

  constructor(
    { owners }: Owners,
    private threshold: number,
  ) {
    for (const [at, owner] of [SENTINEL, ...owners].entries()) this.next.set(owner, owners[at] ?? SENTINEL);
    this.count = owners.length;
  }

  make(step: OwnersStep): void {
    switch (step.kind) {
      case 'add':
        this.assertNew(step.owner);
        this.next.set(step.owner, this.after(SENTINEL));
        this.next.set(SENTINEL, step.owner);
        this.count += 1;
        this.change(step.threshold);
        break;
      case 'swap':
        this.assertNew(step.by);
        expect(this.after(step.previous)).toBe(step.owner);
        this.next.set(step.by, this.after(step.owner));
        this.next.set(step.previous, step.by);
        this.next.delete(step.owner);
        break;
      case 'remove':
        expect(this.count - 1).toBeGreaterThanOrEqual(step.threshold);
        expect(this.after(step.previous)).toBe(step.owner);
        this.next.set(step.previous, this.after(step.owner));
        this.next.delete(step.owner);
        this.count -= 1;
        this.change(step.threshold);
        break;
      case 'threshold':
        this.change(step.threshold);
        break;
    }
  }

  read(): Owners {
    const owners: string[] = [];
    for (let owner = this.after(SENTINEL); owner !== SENTINEL; owner = this.after(owner)) owners.push(owner);
    return { owners, threshold: this.threshold };
  }

  private change(threshold: number): void {
    expect(threshold).toBeGreaterThanOrEqual(1);
    expect(threshold).toBeLessThanOrEqual(this.count);
    this.threshold = threshold;
  }

  private assertNew(owner: string): void {
    expect([SENTINEL, ...this.next.keys()]).not.toContain(owner);
  }

  private after(owner: string): string {
    const next = this.next.get(owner);
    if (next === undefined) throw new Error(`${owner} is not in the list`);
    return next;
  }
}

const wallets = Array.from({ length: 12 }, () => anAddress());
const aSet = fc
  .shuffledSubarray(wallets, { minLength: 1, maxLength: 8 })
  .chain((owners) =>
    fc.integer({ min: 1, max: owners.length }).map((threshold): Owners => ({ owners, threshold })),
  );

describe('the plan from some owners to others', () => {
  const run = (check: (observed: Owners, wanted: Owners) => void) =>
    fc.assert(fc.property(aSet, aSet, check), { numRuns: DEEP ? 20_000 : 1_000 });

  test('makes the wanted ones, and the contract accepts each step', () => {
    run((observed, wanted) => {
      const chain = new OwnersOnChain(observed, observed.threshold);
      for (const step of planOwners(observed, wanted)) chain.make(step);
      const made = chain.read();
      expect([...made.owners].sort()).toEqual([...wanted.owners].sort());
      expect(made.threshold).toBe(wanted.threshold);
    });
  });

  test('has no step too many, and writes nobody but who is wanted', () => {
    run((observed, wanted) => {
      const steps = planOwners(observed, wanted);
      const [leaving, coming] = [
        observed.owners.filter((owner) => !wanted.owners.includes(owner)),
        wanted.owners.filter((owner) => !observed.owners.includes(owner)),
      ];
      const isThresholdAlone = leaving.length === coming.length && observed.threshold !== wanted.threshold;
      expect(steps).toHaveLength(Math.max(leaving.length, coming.length) + (isThresholdAlone ? 1 : 0));
      for (const step of steps) {
        if (step.kind === 'add') expect(coming).toContain(step.owner);
        if (step.kind === 'swap') expect(coming).toContain(step.by);
      }
    });
  });

  test('is empty where nothing differs, whatever the order and the case of addresses', () => {
    const [one, two] = wallets as [string, string];
    const observed = { owners: [one, two], threshold: 2 };
    expect(
      planOwners(observed, {
        owners: [two.toLowerCase(), one.toUpperCase().replace('X', 'x')],
        threshold: 2,
      }),
    ).toEqual([]);
  });
});

describe('who owns it on a network', () => {
  const stateOf = (kinds: readonly WalletKind[], threshold: number, addresses = wallets) => {
    const members = kinds.map((walletKind, at) => {
      const walletAddress = addresses[at] as string;
      return {
        id: `mem_${at}`,
        name: `M${at}`,
        type: 'user' as const,
        walletAddress,
        walletKind,
        revision: 0,
      };
    });
    const memberIds = members.map(({ id }) => id);
    return {
      members: Object.fromEntries(
        [...members, { ...members[0], id: 'mem_other' }].map((one) => [one.id, one]),
      ),
      admins: { id: 'adm_1', memberIds, threshold, revision: 0 },
    } as unknown as OrganizationState;
  };
  const on = (id: number) => ({ id, signerNetworkId: 1 });

  test('are the admins with a key, and on the network of contract wallets all', () => {
    const state = stateOf(['key', 'contract', 'key'], 2);
    const keys = [wallets[0], wallets[2]];
    expect(wantedOwners(adminsOf(state), on(2))).toEqual({ kind: 'owners', owners: keys, threshold: 2 });
    expect(wantedOwners(adminsOf(state), on(1))).toEqual({
      kind: 'owners',
      owners: wallets.slice(0, 3),
      threshold: 2,
    });
  });

  test('are nobody where too few have a key: the threshold is never lowered', () => {
    const state = stateOf(['key', 'contract', 'key'], 3);
    expect(wantedOwners(adminsOf(state), on(2))).toMatchObject({
      kind: 'impossible',
      reason: expect.stringMatching(/^2 admins have .*, and 3 must sign/),
    });
    expect(wantedOwners(adminsOf(state), on(1))).toMatchObject({ kind: 'owners', threshold: 3 });
  });

  test('never are the address that begins the list', () => {
    const state = stateOf(['key', 'key'], 1, [SENTINEL, wallets[1] as string]);
    expect(wantedOwners(adminsOf(state), on(1))).toMatchObject({ owners: [wallets[1]] });
  });
});

describe('how it is on a network', () => {
  const [keeper, one, two, other] = wallets as [string, string, string, string];
  const statusOf = (found: object, written: number | null = 3) =>
    adminsSafeStatus(
      {
        ...{ owners: [one, two], threshold: 2, modules: [keeper], guard: zero, fallbackHandler: zero },
        ...found,
      },
      { keeper, fallbackHandler: zero, wanted: { owners: [two, one], threshold: 2 }, sequence: 4, written },
    ).status;
  const zero = `0x${'0'.repeat(40)}`;

  test('is diverged where another module can act for it, and behind where owners were decided since', () => {
    expect(statusOf({})).toBe('current');
    expect(statusOf({ modules: [other, keeper] })).toBe('diverged');
    expect(statusOf({ modules: [other, keeper], owners: [one, other] })).toBe('behind');
    expect(statusOf({ modules: [other, keeper], owners: [one, other] }, 4)).toBe('diverged');
    expect(statusOf({ owners: [one, other] }, 4)).toBe('diverged');
    expect(statusOf({ modules: [other] })).toBe('independent');
    expect(statusOf({ owners: [keeper], modules: [] })).toBe('missing');
  });
});

describe('what is noted before a change is signed', () => {
  const member = (id: string, walletKind: WalletKind) => [
    id,
    { id, name: id, type: 'user', walletAddress: anAddress(), walletKind, revision: 0 },
  ];
  const state = (change: { threshold: number; kinds: WalletKind[]; revision?: number; onChain?: true }) =>
    ({
      members: Object.fromEntries(change.kinds.map((kind, i) => member(`mem_${i}`, kind))),
      accounts: { acc_1: { id: 'acc_1', networkIds: [1, 10] } },
      admins: {
        ...{ id: 'adm_1', memberIds: change.kinds.map((_, i) => `mem_${i}`), threshold: change.threshold },
        ...{ revision: change.revision ?? 0, onChain: change.onChain ?? true },
      },
    }) as unknown as OrganizationState;
  const before = state({ threshold: 1, kinds: ['key', 'contract'] });
  const safe = (networkId: number, status: AdminsSafeStatus, reason: string | null = null) => ({
    ...{ networkId, status, reason },
  });

  it('is each network where too few could own it, once', () => {
    const after = state({ threshold: 2, kinds: ['key', 'contract'], revision: 1 });
    expect(adminsSafeNotes(before, after, { signerNetworkId: 1, safes: [] })).toEqual([
      {
        code: 'adminsSafeImpossible',
        message: expect.stringMatching(/^nobody could take accounts over on network 10: 1 admins/),
      },
    ]);
    expect(adminsSafeNotes(after, after, { signerNetworkId: 1, safes: [] })).toEqual([]);
  });

  it('is where it is not what was decided, for a change of the admins', () => {
    const after = state({ threshold: 1, kinds: ['key', 'key'], revision: 1 });
    const safes = [safe(1, 'behind'), safe(10, 'diverged', 'it has a guard'), safe(11, 'current')];
    expect(adminsSafeNotes(before, after, { signerNetworkId: 1, safes })).toEqual([
      { code: 'adminsSafeNotCurrent', message: "the admins' Safe on network 1 is behind" },
      { code: 'adminsSafeNotCurrent', message: "the admins' Safe on network 10 is diverged: it has a guard" },
    ]);
    expect(adminsSafeNotes(before, before, { signerNetworkId: 1, safes })).toEqual([]);
  });
});
