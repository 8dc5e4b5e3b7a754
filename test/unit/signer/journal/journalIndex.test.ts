import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { UsageWindow } from '../../../../src/domain/policyEngine';
import type { AuthorizationEntry, JournalEntry } from '../../../../src/signer/journal/entries';
import { type Journal, openJournal } from '../../../../src/signer/journal/journal';
import { type JournalReader, readJournal } from '../../../../src/signer/journal/journalReader';
import { A_RECORD } from './record';

const HOUR_MS = 3_600_000;
const TIME = Date.parse('2026-01-01T00:00:00.000Z');
const NETWORK = 31_337;

const IDS = ['txn_0', 'txn_1', 'txn_2', 'txn_3', 'txn_4', 'txn_5', 'txn_6', 'txn_7'];
const POLICIES = ['pol_0', 'pol_1'];
const ACCOUNTS = ['acc_0', 'acc_1'];

/** What each transaction is; one that replaces another replaces an earlier one. */
interface Transaction {
  readonly replaces: number | null;
  readonly policy: number;
  /** Whether votes bind it to its policy and its initiator. */
  readonly isBound: boolean;
  readonly account: number;
  readonly amount: number;
  /** Minutes after TIME. */
  readonly authorizedAt: number;
}

type Act =
  | { readonly kind: 'authorize' | 'reject' | 'cancel'; readonly of: number }
  | {
      readonly kind: 'decide';
      readonly of: number;
      readonly outcome: 'executed' | 'reverted' | 'cancelled';
      readonly at: number;
    }
  | { readonly kind: 'undecide'; readonly of: number; readonly usedAt: number | null }
  | { readonly kind: 'unknown'; readonly of: number };

const minute = fc.nat({ max: 600 });
const place = fc.nat({ max: IDS.length - 1 });
const transactions = fc.tuple(
  ...IDS.map((_, i) =>
    fc.record<Transaction>({
      replaces: i === 0 ? fc.constant(null) : fc.option(fc.nat({ max: i - 1 }), { nil: null }),
      policy: fc.nat({ max: 1 }),
      isBound: fc.boolean(),
      account: fc.nat({ max: 1 }),
      amount: fc.integer({ min: 0, max: 9 }),
      authorizedAt: minute,
    }),
  ),
);
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('authorize' as const), of: place }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('reject' as const, 'cancel' as const), of: place }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('decide' as const),
      of: place,
      outcome: fc.constantFrom('executed' as const, 'reverted' as const, 'cancelled' as const),
      at: minute,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('undecide' as const),
      of: place,
      usedAt: fc.option(minute, { nil: null }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('unknown' as const), of: place }) },
);

const timeOf = (minutes: number) => TIME + minutes * 60_000;
const textOf = (minutes: number) => new Date(timeOf(minutes)).toISOString();

/** The journal as a plain list of what has happened, from which every answer is worked out anew. */
class Model {
  readonly happened: Act[] = [];

  constructor(readonly all: readonly Transaction[]) {}

  of = (i: number) => this.all[i] as Transaction;

  private places(kind: Act['kind']): number[] {
    return this.happened.filter((one) => one.kind === kind).map((one) => one.of);
  }

  get authorized(): number[] {
    return this.places('authorize');
  }

  isAuthorized = (i: number) => this.authorized.includes(i);

  /** What has been read of one since it was authorized, in order. */
  private read(i: number) {
    const since = this.happened.findIndex((one) => one.kind === 'authorize' && one.of === i);
    return this.happened
      .slice(since + 1)
      .filter((one) => one.of === i && (one.kind === 'decide' || one.kind === 'undecide')) as Extract<
      Act,
      { kind: 'decide' | 'undecide' }
    >[];
  }

  outcomeOf = (i: number) => this.read(i).at(-1);

  isUndecided(i: number): boolean {
    return this.isAuthorized(i) && this.outcomeOf(i)?.kind !== 'decide';
  }

  /** Decided against, and undecided later, without an execution since. */
  isUndone(i: number): boolean {
    const read = this.read(i);
    return read.some((one, at) => {
      const before = read[at - 1];
      const isUndone = one.kind === 'undecide' && before?.kind === 'decide' && before.outcome !== 'executed';
      const later = read.slice(at + 1);
      return isUndone && !later.some((two) => two.kind === 'decide' && two.outcome === 'executed');
    });
  }

  /** The journal knows what one replaces when it has that one. */
  knowsReplaced = (i: number) => this.isAuthorized(i) || this.places('reject').includes(i);

  /** What it replaces in the end, as far as the journal knows that. */
  rootOf(i: number, replaces: number | null): number {
    if (replaces === null) return i;
    return this.knowsReplaced(replaces) ? this.rootOf(replaces, this.of(replaces).replaces) : replaces;
  }

