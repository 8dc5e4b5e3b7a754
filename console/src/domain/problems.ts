import type { Approval } from '@orgwallet/client';
import { hasFailedForGood, isFailed } from './waitingSections.ts';

const DAY_MS = 24 * 3_600_000;
/** A signature and a broadcast take seconds: what has neither after this long waits for a part that does not answer. */
const SILENT_MS = 2 * 60_000;

/** What is wrong in the organization, with the requests that show it. */
interface Problems {
  /** Failed or blocked; those that cannot be executed again only for a day. */
  readonly failed: readonly Approval[];
  /** They wait until an operator funds a relayer. */
  readonly relayerFunds: readonly Approval[];
  /** They are processed, and nothing was sent for a while: the signer or a network does not answer. */
  readonly silent: readonly Approval[];
  /** They can be signed for less than a day. */
  readonly expiring: readonly Approval[];
}

/** Whether a transaction has been executed for a while, and nothing of it was sent. */
function isSilent(approval: Approval, now: number): boolean {
  if ('resourceType' in approval || approval.executionStatus !== 'processing') return false;
  return approval.chain === undefined && now - Date.parse(approval.updatedAt) > SILENT_MS;
}

/** Whether a request has failed, and it is not too late to do something, or for a day to know of it. */
function isFailedNow(approval: Approval, now: number): boolean {
  if (!isFailed(approval)) return false;
  const { failure } = approval;
  return !hasFailedForGood(approval) || (failure !== undefined && now - Date.parse(failure.at) < DAY_MS);
}

const isOfRelayer = ({ failure }: Approval) => failure?.code === 'relayerFunds';

function isExpiring({ executionStatus, signatureStatus, expiresAt }: Approval, now: number): boolean {
  const left = Date.parse(expiresAt) - now;
  return executionStatus === null && signatureStatus !== 'expired' && left > 0 && left < DAY_MS;
}

/** Looks through requests for what is wrong at a time, in ms since 1970. */
export function problemsOf(approvals: readonly Approval[], now: number): Problems {
  return {
    failed: approvals.filter((one) => isFailedNow(one, now) && !isOfRelayer(one)),
    relayerFunds: approvals.filter((one) => isOfRelayer(one) && !hasFailedForGood(one)),
    silent: approvals.filter((one) => isSilent(one, now) && !isOfRelayer(one)),
    expiring: approvals.filter((one) => isExpiring(one, now)),
  };
}
