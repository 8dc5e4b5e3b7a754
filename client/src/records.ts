import type { CallOptions, Methods } from './endpoints.ts';
import { NotReached } from './errors.ts';
import { type ActionOptions, pause } from './exchange.ts';
import { match } from './expectation.ts';
import type { components } from './openapi.ts';

/** The records and bodies of the API, by their names in openapi.json. */
export type Schema = components['schemas'];
export type Proposal = Schema['Proposal'];
type ChangeOf<Kind> = Kind extends Proposal ? Pick<Kind, 'resourceType' | 'action' | 'data'> : never;
/** What a proposal does. */
export type Change = ChangeOf<Proposal>;
export type Transaction = Schema['Transaction'];
/** What needs signatures. */
export type Approval = Proposal | Transaction;
/** The record that belongs to an id, or to a record as it was read before. */
export type RecordOf<Target> = Target extends Proposal
  ? Extract<Proposal, Pick<Target, 'resourceType'>>
  : Target extends Transaction
    ? Transaction
    : Approval;

/** The record of an answer: another one than was asked for is refused. Throws PayloadMismatch. */
export function sameRecord(id: string, record: Approval): Approval {
  match('id', id, record.id);
  return record;
}

/** Reads a proposal or a transaction, by its id or as it was read before. Throws PayloadMismatch for another one. */
export async function readApproval<Target extends string | Approval>(
  api: Methods,
  approval: Target,
  options?: CallOptions,
): Promise<RecordOf<Target>> {
  const id = typeof approval === 'string' ? approval : approval.id;
  const read = id.startsWith('txn_') ? api.getTransaction(id, options) : api.getProposal(id, options);
  return sameRecord(id, await read) as RecordOf<Target>;
}

/** What can be waited for. */
export type Status = Schema['SignatureStatus'] | Schema['ExecutionStatus'];

/** Why a record does not change any more by itself; undefined while it does. */
function endOf({ signatureStatus, executionStatus, failure }: Approval): 'ended' | 'parked' | undefined {
  if (executionStatus === 'processing' || failure?.resumes) return undefined;
  if (failure) return failure.retryable ? 'parked' : 'ended';
  return executionStatus || signatureStatus === 'expired' ? 'ended' : undefined;
}

/** How long each read may take at least: close to the end of the waiting, the state is worth more than the time. */
const MIN_READ_MS = 5_000;

/** Options of waiting. */
export interface WaitOptions extends Pick<CallOptions, 'signal'> {
  /** How long to wait, in ms; 120,000 by default. A read that has begun may take up to 5,000 more. */
  readonly timeoutMs?: number | undefined;
  /** The pause between two looks, in ms; 500 by default. */
  readonly everyMs?: number;
}

/** What a record is, and why. */
function statusText({ id, signatureStatus, executionStatus, failure }: Approval): string {
  const resumes = failure?.resumes ? '; it continues by itself: do not request it again' : '';
  const failed = failure ? ` (${failure.code}: ${failure.message}${resumes})` : '';
  return `${id} is ${executionStatus ?? signatureStatus}${failed}`;
}

/**
 * Waits until a proposal or transaction has one of these statuses: of its execution, or of its signatures. What failed and
 * continues by itself is waited for. Throws NotReached when it has ended otherwise (also `failed` and `blocked`, which wait
 * for somebody), has expired, or takes longer than `timeoutMs`.
 */
export async function waitFor<Target extends string | Approval>(
  api: Methods,
  approval: Target,
  status: Status | readonly Status[],
  { signal, timeoutMs = 120_000, everyMs = 500, deadline: end }: WaitOptions & ActionOptions = {},
): Promise<RecordOf<Target>> {
  const wanted: readonly (string | null)[] = [status].flat();
  const startedAt = performance.now();
  const deadline = Math.min(startedAt + timeoutMs, end ?? Number.POSITIVE_INFINITY);
  for (;;) {
    const readMs = Math.max(MIN_READ_MS, deadline - performance.now());
    const record = await readApproval(api, approval, {
      signal,
      timeoutMs: readMs,
      deadline: end,
    } as ActionOptions);
    const { signatureStatus, executionStatus } = record as Approval;
    if (wanted.includes(signatureStatus) || wanted.includes(executionStatus)) return record;
    const why = endOf(record) ?? (performance.now() + everyMs > deadline ? 'timeout' : undefined);
    if (why) {
      const after = why === 'timeout' ? ` after ${Math.round(deadline - startedAt)} ms` : '';
      throw new NotReached(`${statusText(record)}${after}, and not ${wanted.join(' or ')}`, record, why);
    }
    await pause(everyMs, signal);
  }
}