  family(i: number): number[] {
    const root = this.rootOf(i, this.of(i).replaces);
    return this.authorized.filter((other) => this.rootOf(other, this.of(other).replaces) === root);
  }

  /** What nothing binds to a policy counts in each. */
  isOf(i: number, policy: number): boolean {
    return !this.of(i).isBound || this.of(i).policy === policy;
  }

  countedFrom(i: number): number {
    const authorizedAt = timeOf(this.of(i).authorizedAt);
    const known = this.outcomeOf(i);
    if (known?.kind === 'decide') {
      return known.outcome === 'executed' ? Math.max(authorizedAt, timeOf(known.at)) : -Infinity;
    }
    return known?.kind === 'undecide' && known.usedAt !== null
      ? Math.max(authorizedAt, timeOf(known.usedAt))
      : Infinity;
  }
}

const nonceOf = (of: number) => ({
  accountId: '',
  networkId: NETWORK,
  safeNonce: String(of),
});

function entryOf(model: Model, one: Act): JournalEntry {
  const transaction = model.of(one.of);
  const transactionId = IDS[one.of] as string;
  const accountId = ACCOUNTS[transaction.account] as string;
  const replaces = transaction.replaces === null ? null : (IDS[transaction.replaces] as string);
  const common = { organizationId: 'org_1', transactionId };
  const decided = {
    ...common,
    accountId,
    networkId: NETWORK,
    policyId: POLICIES[transaction.policy] as string,
    initiatorId: 'mem_1',
    tokenAddress: '0x0',
    amount: String(transaction.amount),
    destination: '0xto',
    replaces,
    record: A_RECORD,
  };
  switch (one.kind) {
    case 'authorize':
      return {
        type: 'authorization',
        ...decided,
        safeNonce: String(one.of),
        safeTxHash: `0x${transactionId}`,
        account: '0xacc',
        to: '0xto',
        value: '0',
        data: '0x',
        safeTxGas: '1',
        fromBlock: '7',
        authorizedAt: textOf(transaction.authorizedAt),
        evidence: transaction.isBound ? {} : null,
      } satisfies AuthorizationEntry;
    case 'reject':
      return { type: 'rejection', ...decided, expiresAt: null };
    case 'cancel':
      return {
        type: 'cancellation',
        ...common,
        ...nonceOf(one.of),
        accountId,
        safeTxHash: `0xcancel ${one.of}`,
      };
    case 'unknown':
      return {
        type: 'unknownExecution',
        organizationId: 'org_1',
        ...nonceOf(one.of),
        accountId,
        safeTxHash: `0xunknown ${one.of}`,
        transactionHash: '0x1',
      };
    case 'decide':
      return { type: 'outcome', ...common, outcome: one.outcome, blockAt: textOf(one.at) };
    case 'undecide':
      return {
        type: 'outcome',
        ...common,
        outcome: null,
        blockAt: null,
        ...(one.usedAt === null ? {} : { usedAt: textOf(one.usedAt) }),
      };
  }
}

/** Whether the signer does this: it reads outcomes of authorizations, and replaces what is in the journal or never was. */
function isDone(model: Model, one: Act): boolean {
  const { happened } = model;
  const has = (kind: Act['kind']) => happened.some((other) => other.kind === kind && other.of === one.of);
  switch (one.kind) {
    case 'authorize': {
      // What it replaces is decided about first: authorized, or rejected with the authorization.
      const { replaces } = model.of(one.of);
      const isKnown =
        replaces === null ||
        happened.some(({ kind, of }) => of === replaces && (kind === 'authorize' || kind === 'reject'));
      return isKnown && !has('authorize') && !has('reject') && !has('cancel') && !has('unknown');
    }
    case 'reject':
      return !has('authorize') && !has('reject');
    case 'cancel':
      return !has('cancel') && !has('unknown');
    case 'unknown':
      return !has('unknown');
    default:
      return has('authorize');
  }
}

type Done = (model: Model, one: Act) => boolean;

/** What was replaced is in the journal before what replaces it is rejected. */
const inOrder: Done = (model, one) => {
  const { replaces } = model.of(one.of);
  return one.kind !== 'reject' || replaces === null || model.knowsReplaced(replaces);
};

const FLUSHED = 10;

const window = (policyId: string, change: Partial<UsageWindow> = {}): UsageWindow => ({
  policyId,
  hours: 2,
  asset: null,
  initiatorId: null,
  accountId: null,
  destination: null,
  ...change,
});

