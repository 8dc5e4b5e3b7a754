import type { AccountRescue, AdminsSafeStatus } from '../../domain/adminsSafe';
import type { Logger } from '../../logging';

/** So many envelopes are remembered. */
const MOST_SEEN = 10_000;
const REVERTS_WINDOW_MS = 3_600_000;

/** When what is looked at next, and what was seen last. Of one process, by its own clock: rows may say anything. */
export class UpkeepAgenda {
  /** Of `performance.now()`, by network and organization or account. */
  private readonly due = new Map<string, number>();
  private readonly rescues = new Map<string, AccountRescue>();
  private readonly statuses = new Map<
    string,
    { readonly networkId: number; readonly status: AdminsSafeStatus; readonly since: number }
  >();
  private readonly wakes = new Map<string, number>();
  private readonly firstSeen = new Map<bigint, number>();
  private readonly reverts = new Map<string, number[]>();

  constructor(private readonly logger: Logger) {}

  isDue(networkId: number, id: string): boolean {
    return (this.due.get(`${networkId}/${id}`) ?? 0) <= performance.now();
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

  /** Notes that an envelope of an upkeep has reverted. */
  noteRevert(safeTxHash: string): void {
    this.reverts.set(safeTxHash, [...(this.reverts.get(safeTxHash) ?? []), performance.now()]);
  }

  /** How many envelopes of an upkeep have reverted within an hour. */
  revertsOf(safeTxHash: string): number {
    const since = performance.now() - REVERTS_WINDOW_MS;
    return (this.reverts.get(safeTxHash) ?? []).filter((at) => at > since).length;
  }

  /** Notes whether the admins can take an account over. */
  note(networkId: number, accountId: string, rescue: AccountRescue, nextMs: number): void {
    this.rescues.set(`${networkId}/${accountId}`, rescue);
    this.postpone(networkId, accountId, nextMs);
  }

  /** Whether the admins have taken an account over, as it was read last. */
  isTakenOver(networkId: number, accountId: string): boolean {
    return this.rescues.get(`${networkId}/${accountId}`) === 'takenOver';
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
    const counts = new Map<number, number>();
    for (const [key, rescue] of this.rescues) {
      const networkId = Number(key.split('/')[0]);
      counts.set(networkId, (counts.get(networkId) ?? 0) + Number(rescue === 'takenOver'));
    }
    return counts;
  }
}
