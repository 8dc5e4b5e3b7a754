import type { Approval, Schema } from '@orgwallet/client';

type Part = Schema['Part'];

const DAY_MS = 24 * 3_600_000;
/** A signature and a broadcast take seconds: what has neither after this long waits for something. */
const UNSENT_MS = 2 * 60_000;

/** What is wrong in the organization, with the requests that show it: one for each cause. */
interface Problems {
  /** Parts of the service that are down, each with the requests that wait for it. */
  readonly down: readonly { readonly part: Part; readonly waiting: readonly Approval[] }[];
  /** Failed or blocked; those that cannot be executed again only for a day. */
  readonly failed: readonly Approval[];
  /** They wait until an operator funds a relayer, and no relayer is known to be without funds. */
  readonly relayerFunds: readonly Approval[];
  /** They are processed, nothing was sent for a while, and every part of the service is up. */
  readonly unsent: readonly Approval[];
  /** They can be signed for less than a day. */
  readonly expiring: readonly Approval[];
}

/** Whether the execution of a request has failed or was blocked, and does not continue by itself. */
function isFailed({ executionStatus, failure }: Approval): boolean {
  return (executionStatus === 'failed' || executionStatus === 'blocked') && !failure?.resumes;
}

/** Whether a request that failed cannot be executed again. */
const hasFailedForGood = ({ failure }: Approval): boolean => failure?.retryable === false;

/** Whether a transaction is being executed, and nothing of it was sent yet. */
const isUnsent = (approval: Approval): boolean =>
  !('resourceType' in approval) && approval.executionStatus === 'processing' && approval.chain === undefined;

const isLate = (approval: Approval, now: number) =>
  'updatedAt' in approval && now - Date.parse(approval.updatedAt) > UNSENT_MS;

/** Whether a request has failed, and it is not too late to do something, or for a day to know of it. */
function isFailedNow(approval: Approval, now: number): boolean {
  if (!isFailed(approval)) return false;
  const { failure } = approval;
  return !hasFailedForGood(approval) || (failure !== undefined && now - Date.parse(failure.at) < DAY_MS);
}

const isOfRelayer = ({ failure }: Approval) => failure?.code === 'relayerFunds';

/** Whether a request waits for a part that is down. */
function waitsFor({ part, networkId }: Part, approval: Approval): boolean {
  const isThere = 'resourceType' in approval || networkId === null || approval.networkId === networkId;
  if (part === 'relayers') return isThere && isOfRelayer(approval) && !hasFailedForGood(approval);
  return isThere && isUnsent(approval) && !isOfRelayer(approval);
}

function isExpiring({ executionStatus, signatureStatus, expiresAt }: Approval, now: number): boolean {
  const left = Date.parse(expiresAt) - now;
  return executionStatus === null && signatureStatus !== 'expired' && left > 0 && left < DAY_MS;
}

/** Looks through requests, and the parts of the service, for what is wrong at a time, in ms since 1970. */
export function problemsOf(approvals: readonly Approval[], parts: readonly Part[], now: number): Problems {
  const down = parts
    .filter(({ status }) => status === 'down')
    .map((part) => ({ part, waiting: approvals.filter((one) => waitsFor(part, one)) }));
  const explained = new Set(down.flatMap(({ waiting }) => waiting));
  const open = approvals.filter((one) => !explained.has(one));
  return {
    down,
    failed: open.filter((one) => isFailedNow(one, now) && !isOfRelayer(one)),
    relayerFunds: open.filter((one) => isOfRelayer(one) && !hasFailedForGood(one)),
    unsent: open.filter((one) => isUnsent(one) && isLate(one, now) && !isOfRelayer(one)),
    expiring: open.filter((one) => isExpiring(one, now)),
  };
}
