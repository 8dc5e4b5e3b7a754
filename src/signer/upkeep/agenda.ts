import type { AccountRescue, AdminsSafeStatus } from '../../domain/adminsSafe';
import type { Logger } from '../../logging';

/** So many envelopes are remembered. */
const MOST_SEEN = 10_000;
const FAILURES_WINDOW_MS = 3_600_000;

/** Whether the admins can take an account over, and whether they have a Safe there, so that they should. */
interface NotedRescue {
  readonly rescue: AccountRescue;
  readonly isPossible: boolean;
}

/** Its owners have done that on chain: the module of the account is gone. */
const isUnsecured = ({ rescue, isPossible }: NotedRescue) => rescue === 'none' && isPossible;

/** When what is looked at next, and what was seen last. Of one process, by its own clock: rows may say anything. */
export class UpkeepAgenda {
  /** Of `performance.now()`, by network and account, or what is kept of an organization. */
  private readonly due = new Map<string, number>();
  private readonly rescues = new Map<string, NotedRescue>();
  private readonly statuses = new Map<
    string,
    { readonly networkId: number; readonly status: AdminsSafeStatus; readonly since: number }
  >();
  private readonly wakes = new Map<string, number>();
  private readonly firstSeen = new Map<bigint, number>();
  /** By upkeep and envelope. */
  private readonly failures = new Map<string, Map<string, number>>();
  private readonly settled = new Set<string>();

  constructor(private readonly logger: Logger) {}

  /** In how many milliseconds something is due; 0: now. */
  dueInMs(networkId: number, id: string): number {
    return Math.max(0, (this.due.get(`${networkId}/${id}`) ?? 0) - performance.now());
  }

  isDue(networkId: number, id: string): boolean {
    return this.dueInMs(networkId, id) === 0;
  }

  postpone(networkId: number, id: string, byMs: number): void {
    this.due.set(`${networkId}/${id}`, performance.now() + byMs);
  }

  /** Something was sealed: the organization is looked at now, on all networks. */
  wake(organizationId: string): void {
    this.wakes.set(organizationId, this.wakesOf(organizationId) + 1);
    for (const key of this.due.keys()) if (key.endsWith(`/${organizationId}`)) this.due.set(key, 0);
  }

  /** How often an organization was woken. */
  wakesOf(organizationId: string): number {
    return this.wakes.get(organizationId) ?? 0;
  }

  /** For how long an envelope has waited since it was seen first, in milliseconds. */
  waitedMs({ id }: { readonly id: bigint }): number {
    if (this.firstSeen.size >= MOST_SEEN) this.firstSeen.clear();
    const first = this.firstSeen.get(id) ?? performance.now();
    this.firstSeen.set(id, first);
    return performance.now() - first;
  }

  /** Notes that an envelope of an upkeep has reverted, or was dropped; each counts once, whatever its row says. */
  noteFailure(safeTxHash: string, transactionHash: string): void {
    const failed = this.failures.get(safeTxHash) ?? new Map<string, number>();
    if (!failed.has(transactionHash)) failed.set(transactionHash, performance.now());
    this.failures.set(safeTxHash, failed);
  }

  /** How many envelopes of an upkeep have failed within an hour. */
  failuresOf(safeTxHash: string): number {
    const since = performance.now() - FAILURES_WINDOW_MS;
    return [...(this.failures.get(safeTxHash)?.values() ?? [])].filter((at) => at > since).length;
  }

  /** Notes whether an upkeep is done, as its network says. */
  noteSettled(safeTxHash: string, isSettled: boolean): void {
    if (!isSettled) {
      this.settled.delete(safeTxHash);
      return;
    }
    this.settled.add(safeTxHash);
    this.failures.delete(safeTxHash);
  }

  /** Whether an upkeep was seen to be done: nobody needs its envelopes any more. */
  isSettled(safeTxHash: string): boolean {
    return this.settled.has(safeTxHash);
  }

  /** Notes whether the admins can take an account over, and logs what is new: what its owners have done is an alarm. */
  note(networkId: number, accountId: string, noted: NotedRescue): void {
    const key = `${networkId}/${accountId}`;
    const before = this.rescues.get(key);
    this.rescues.set(key, noted);
    const { rescue } = noted;
    if (before?.rescue === rescue) return;
    const level = rescue === 'takenOver' || isUnsecured(noted) ? 'error' : 'debug';
    this.logger[level]({ accountId, networkId, rescue }, `the rescue of an account is ${rescue}`);
  }

  /** Whether the admins have taken an account over, as it was read last. */
  isTakenOver(networkId: number, accountId: string): boolean {
    return this.rescues.get(`${networkId}/${accountId}`)?.rescue === 'takenOver';
  }

  /** Logs a status that is new: what its owners have done is an alarm. */
  noteStatus(
    organizationId: string,
    { id: networkId }: { readonly id: number },
    { status, reason }: { readonly status: AdminsSafeStatus; readonly reason: string | null },
  ): void {
    const key = `${networkId}/${organizationId}`;
    if (this.statuses.get(key)?.status === status) return;
    this.statuses.set(key, { networkId, status, since: performance.now() });
    const level = status === 'diverged' || status === 'independent' ? 'error' : 'info';
    this.logger[level]({ organizationId, networkId, status, reason }, `the admins' Safe is ${status}`);
  }

  /** What is known of every admins' Safe, and for how long. */
  safes(): readonly { networkId: number; status: AdminsSafeStatus; seconds: number }[] {
    return [...this.statuses.values()].map(({ since, ...of }) => ({
      ...of,
      seconds: (performance.now() - since) / 1_000,
    }));
  }

  /** How many accounts their admins have taken over, by network. */
  takenOver(): ReadonlyMap<number, number> {
    return this.counted(({ rescue }) => rescue === 'takenOver');
  }

  /** How many accounts lack the module, where the admins have a Safe, by network. */
  unsecured(): ReadonlyMap<number, number> {
    return this.counted(isUnsecured);
  }

  private counted(isMeant: (noted: NotedRescue) => boolean): ReadonlyMap<number, number> {
    const counts = new Map<number, number>();
    for (const [key, noted] of this.rescues) {
      const networkId = Number(key.split('/')[0]);
      counts.set(networkId, (counts.get(networkId) ?? 0) + Number(isMeant(noted)));
    }
    return counts;
  }
}
