import type { Command } from 'commander';
import type { Db } from '../db/database';
import { newestProposals } from '../db/operations';
import { readOrganization } from '../db/organizations';
import { findProposalById, readNow, type StoredProposal } from '../db/proposals';
import { operatorDetails, statusSentence } from '../domain/operatorText';
import { isOpen, type Now, proposalState } from '../domain/proposal';
import { proposalView } from '../domain/proposalView';
import { retryProposal } from '../temporal/client';
import { proposalWorkflowId } from '../temporal/ids';
import { organizationsOf, type Within } from './context';
import { CommandRefused } from './output';
import { askWorkflow, MAX_LISTED, tellRecords, votesTable } from './records';
import { plainText } from './text';
import { workflowLink } from './workflowLink';

async function findProposal(db: Db, id: string): Promise<StoredProposal> {
  const record = await findProposalById(db, id);
  if (!record) throw new CommandRefused(`there is no proposal ${id}`);
  return record;
}

/** Reads the admins of each organization once. */
function nowReader(db: Db): (organizationId: string) => Promise<Now> {
  const known = new Map<string, Promise<Now>>();
  return (organizationId) => {
    const now = known.get(organizationId) ?? readNow(db, organizationId);
    known.set(organizationId, now);
    return now;
  };
}

/** `proposals list`, `proposals show`, `proposals retry`. */
export function proposalCommands(program: Command, within: Within): void {
  const proposals = program
    .command('proposals')
    .description('Organization operations: waiting, done or failed');

  proposals
    .command('list')
    .description(`List the newest ${MAX_LISTED} proposals`)
    .option('--org <org_…>', 'only of this organization')
    .option('--failed', 'only those whose execution failed or was blocked and can be tried again')
    .action((options: { org?: string; failed?: boolean }, command: Command) =>
      within(command, async ({ db, output }) => {
        await organizationsOf(db(), options.org);
        const records = await newestProposals(db(), {
          limit: MAX_LISTED,
          ...(options.org === undefined ? {} : { organizationId: options.org }),
          ...(options.failed ? { executionStatus: ['failed', 'blocked'] } : {}),
        });
        const nowOf = nowReader(db());
        const states = [];
        for (const record of records) {
          const now = await nowOf(record.organizationId);
          if (options.failed && !isOpen(record, now.time)) continue;
          states.push({ ...proposalState(record, now), createdAt: record.createdAt.toISOString() });
        }
        tellRecords(output, {
          states,
          rows: states.map((state) => ({
            ...state,
            id: state.proposalId,
            operation: `${state.resourceType} ${state.action}`,
            sentence: statusSentence(state),
          })),
          none: options.failed ? 'Nothing waits for a retry.' : 'There are no proposals.',
          looked: records.length,
        });
      }),
    );

  proposals
    .command('show')
    .description('Show one proposal: what is asked, who signed, what failed and what to do')
    .argument('<prop_…>')
    .action((id: string, _options: object, command: Command) =>
      within(command, async ({ config, db, output }) => {
        const record = await findProposal(db(), id);
        const { organizationId, resourceType } = record;
        const organization = await readOrganization(db(), organizationId);
        const now = await readNow(db(), organizationId);
        const state = proposalState(record, now);
        const workflowId = proposalWorkflowId(organizationId, resourceType, id);
        const link = workflowLink(config().temporal, workflowId);
        output.result(
          {
            ...proposalView(record, now, organization.domainSalt),
            organizationId,
            status: plainText(statusSentence(state)),
            open: state.open,
            createdByKey: record.createdByKey,
            votes: record.votes,
            workflowId,
            temporalUiUrl: link,
          },
          [
            `${id}: ${resourceType} ${record.action} of ${organizationId} (${organization.name}), proposed ${record.createdAt.toISOString()}`,
            plainText(operatorDetails(state)),
            votesTable(record.votes),
            `Workflow: ${link ?? workflowId}`,
            ...(state.open && state.failure ? [`Retry: npx orgwallet proposals retry ${id}`] : []),
          ].join('\n\n'),
        );
      }),
    );

  proposals
    .command('retry')
    .description('Try a failed or blocked execution again; what is done already is found, not done twice')
    .argument('<prop_…>')
    .action((id: string, _options: object, command: Command) =>
      within(command, async (context) => {
        const { db, sender, output } = context;
        const { organizationId, resourceType, action } = await findProposal(db(), id);
        const record = { kind: 'proposal', organizationId, id, resourceType, action } as const;
        const state = await askWorkflow(context, record, {
          verb: 'retry',
          send: () => retryProposal(sender(), { organizationId, resourceType, proposalId: id }),
          look: async () => {
            const seen = await findProposal(db(), id);
            const sentence = statusSentence(proposalState(seen, await readNow(db(), organizationId)));
            return { closed: seen.closed, sentence };
          },
        });
        output.result(
          state,
          `${plainText(statusSentence(state))}\nHow it goes on: npx orgwallet proposals show ${id}`,
        );
      }),
    );
}
