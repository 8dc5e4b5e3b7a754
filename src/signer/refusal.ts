import { ChainUnavailable } from '../chain/clients';
import { EndpointsMissing } from '../chain/signatures';
import type { FailureCode } from '../domain/approval';
import type { Logger } from '../logging';

/**
 * Nothing is wrong with what was asked: it continues when the cause is gone. `rollback`: the database contradicts what the
 * signer has in its journal, or what its keys have signed.
 */
export interface TemporarilyRefused {
  readonly held: string;
  readonly reason?: 'rollback';
}

/** A signed and stored envelope, or why the signer refuses. */
export type SigningResult =
  | { readonly envelopeId: string }
  /** Endpoints for contract wallets do not answer or disagree; the message names them. */
  | { readonly unreachable: string }
  | TemporarilyRefused
  | { readonly refused: { readonly code: FailureCode; readonly message: string } };

/** Why the signer does not sign. */
export class SignerRefusal extends Error {
  override readonly name: string = 'SignerRefusal';
  constructor(
    readonly code: FailureCode,
    message: string,
  ) {
    super(message);
  }
}

/** Why the signer signs nothing of this kind for now, whatever is asked. */
type TemporaryReason =
  | 'rollback'
  | 'unsigned'
  | 'undecided'
  | 'frozen'
  | 'gas'
  | 'clock'
  | 'relayer'
  | 'simulation'
  | 'takenOver'
  | 'expiry';

/** A refusal until its cause is gone, which may need an operator; what waits is not lost. */
export class TemporaryRefusal extends SignerRefusal {
  override readonly name = 'TemporaryRefusal';
  constructor(
    readonly reason: TemporaryReason,
    message: string,
  ) {
    super('stale', message);
  }
}

/** The end of a message about something that the journal has and the database lacks or contradicts. */
export const ROLLED_BACK =
  'the database was rolled back or changed: `./orgwallet signer reconcile-restore` on this host compares them; see docs/runbook.md';

/** Counts a refusal by its reason, for the metric. */
export type CountRefusal = (reason: FailureCode | TemporaryReason) => void;

/** Where refusals are reported. */
interface Reporting {
  readonly logger: Logger;
  readonly countRefusal: CountRefusal;
}

/** Reports a refusal in the log and the metric. */
export function reportRefusal(
  { logger, countRefusal }: Reporting,
  reason: FailureCode | TemporaryReason,
  message: string,
): void {
  countRefusal(reason);
  const level = reason === 'rollback' || reason === 'clock' ? 'error' : 'warn';
  logger[level]({ reason }, `the signer refuses: ${message}`);
}

/** Runs `work`; returns refusals and an unavailable network as values, so that they are not retried. */
export async function refusalsAsValues<T = SigningResult>(
  reporting: Reporting,
  work: () => Promise<T>,
): Promise<T | Exclude<SigningResult, { readonly envelopeId: string }>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TemporaryRefusal) {
      reportRefusal(reporting, error.reason, error.message);
      return { held: error.message, ...(error.reason === 'rollback' ? { reason: error.reason } : {}) };
    }
    if (error instanceof SignerRefusal) {
      reportRefusal(reporting, error.code, error.message);
      return { refused: { code: error.code, message: error.message } };
    }
    if (error instanceof EndpointsMissing) {
      reportRefusal(reporting, 'endpoints', error.message);
      return { refused: { code: 'endpoints', message: error.message } };
    }
    if (error instanceof ChainUnavailable) return { unreachable: error.message };
    throw error;
  }
}
