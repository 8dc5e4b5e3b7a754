import { isSameAddress } from '../../domain/address';
import { GAS_WINDOW_MS, type SignedGas } from '../../domain/gasBudget';
import { HOUR_MS, type Usage, type UsageWindow } from '../../domain/policyEngine';
import {
  type AccountNonce,
  type AuthorizationEntry,
  type CancellationEntry,
  type CutoffEntry,
  type FreezeEntry,
  type GasEntry,
  type OutcomeEntry,
  type RejectionEntry,
  type SealEntry,
  signedGas,
  type UnknownExecutionEntry,
  type UpkeepEntry,
} from './entries';
import type { JournalLine } from './format';
import type { LinePosition } from './lines';

/** What identifies an authorization, and where it is. */
export interface IndexedAuthorization
  extends Pick<
    AuthorizationEntry,
    'organizationId' | 'transactionId' | 'accountId' | 'networkId' | 'safeTxHash'
  > {
  readonly safeNonce: bigint;
  /** Head of the chain when it was authorized. */
  readonly fromBlock: bigint;
  /** In milliseconds. */
  readonly authorizedAt: number;
  readonly line: number;
  readonly position: LinePosition;
}

/**
 * A nonce of an account that is taken: by an authorization, by the upkeep of the admins' Safe, or by an execution that nobody
 * here has authorized.
 */
type TakenNonce = Pick<IndexedAuthorization, 'safeNonce' | 'safeTxHash' | 'line'> & {
  readonly transactionId: string | null;
  readonly isUpkeep?: true;
};

/** A freeze that is in force. */
interface Freeze {
  /** Id of its request. */
  readonly id: string;
  /** null: of all organizations. */
  readonly organizationId: string | null;
  /** ISO 8601. */
  readonly since: string;
}

/** The latest cutoff that concerns an organization. */
interface Cutoff {
  /** When the journal was completed, in milliseconds: what was authorized until then was requested before. */
  readonly at: number;
  /** In milliseconds: what expires until then was requested before. */
  readonly expiresUntil: number;
}

/** A rejection, and where it is. */
interface IndexedRejection {
  readonly expiresAt: string | null;
  readonly position: LinePosition;
}

interface IndexedSeal {
  readonly hash: string;
  readonly position: LinePosition;
}

const accountKey = ({ accountId, networkId }: Pick<AccountNonce, 'accountId' | 'networkId'>) =>
  `${accountId}/${networkId}`;

const relayerKey = ({ networkId, relayerAddress }: Pick<GasEntry, 'networkId' | 'relayerAddress'>) =>
  `${networkId}/${relayerAddress}`;

/** A Safe on a network, by its address. */
type SafeOnNetwork = Pick<UpkeepEntry, 'networkId' | 'safe'>;

const safeKey = ({ networkId, safe }: SafeOnNetwork) => `${networkId}/${safe}`;

/** Whose gas it is, and on which network. */
type GasOwner = Pick<GasEntry, 'organizationId' | 'networkId'>;

const gasKey = ({ organizationId, networkId }: GasOwner) => `${organizationId}/${networkId}`;

/** What an authorization takes from the budget of its policy. */
interface JournaledSpending
  extends Pick<
    AuthorizationEntry,
    'transactionId' | 'networkId' | 'tokenAddress' | 'accountId' | 'destination'
  > {
  /** Null where no vote names it: it counts for everybody. */
  readonly initiatorId: string | null;
  readonly amount: bigint;
  /** In milliseconds. */
  readonly authorizedAt: number;
  /** From when the hours of a window count, in milliseconds: undecided, they have not begun; not executed, they are over. */
  countedFrom: number;
}

function countedFrom(authorizedAt: number, known?: OutcomeEntry): number {
  if (!known?.outcome) {
    return known?.usedAt === undefined
      ? Number.POSITIVE_INFINITY
      : Math.max(authorizedAt, Date.parse(known.usedAt));
  }
  return known.outcome === 'executed'
    ? Math.max(authorizedAt, Date.parse(known.blockAt))
    : Number.NEGATIVE_INFINITY;
}

function latest(one: Cutoff, other: Cutoff): Cutoff {
  return {
    at: Math.max(one.at, other.at),
    expiresUntil: Math.max(one.expiresUntil, other.expiresUntil),
  };
}

