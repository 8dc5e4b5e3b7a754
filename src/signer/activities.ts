import type { ApprovalKey } from '../domain/approvalRef';
import type { DeploymentKey } from '../domain/proposal';
import type { EnvelopeTerms, TransactionTerms } from '../domain/terms';
import type { TransactionRef } from '../domain/transaction';
import { signDeployment } from './deployment';
import { fillNonce } from './fillNonce';
import { sealProposal } from './seal';
import type { SignerContext } from './signerContext';
import { type SignCancellation, signCancellation } from './transaction/cancellation';
import { confirmOutcome } from './transaction/confirmOutcome';
import { recordRejection } from './transaction/rejection';
import { signTransaction } from './transaction/sign';

/** The activities of the signer: all that it can be asked for. Each verifies what it is asked for. */
export function createSignerActivities(context: SignerContext) {
  return {
    sealProposal: (input: ApprovalKey) => sealProposal(context, input),
    signDeployment: (input: DeploymentKey & { terms: EnvelopeTerms }) => signDeployment(context, input),
    signTransaction: (input: TransactionRef & { terms: TransactionTerms }) => signTransaction(context, input),
    confirmOutcome: (input: TransactionRef) => confirmOutcome(context, input),
    recordRejection: (input: TransactionRef) => recordRejection(context, input),
    signCancellation: (input: SignCancellation) => signCancellation(context, input),
    fillNonce: (input: Parameters<typeof fillNonce>[1]) => fillNonce(context, input),
  };
}

/** The activities of the signer, as workflows see them. */
export type SignerActivities = ReturnType<typeof createSignerActivities>;
