import type { Knex } from 'knex';
import type { ProposalRecord } from '../domain/proposal';
import type { Db, Tx } from './database';
import { queryRows, selected } from './rows';
import {
  type ApprovalColumns,
  approvalColumns,
  type StoredApproval,
  storedApproval,
} from './storedApprovals';
import type { ProposalRow } from './tables';

/** A proposal as it is stored. */
export interface StoredProposal extends ProposalRecord, StoredApproval {
  readonly votes: StoredApproval['votes'];
}

const OWN_COLUMNS = selected<ProposalRow>('p', {
  id: true,
  resource_type: true,
  action: true,
  data: true,
  applied_at: true,
  effective: true,
});

export const proposalColumns = `${OWN_COLUMNS}, ${approvalColumns}, coalesce((SELECT json_agg(json_build_object(
    'accountId', d.account_id, 'networkId', d.network_id, 'status', d.status,
    'transactionHash', d.transaction_hash, 'failure', d.failure, 'waitingFor', d.waiting_for
  ) ORDER BY d.account_id, d.network_id) FROM deployments d WHERE d.proposal_id = a.id), '[]') AS deployments`;

const SELECT = `SELECT ${proposalColumns} FROM approvals a JOIN proposals p ON p.id = a.id`;

/** What `proposalColumns` read. */
export interface ProposalColumns extends ProposalRow, ApprovalColumns {
  readonly result: StoredProposal['result'];
  readonly deployments: StoredProposal['deployments'];
}

/** A proposal as it is stored. */
export function storedProposal(row: ProposalColumns): StoredProposal {
  return {
    ...storedApproval(row),
    resourceType: row.resource_type,
    action: row.action,
    data: row.data,
    applied: row.applied_at !== null,
    effective: row.effective,
    result: row.result,
    deployments: row.deployments,
  };
}

/** The proposals that the rest of a statement selects. */
export async function selectProposals(
  db: Db | Tx,
  rest: string,
  values: readonly Knex.RawBinding[],
): Promise<StoredProposal[]> {
  return (await queryRows<ProposalColumns>(db, `${SELECT} ${rest}`, values)).map(storedProposal);
}