function expectFamilies(journal: JournalReader, model: Model): void {
  IDS.forEach((id, i) => {
    const { replaces } = model.of(i);
    const replaced = replaces === null ? null : (IDS[replaces] as string);
    expect([id, journal.paymentOf(id, replaced)]).toEqual([id, IDS[model.rootOf(i, replaces)]]);
    const others = journal.othersOf(id, replaced).map(({ transactionId }) => transactionId);
    const family = model.family(i).filter((other) => other !== i);
    expect([id, [...others].sort()]).toEqual([id, family.map((other) => IDS[other]).sort()]);
    // One that the journal has needs not be told what it replaces.
    if (model.isAuthorized(i)) {
      expect(journal.othersOf(id, null).map(({ transactionId }) => transactionId)).toEqual(others);
    }
  });
}

function expectAnswers(journal: JournalReader, model: Model): void {
  const known = model.all.map((_, i) => i);
  expect([...journal.undecidedIds()].sort()).toEqual(
    known.filter((i) => model.isUndecided(i)).map((i) => IDS[i]),
  );
  POLICIES.forEach((policyId, policy) => {
    const undecided = model.authorized.filter((i) => model.isOf(i, policy) && model.isUndecided(i));
    // What is bound to no policy comes last.
    const inOrder = [...undecided].sort((i, j) => Number(model.of(j).isBound) - Number(model.of(i).isBound));
    expect(journal.undecidedIds(policyId)).toEqual(inOrder.map((i) => IDS[i]));
  });
  for (const i of known) {
    const id = IDS[i] as string;
    const { account } = model.of(i);
    expect([id, journal.isUndone(id)]).toEqual([id, model.isUndone(i)]);
    const isCancelled = model.happened.some(({ kind, of }) => kind === 'cancel' && of === i);
    expect(journal.cancellationOf(id)?.safeNonce).toBe(isCancelled ? String(i) : undefined);
    const taken = journal.takenAt({
      accountId: ACCOUNTS[account] as string,
      networkId: NETWORK,
      safeNonce: BigInt(i),
    });
    if (model.isAuthorized(i)) {
      // Neither its cancellation nor an execution that nobody knows takes its place.
      expect(taken).toMatchObject({ transactionId: id, safeTxHash: `0x${id}` });
    } else if (isCancelled) {
      expect(taken).toMatchObject({ transactionId: id, safeTxHash: `0xcancel ${i}` });
    } else if (!model.happened.some(({ kind, of }) => kind === 'unknown' && of === i)) {
      expect(taken).toBeUndefined();
    }
  }
  ACCOUNTS.forEach((accountId, account) => {
    const takes: readonly Act['kind'][] = ['authorize', 'cancel', 'unknown'];
    const nonces = model.happened
      .filter(({ kind, of }) => takes.includes(kind) && model.of(of).account === account)
      .map(({ of }) => of);
    const highest = nonces.length === 0 ? undefined : BigInt(Math.max(...nonces));
    expect(journal.highestNonce({ accountId, networkId: NETWORK })).toBe(highest);
  });
  expectFamilies(journal, model);
  expectUsage(journal, model);
}

function expectUsage(journal: JournalReader, model: Model): void {
  POLICIES.forEach((policyId, policy) => {
    for (const at of [0, 180, 400, 900]) {
      for (const except of [undefined, ...IDS.slice(0, 3)]) {
        for (const [accountId, initiatorId] of [
          [null, null],
          ['acc_1', null],
          [null, 'mem_1'],
          [null, 'mem_2'],
        ] as const) {
          const begin = timeOf(at) - 2 * HOUR_MS;
          const counted = model.authorized.filter(
            (i) =>
              model.isOf(i, policy) &&
              IDS[i] !== except &&
              (initiatorId !== 'mem_2' || !model.of(i).isBound) &&
              (accountId === null || ACCOUNTS[model.of(i).account] === accountId) &&
              model.countedFrom(i) >= begin,
          );
          expect(
            journal.usageIn(window(policyId, { accountId, initiatorId }), new Date(timeOf(at)), except),
          ).toEqual({
            amount: counted.reduce((sum, i) => sum + BigInt(model.of(i).amount), 0n),
            executions: counted.length,
          });
        }
      }
    }
  });
}

/** What the sequences must have had for their answers to mean anything. */
function count(seen: Record<'families' | 'undone' | 'cancelledOnly' | 'used', number>, model: Model): void {
  const all = IDS.map((_, i) => i);
  const isCancelled = (i: number) => model.happened.some(({ kind, of }) => kind === 'cancel' && of === i);
  seen.families += all.filter((i) => model.family(i).length > 1).length;
  seen.undone += all.filter((i) => model.isUndone(i)).length;
  seen.cancelledOnly += all.filter((i) => isCancelled(i) && !model.isAuthorized(i)).length;
  seen.used += model.authorized.filter((i) => Number.isFinite(model.countedFrom(i))).length;
}

