import type { ApprovalKey } from '../domain/approvalRef';
import type { SignerContext } from './context';
import { sealProposal } from './seal';

/** The activities of the signer that seal decisions about organizations. */
export function createProposalSignerActivities(context: SignerContext) {
  return {
    sealProposal: (input: ApprovalKey) => sealProposal(context, input),
  };
}

/** The activities of the signer that seal decisions about organizations, as workflows see them. */
export type ProposalSignerActivities = ReturnType<typeof createProposalSignerActivities>;
