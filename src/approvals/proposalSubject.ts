import { lockProposal, type ProposalSnapshot, readProposalForMessage } from '../db/proposals';
import type { VoteType } from '../domain/approval';
import { type ProposalState, proposalRules, proposalState } from '../domain/proposal';
import { proposalPayload } from '../domain/signing';
import type { ApprovalSubject } from './approvalSubject';

/** Organization operations, decided by the admins. */
export const proposalSubject: ApprovalSubject<ProposalSnapshot, ProposalState> = {
  rules: proposalRules,
  needsAdmin: true,
  read: readProposalForMessage,
  lock: lockProposal,
  state: ({ record, now }) => proposalState(record, now),
  payload({ record, domainSalt }, type: VoteType) {
    return proposalPayload(type === 'reject' ? 'RejectProposal' : 'ApproveProposal', domainSalt, record);
  },
  withVoter: async (_db, snapshot) => snapshot,
  role: () => 'an admin of the organization',
  boundTo: () => null,
  provedBy: [],
  electorate: ({ admins }) => ({ admins: admins.members.map((member) => ({ ...member })) }),
  about: ({ resourceType, action }) => ({ resourceType, action }),
};