/** Whether a budget counts an authorization, whenever it was. */
export function isOfWindow(
  { asset, initiatorId, accountId, destination }: UsageWindow,
  {
    networkId,
    tokenAddress,
    ...of
  }: Pick<JournaledSpending, 'networkId' | 'tokenAddress' | 'initiatorId' | 'accountId' | 'destination'>,
): boolean {
  return (
    (asset === null || (asset.networkId === networkId && isSameAddress(asset.tokenAddress, tokenAddress))) &&
    (initiatorId === null || of.initiatorId === null || initiatorId === of.initiatorId) &&
    (accountId === null || accountId === of.accountId) &&
    (destination === null || isSameAddress(destination, of.destination))
  );
}

/** What the entries of a journal say, by organization, transaction, and account with network and nonce. */
export class JournalIndex {
  private installation: string | undefined;
  private readonly authorized = new Map<string, IndexedAuthorization>();
  private readonly read = new Map<string, OutcomeEntry>();
  /** By transaction. */
  protected readonly rejections = new Map<string, IndexedRejection>();
  /** The cancellations that are to be signed, by transaction. */
  private readonly cancellations = new Map<string, CancellationEntry>();
  /** The authorizations whose outcome is not read. */
  private readonly undecided = new Set<string>();
  /** Authorizations that were reverted or cancelled in a block that their chain has lost. */
  private readonly undone = new Set<string>();
  private readonly unknown: UnknownExecutionEntry[] = [];
  private readonly nonces = new Map<string, Map<bigint, TakenNonce>>();
  private readonly highest = new Map<string, bigint>();
  /** What keeps the admins' Safe, by the Safe that executes it, in the order of its nonces. */
  private readonly upkeeps = new Map<string, UpkeepEntry[]>();
  private time = 0;
  private readonly gas = new Map<string, { readonly owner: GasOwner; readonly signed: SignedGas[] }>();
  private readonly relayers = new Map<string, number>();
  private readonly freezes = new Map<string | null, Freeze>();
  private readonly requests = new Set<string>();
  private readonly seals = new Map<string, Map<number, IndexedSeal>>();
  private readonly latest = new Map<string, number>();
  private readonly cutoffs = new Map<string | null, Cutoff>();
  /** By policy; null: what no vote binds to a policy, which counts in each. */
  private readonly spending = new Map<string | null, JournaledSpending[]>();
  /** By transaction. */
  private readonly spentBy = new Map<string, JournaledSpending>();
  /** The transaction that each replaces; and the other way round, in order. */
  private readonly replaced = new Map<string, string>();
  private readonly replacedBy = new Map<string, string[]>();

  /** The installation whose database it belongs to; undefined while it is empty. */
  installationId(): string | undefined {
    return this.installation;
  }

  /** The time of its last line, in milliseconds; 0 while it is empty. */
  lastTime(): number {
    return this.time;
  }

  /** The authorization of a transaction, without its evidence; or undefined. */
  authorizationOf(transactionId: string): IndexedAuthorization | undefined {
    return this.authorized.get(transactionId);
  }

  /** All of them, in order. */
  authorizations(): Iterable<IndexedAuthorization> {
    return this.authorized.values();
  }

  /** What the signer has read last about an authorization, or undefined. */
  outcomeOf(transactionId: string): OutcomeEntry | undefined {
    return this.read.get(transactionId);
  }

  /** What it has read last about every authorization. */
  outcomes(): Iterable<OutcomeEntry> {
    return this.read.values();
  }

  /** The transactions whose outcome it has not read: all; or those of a policy, oldest first. */
  undecidedIds(policyId?: string): readonly string[] {
    if (policyId === undefined) return [...this.undecided];
    return this.spendingOf(policyId)
      .filter(({ transactionId }) => this.undecided.has(transactionId))
      .map((one) => one.transactionId);
  }

  /** Whether a transaction was reverted or cancelled in a block that its chain has lost. */
  isUndone(transactionId: string): boolean {
    return this.undone.has(transactionId);
  }

  /** The transactions that were rejected. */
  rejectedIds(): Iterable<string> {
    return this.rejections.keys();
  }

