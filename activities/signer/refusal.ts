import { ChainUnavailable } from '../../src/chain/clients';
import { EndpointsMissing } from '../../src/chain/signatures';
import type { FailureCode } from '../../src/domain/approval';

/** A signed and stored envelope, or why the signer refuses. */
export type SigningResult =
  | { readonly envelopeId: string }
  /** Endpoints for contract wallets do not answer or disagree; the message names them. */
  | { readonly unreachable: string }
  | { readonly refused: { readonly code: FailureCode; readonly message: string } };

/** Why the signer does not sign. */
export class SignerRefusal extends Error {
  override readonly name = 'SignerRefusal';
  constructor(
    readonly code: FailureCode,
    message: string,
  ) {
    super(message);
  }
}

/** Runs `work`; returns refusals and an unavailable network as values, so that they are not retried. */
export async function refusalsAsValues(work: () => Promise<SigningResult>): Promise<SigningResult> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SignerRefusal) return { refused: { code: error.code, message: error.message } };
    if (error instanceof EndpointsMissing) return { refused: { code: 'endpoints', message: error.message } };
    if (error instanceof ChainUnavailable) return { unreachable: error.message };
    throw error;
  }
}
