import type { ProposalAction, ResourceType } from './proposal';

/** Names an approval to the activities. */
export interface ApprovalKey {
  readonly organizationId: string;
  readonly id: string;
}

/** Names the workflow of an approval. */
export type WorkflowRef = ApprovalKey &
  (
    | { readonly subject: 'proposal'; readonly resourceType: ResourceType }
    | { readonly subject: 'transaction' }
  );

/** Names an approval, with the input of its workflow. */
export type ApprovalRef = ApprovalKey &
  (
    | { readonly subject: 'proposal'; readonly resourceType: ResourceType; readonly action: ProposalAction }
    | { readonly subject: 'transaction' }
  );