  /** Whether a transaction was rejected. */
  isRejected(transactionId: string): boolean {
    return this.rejections.has(transactionId);
  }

  /** The signed expiry of a rejected transaction, in ISO 8601; null where nothing has verified it. */
  expiryOfRejected(transactionId: string): string | null {
    return this.rejections.get(transactionId)?.expiresAt ?? null;
  }

  /** The transactions whose cancellations are to be signed. */
  cancelledIds(): Iterable<string> {
    return this.cancellations.keys();
  }

  /** The cancellation of a transaction that is to be signed, or undefined. */
  cancellationOf(transactionId: string): CancellationEntry | undefined {
    return this.cancellations.get(transactionId);
  }

  /** Executions that nobody here has authorized. */
  unknownExecutions(): readonly UnknownExecutionEntry[] {
    return this.unknown;
  }

  /** What is signed to keep the admins' Safe, of one Safe, in the order of its nonces. */
  upkeepsOf(safe: SafeOnNetwork): readonly UpkeepEntry[] {
    return this.upkeeps.get(safeKey(safe)) ?? [];
  }

  /** All of it. */
  upkeep(): readonly UpkeepEntry[] {
    return [...this.upkeeps.values()].flat();
  }

  protected add({ line, at, entry }: JournalLine, position: LinePosition): void {
    this.time = Math.max(this.time, Date.parse(at));
    switch (entry.type) {
      case 'created':
        this.installation = entry.installationId;
        break;
      case 'authorization':
        this.addAuthorization(entry, line, position);
        break;
      case 'unknownExecution': {
        const { safeTxHash } = entry;
        this.take(entry, { safeNonce: BigInt(entry.safeNonce), safeTxHash, line, transactionId: null });
        this.unknown.push(entry);
        break;
      }
      case 'upkeep':
        this.addUpkeep(entry, line);
        break;
      case 'rejection':
        this.rejections.set(entry.transactionId, { expiresAt: entry.expiresAt, position });
        this.addReplacement(entry);
        break;
      case 'cancellation':
        this.addCancellation(entry, line);
        break;
      case 'outcome':
        this.addOutcome(entry);
        break;
      case 'freeze':
      case 'unfreeze':
        this.setFreeze(entry, at);
        break;
      case 'cutoff':
        this.addCutoff(entry, Date.parse(at));
        break;
      case 'seal':
        this.addSeal(entry, position);
        break;
      case 'gas':
        this.addGas(entry, Date.parse(at));
        break;
    }
  }

  /** What has taken a nonce of an account, or undefined. */
  takenAt(nonce: AccountNonce): TakenNonce | undefined {
    return this.nonces.get(accountKey(nonce))?.get(nonce.safeNonce);
  }

  /** The highest taken nonce of an account, or undefined. */
  highestNonce(account: Pick<AccountNonce, 'accountId' | 'networkId'>): bigint | undefined {
    return this.highest.get(accountKey(account));
  }

  /** The highest nonce of a relayer that an envelope was signed for, or undefined. */
  highestRelayerNonce(relayer: Pick<GasEntry, 'networkId' | 'relayerAddress'>): number | undefined {
    return this.relayers.get(relayerKey(relayer));
  }

  /** The gas that was signed for an organization on a network, of the last hour at least. */
  gasOf(owner: GasOwner): readonly SignedGas[] {
    return this.signedOf(owner);
  }

  /** Everybody whose gas was signed lately. */
  gasOwners(): readonly GasOwner[] {
    return [...this.gas.values()].map(({ owner }) => owner);
  }

  /** The freeze that concerns an organization (null: the one of all organizations), or undefined. */
  freezeOf(organizationId: string | null): Freeze | undefined {
    return this.freezes.get(null) ?? this.freezes.get(organizationId);
  }

  /** The latest cutoff that concerns an organization, or undefined. */
  cutoffOf(organizationId: string): Cutoff | undefined {
    const [one, other] = [this.cutoffs.get(null), this.cutoffs.get(organizationId)];
    return one && other ? latest(one, other) : (one ?? other);
  }

  /** Every freeze that is in force. */
  activeFreezes(): readonly Freeze[] {
    return [...this.freezes.values()];
  }

  /** Whether a freeze or its end was recorded for that request. */
  isRequestDone(id: string): boolean {
    return this.requests.has(id);
  }

