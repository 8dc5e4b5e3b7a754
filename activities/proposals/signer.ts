import type { ApprovalKey } from '../../src/domain/approvalRef';
import type { SignerContext } from '../signer/context';
import { sealProposal } from './seal';

/** The activities of the signer that seal decisions about organizations. */
export function createProposalSignerActivities(context: SignerContext) {
  return {
    sealProposal: (input: ApprovalKey) => sealProposal(context, input),
  };
}

/** The activities of the signer that seal decisions about organizations, as workflows see them. */
export type ProposalSignerActivities = ReturnType<typeof createProposalSignerActivities>;