/** Writes what is done of these acts, in a few flushes of the disk. */
async function write(journal: Journal, model: Model, acts: readonly Act[], more: Done): Promise<void> {
  for (let from = 0; from < acts.length; from += FLUSHED) {
    const entries: JournalEntry[] = [];
    for (const one of acts.slice(from, from + FLUSHED)) {
      if (!isDone(model, one) || !more(model, one)) continue;
      entries.push(entryOf(model, one));
      model.happened.push(one);
    }
    if (entries.length > 0) await journal.append(...entries);
  }
}

describe('the index of the journal', () => {
  const open: JournalReader[] = [];
  afterEach(async () => {
    for (const journal of open.splice(0)) await journal.close().catch(() => undefined);
  });

  async function begun(): Promise<Journal> {
    const file = join(await mkdtemp(join(tmpdir(), 'journal-')), 'journal');
    const journal = await openJournal({ file, waitMs: 0 });
    open.push(journal);
    return journal;
  }

  it('answers as a list of what has happened does, while it is written and after it is opened again', async () => {
    const seen = { families: 0, undone: 0, cancelledOnly: 0, used: 0 };
    await fc.assert(
      fc.asyncProperty(transactions, fc.array(act, { minLength: 30, maxLength: 60 }), async (all, acts) => {
        const model = new Model(all);
        const journal = await begun();
        await write(journal, model, acts, inOrder);
        expectAnswers(journal, model);
        await journal.close();
        const reader = await readJournal(journal.file);
        expectAnswers(reader, model);
        await reader.close();
        count(seen, model);
      }),
      { numRuns: 100 },
    );
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
  });

  it('knows what stands for one payment, in whatever order it has come to know what was rejected', async () => {
    await fc.assert(
      fc.asyncProperty(transactions, fc.array(act, { minLength: 30, maxLength: 60 }), async (all, acts) => {
        const model = new Model(all);
        const journal = await begun();
        const families = acts.filter(({ kind }) => kind === 'authorize' || kind === 'reject');
        await write(journal, model, families, () => true);
        expectFamilies(journal, model);
        await journal.close();
      }),
      { numRuns: 100 },
    );
  });

  it('has the latest cutoff of an organization, and that of all, also after it is opened again', async () => {
    const journal = await begun();
    expect(journal.cutoffOf('org_1')).toBeUndefined();
    const cutoff = (organizationId: string | null, minutes: number) =>
      journal.append({ type: 'cutoff', organizationId, expiresUntil: textOf(minutes) });
    await cutoff('org_1', 5);
    expect(journal.cutoffOf('org_1')).toEqual({ at: expect.any(Number), expiresUntil: timeOf(5) });
    expect(journal.cutoffOf('org_2')).toBeUndefined();
    await cutoff(null, 3);
    await cutoff('org_1', 1);
    open.push(await readJournal(journal.file));
    for (const reader of open) {
      expect(reader.cutoffOf('org_1')).toEqual({ at: journal.lastTime(), expiresUntil: timeOf(5) });
      expect(reader.cutoffOf('org_2')).toMatchObject({ expiresUntil: timeOf(3) });
    }
  });

  it('refuses another cancellation of a transaction, and takes the same one once', async () => {
    const journal = await begun();
    const entry = {
      type: 'cancellation',
      organizationId: 'org_1',
      transactionId: 'txn_1',
      accountId: 'acc_1',
      networkId: NETWORK,
      safeNonce: '4',
      safeTxHash: '0x4',
    } as const;
    await Promise.all([journal.append(entry), journal.append(entry)]);
    await journal.append(entry);
    expect(journal.lines()).toBe(1);
    await expect(journal.append({ ...entry, safeNonce: '5', safeTxHash: '0x5' })).rejects.toThrow('0x4');
    expect(journal.cancellationOf('txn_1')).toEqual(entry);
    expect(journal.highestNonce({ accountId: 'acc_1', networkId: NETWORK })).toBe(4n);
  });

  it('refuses an authorization at the nonce of a cancellation of another transaction', async () => {
    const model = new Model([
      { replaces: null, policy: 0, isBound: true, account: 0, amount: 1, authorizedAt: 0 },
      { replaces: null, policy: 0, isBound: true, account: 0, amount: 1, authorizedAt: 0 },
    ]);
    const journal = await begun();
    await journal.append(entryOf(model, { kind: 'cancel', of: 0 }));
    const other = entryOf(model, { kind: 'authorize', of: 1 }) as AuthorizationEntry;
    await expect(journal.append({ ...other, safeNonce: '0' })).rejects.toThrow('nonce 0 of account acc_0');
    await journal.append(other);
    expect(journal.takenAt({ accountId: 'acc_0', networkId: NETWORK, safeNonce: 0n })?.transactionId).toBe(
      'txn_0',
    );
  });
});
