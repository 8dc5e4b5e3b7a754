import type { Command } from 'commander';
import type { Db } from '../db/database';
import { findProposalById, listProposals, readProposalNow } from '../db/proposals';
import type { StoredProposal } from '../db/storedProposals';
import { proposalDetails, proposalSentence } from '../domain/operatorText';
import { type ProposalContext, type ProposalState, proposalState } from '../domain/proposal';
import { proposalView } from '../domain/proposalView';
import { approvalCommands, type ShownApproval } from './approvalCommands';
import type { Within } from './commandContext';

interface ShownProposal extends ShownApproval<ProposalState> {
  readonly record: StoredProposal;
  readonly now: ProposalContext;
}

function shown(record: StoredProposal, now: ProposalContext): ShownProposal {
  const { organizationId, id, resourceType, action, createdAt, createdBy, votes } = record;
  return {
    ref: { subject: 'proposal', organizationId, id, resourceType, action },
    state: proposalState(record, now),
    createdAt,
    createdBy,
    votes,
    record,
    now,
  };
}

/** Reads the admins of each organization once. */
async function withAdmins(db: Db, records: readonly StoredProposal[]): Promise<ShownProposal[]> {
  const known = new Map<string, Promise<ProposalContext>>();
  const nowOf = (organizationId: string) => {
    const now = known.get(organizationId) ?? readProposalNow(db, organizationId);
    known.set(organizationId, now);
    return now;
  };
  return Promise.all(records.map(async (record) => shown(record, await nowOf(record.organizationId))));
}

/** `proposals list`, `proposals show`, `proposals retry`. */
export function proposalCommands(program: Command, within: Within): void {
  approvalCommands<ProposalState, ShownProposal>(program, within, {
    name: 'proposals',
    description: 'Organization operations: waiting, done or failed',
    argument: '<prop_…>',
    list: async (db, filter) => withAdmins(db, await listProposals(db, filter)),
    async find(db, id) {
      const record = await findProposalById(db, id);
      return record && shown(record, await readProposalNow(db, record.organizationId));
    },
    operation: ({ record }) => `${record.resourceType} ${record.action}`,
    listed: () => ({}),
    sentence: proposalSentence,
    details: proposalDetails,
    show: async (_db, { record, now }, { domainSalt }) => ({
      json: proposalView(record, now, domainSalt),
      paragraphs: [],
    }),
  });
}