  protected sealAt(organizationId: string, sequence: number): IndexedSeal | undefined {
    return this.seals.get(organizationId)?.get(sequence);
  }

  /** The organizations that have seals. */
  organizationIds(): readonly string[] {
    return [...this.seals.keys()];
  }

  /** Sequence and hash of the latest seal of an organization, or undefined. */
  latestSealed(organizationId: string): { readonly sequence: number; readonly hash: string } | undefined {
    const sequence = this.latest.get(organizationId);
    const found = sequence === undefined ? undefined : this.sealAt(organizationId, sequence);
    return sequence === undefined || !found ? undefined : { sequence, hash: found.hash };
  }

  /**
   * What was authorized in a window until a time, and was not read to have failed; undecided, however long ago. `except`
   * leaves one transaction out.
   */
  usageIn(window: UsageWindow, at: Date, except?: string): Pick<Usage, 'amount' | 'executions'> {
    const begin = at.getTime() - window.hours * HOUR_MS;
    const counted = this.spendingOf(window.policyId).filter(
      (one) => one.transactionId !== except && one.countedFrom >= begin && isOfWindow(window, one),
    );
    const amount = counted.reduce((sum, one) => sum + one.amount, 0n);
    return { amount, executions: counted.length };
  }

  /**
   * The other authorized transactions that stand for the same payment: the one of `paymentOf`, and all that replace it,
   * directly and indirectly, in order.
   */
  othersOf(transactionId: string, replaces: string | null): readonly IndexedAuthorization[] {
    const ids = [this.paymentOf(transactionId, replaces)];
    // It grows while it is read; a record replaces an earlier one only.
    for (const id of ids) ids.push(...(this.replacedBy.get(id) ?? []));
    return [...new Set(ids)]
      .filter((id) => id !== transactionId)
      .flatMap((id) => this.authorized.get(id) ?? []);
  }

  /** Id of the first transaction that stands for the same payment: the one that no replacement comes before. */
  paymentOf(transactionId: string, replaces: string | null): string {
    let id = replaces ?? this.replaced.get(transactionId);
    if (id === undefined) return transactionId;
    for (let next = this.replaced.get(id); next !== undefined; next = this.replaced.get(next)) id = next;
    return id;
  }

  private signedOf(owner: GasOwner): SignedGas[] {
    return this.gas.get(gasKey(owner))?.signed ?? [];
  }

  private spendingOf(policyId: string): JournaledSpending[] {
    return [...(this.spending.get(policyId) ?? []), ...(this.spending.get(null) ?? [])];
  }

  private addCutoff({ organizationId, expiresUntil }: CutoffEntry, at: number): void {
    const cutoff = { at, expiresUntil: Date.parse(expiresUntil) };
    this.cutoffs.set(organizationId, latest(cutoff, this.cutoffs.get(organizationId) ?? cutoff));
  }

  private addReplacement({
    transactionId,
    replaces,
  }: Pick<AuthorizationEntry | RejectionEntry, 'transactionId' | 'replaces'>): void {
    if (replaces === null || this.replaced.has(transactionId)) return;
    this.replaced.set(transactionId, replaces);
    const others = this.replacedBy.get(replaces) ?? [];
    this.replacedBy.set(replaces, others);
    others.push(transactionId);
  }

  private addAuthorization(entry: AuthorizationEntry, line: number, position: LinePosition): void {
    const { organizationId, transactionId, accountId, networkId, safeTxHash } = entry;
    const safeNonce = BigInt(entry.safeNonce);
    const of = { organizationId, transactionId, accountId, networkId, safeTxHash, safeNonce };
    const [fromBlock, authorizedAt] = [BigInt(entry.fromBlock), Date.parse(entry.authorizedAt)];
    this.authorized.set(transactionId, { ...of, fromBlock, authorizedAt, line, position });
    this.take(entry, { safeNonce, safeTxHash, line, transactionId });
    this.addSpending(entry);
    this.addReplacement(entry);
    // What was read before is of no authorization.
    this.read.delete(transactionId);
    this.undecided.add(transactionId);
  }

