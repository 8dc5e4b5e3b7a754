import type { CallOptions, Methods } from './endpoints.ts';
import { ApiError, NotReached } from './errors.ts';
import { pause } from './exchange.ts';
import { match } from './expectation.ts';
import type { components } from './openapi.ts';

/** The records and bodies of the API, by their names in openapi.json. */
export type Schema = components['schemas'];
export type Proposal = Schema['Proposal'];
export type Transaction = Schema['Transaction'];
/** What needs signatures. */
export type Approval = Proposal | Transaction;
/** The record that belongs to an id, or to a record as it was read before. */
export type RecordOf<Target> = Target extends Proposal
  ? Extract<Proposal, Pick<Target, 'resourceType'>>
  : Target extends Transaction
    ? Transaction
    : Approval;

/** The word for a resource in the names of its endpoints. */
export const SINGULAR = {
  members: 'Member',
  groups: 'Group',
  policies: 'Policy',
  accounts: 'Account',
  admins: 'Admin',
} as const;
const RESOURCES = Object.keys(SINGULAR) as (keyof typeof SINGULAR)[];

async function findProposal(api: Methods, id: string, options?: CallOptions): Promise<Proposal> {
  let missing: unknown;
  for (const resource of RESOURCES) {
    try {
      return await api[`get${SINGULAR[resource]}Proposal`](id, options);
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'notFound')) throw error;
      missing = error;
    }
  }
  throw missing;
}

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
  const read = id.startsWith('txn_')
    ? api.getTransaction(id, options)
    : typeof approval === 'object' && 'resourceType' in approval
      ? api[`get${SINGULAR[approval.resourceType]}Proposal`](id, options)
      : findProposal(api, id, options);
  return sameRecord(id, await read) as RecordOf<Target>;
}

/** What can be waited for. */
export type Status = Schema['SignatureStatus'] | Schema['ExecutionStatus'];

const FINAL: readonly (string | null)[] = ['completed', 'rejected', 'failed', 'blocked'];

/** How long each read may take at least: close to the end of the waiting, the state is worth more than the time. */
const MIN_READ_MS = 5_000;

/** Options of waiting. */
export interface WaitOptions extends Pick<CallOptions, 'signal'> {
  /** How long to wait, in ms; 120,000 by default. A read that has begun may take up to 5,000 more. */
  readonly timeoutMs?: number | undefined;
  /** The pause between two looks, in ms; 500 by default. */
  readonly everyMs?: number;
}

/**
 * Waits until a proposal or transaction has one of these statuses: of its execution, or of its signatures. Throws
 * NotReached when it has ended otherwise (also `failed` and `blocked`, which wait for somebody), has expired, or takes
 * longer than `timeoutMs`.
 */
export async function waitFor<Target extends string | Approval>(
  api: Methods,
  approval: Target,
  status: Status | readonly Status[],
  { signal, timeoutMs = 120_000, everyMs = 500 }: WaitOptions = {},
): Promise<RecordOf<Target>> {
  const wanted: readonly (string | null)[] = [status].flat();
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const readMs = Math.max(MIN_READ_MS, deadline - performance.now());
    const record = await readApproval(api, approval, { signal, timeoutMs: readMs });
    const { id, signatureStatus, executionStatus, failure } = record as Approval;
    if (wanted.includes(signatureStatus) || wanted.includes(executionStatus)) return record;
    const now = `${id} is ${executionStatus ?? signatureStatus}${failure ? ` (${failure.code}: ${failure.message})` : ''}`;
    if (FINAL.includes(executionStatus) || signatureStatus === 'expired') {
      throw new NotReached(`${now}, and not ${wanted.join(' or ')}`, record);
    }
    if (performance.now() + everyMs > deadline) {
      throw new NotReached(`${now} after ${timeoutMs} ms, and not ${wanted.join(' or ')}`, record);
    }
    await pause(everyMs, signal);
  }
}