  private addUpkeep(entry: UpkeepEntry, line: number): void {
    const { accountId, networkId, safeTxHash } = entry;
    const key = safeKey(entry);
    const before = this.upkeeps.get(key) ?? [];
    this.upkeeps.set(key, before);
    before.push(entry);
    if (accountId === null) return;
    const safeNonce = BigInt(entry.safeNonce);
    this.take({ accountId, networkId }, { safeNonce, safeTxHash, line, transactionId: null, isUpkeep: true });
  }

  private addCancellation(entry: CancellationEntry, line: number): void {
    const { transactionId, safeTxHash } = entry;
    this.cancellations.set(transactionId, entry);
    if (this.authorized.has(transactionId)) return;
    this.take(entry, { safeNonce: BigInt(entry.safeNonce), safeTxHash, line, transactionId });
  }

  private addSpending(entry: AuthorizationEntry): void {
    const { transactionId, networkId, tokenAddress, accountId, destination } = entry;
    const isBound = entry.evidence !== null;
    const policyId = isBound ? entry.policyId : null;
    const initiatorId = isBound ? entry.initiatorId : null;
    const authorizedAt = Date.parse(entry.authorizedAt);
    const spent: JournaledSpending = {
      ...{ transactionId, networkId, tokenAddress, initiatorId, accountId, destination, authorizedAt },
      amount: BigInt(entry.amount),
      countedFrom: countedFrom(authorizedAt),
    };
    const of = this.spending.get(policyId) ?? [];
    this.spending.set(policyId, of);
    of.push(spent);
    this.spentBy.set(transactionId, spent);
  }

  private addOutcome(entry: OutcomeEntry): void {
    const { transactionId, outcome } = entry;
    const before = this.read.get(transactionId)?.outcome;
    if (outcome === null && (before === 'reverted' || before === 'cancelled')) this.undone.add(transactionId);
    if (outcome === 'executed') this.undone.delete(transactionId);
    if (outcome !== null) this.undecided.delete(transactionId);
    else if (this.authorized.has(transactionId)) this.undecided.add(transactionId);
    this.read.set(transactionId, entry);
    const spent = this.spentBy.get(transactionId);
    if (spent) spent.countedFrom = countedFrom(spent.authorizedAt, entry);
  }

  private take(account: Pick<AccountNonce, 'accountId' | 'networkId'>, taken: TakenNonce): void {
    const key = accountKey(account);
    const nonces = this.nonces.get(key) ?? new Map<bigint, TakenNonce>();
    this.nonces.set(key, nonces);
    // An execution at the nonce of an authorization says what became of it.
    if (taken.transactionId !== null || taken.isUpkeep || !nonces.has(taken.safeNonce))
      nonces.set(taken.safeNonce, taken);
    const highest = this.highest.get(key);
    if (highest === undefined || taken.safeNonce > highest) this.highest.set(key, taken.safeNonce);
  }

  private setFreeze({ type, organizationId, id }: FreezeEntry, since: string): void {
    this.requests.add(id);
    if (type === 'unfreeze') this.freezes.delete(organizationId);
    else if (!this.freezes.has(organizationId))
      this.freezes.set(organizationId, { id, organizationId, since });
  }

  private addGas(entry: GasEntry, at: number): void {
    const { organizationId, networkId } = entry;
    const before = this.signedOf(entry);
    // Nothing older is ever asked for: the signer's clock is never before this line.
    const isOld = (one: SignedGas | undefined) => one !== undefined && one.at <= at - GAS_WINDOW_MS;
    const recent = isOld(before[0]) ? before.filter((one) => !isOld(one)) : before;
    recent.push(signedGas(entry, at));
    this.gas.set(gasKey(entry), { owner: { organizationId, networkId }, signed: recent });
    const key = relayerKey(entry);
    const highest = this.relayers.get(key) ?? -1;
    if (entry.relayerNonce > highest) this.relayers.set(key, entry.relayerNonce);
  }

  private addSeal({ organizationId, sequence, hash }: SealEntry, position: LinePosition): void {
    const seals = this.seals.get(organizationId) ?? new Map<number, IndexedSeal>();
    this.seals.set(organizationId, seals);
    seals.set(sequence, { hash, position });
    const latest = this.latest.get(organizationId);
    if (latest === undefined || sequence > latest) this.latest.set(organizationId, sequence);
  }
}
