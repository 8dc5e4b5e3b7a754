import type { Command } from 'commander';
import type { Db } from '../db/database';
import { newestProposals } from '../db/operations';
import { readOrganization } from '../db/organizations';
import { findProposalById, readNow, type StoredProposal } from '../db/proposals';
import { operatorDetails, statusSentence } from '../domain/operatorText';
import { isOpen, type Now, proposalState } from '../domain/proposal';
import { proposalView } from '../domain/proposalView';
import { restoreProposal, retryProposal } from '../temporal/client';
import { proposalWorkflowId } from '../temporal/ids';
import { findWorkflow } from '../temporal/runs';
import { organizationsOf, type Within } from './context';
import { CommandRefused } from './output';
import { plainText, table } from './text';
import { workflowLink } from './workflowLink';

const MAX_LISTED = 100;

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

function votesTable({ votes }: StoredProposal): string {
  return table(
    ['signature', 'member', 'wallet', 'scheme', 'at'],
    votes.map((vote) => [
      vote.type,
      vote.memberId,
      vote.signerAddress,
      vote.scheme,
      vote.createdAt.toISOString(),
    ]),
    'No signatures yet.',
  );
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
        output.result(
          states,
          table(
            ['id', 'created', 'organization', 'operation', 'where it stands'],
            states.map((state) => [
              state.proposalId,
              state.createdAt,
              state.organizationId,
              `${state.resourceType} ${state.action}`,
              plainText(statusSentence(state)) + (state.failure ? ` ${state.failure.message}` : ''),
            ]),
            options.failed ? 'Nothing waits for a retry.' : 'There are no proposals.',
          ),
        );
        if (records.length === MAX_LISTED) output.note(`Only the newest ${MAX_LISTED} were looked at.`);
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
            votesTable(record),
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
      within(command, async ({ db, sender, output }) => {
        const { organizationId, resourceType, action } = await findProposal(db(), id);
        const address = { organizationId, resourceType, proposalId: id };
        let outcome = await retryProposal(sender(), address);
        if ('gone' in outcome && !(await findProposal(db(), id)).closed) {
          // Terminated by somebody, or lost with Temporal's data: it goes on from the record.
          const found = await findWorkflow(sender(), proposalWorkflowId(organizationId, resourceType, id));
          if (found.status !== 'running') await restoreProposal(sender(), { ...address, action, found });
          output.note(`The workflow of ${id} was gone and has been started again.`);
          outcome = await retryProposal(sender(), address);
        }
        if ('gone' in outcome) {
          const record = await findProposal(db(), id);
          const state = proposalState(record, await readNow(db(), organizationId));
          throw new CommandRefused(
            `proposal ${id} is closed: nothing is left to retry. ${plainText(statusSentence(state))}`,
          );
        }
        if (!outcome.ok) throw new CommandRefused(outcome.refusal.message);
        const { state } = outcome;
        output.result(
          state,
          `${plainText(statusSentence(state))}\nHow it goes on: npx orgwallet proposals show ${id}`,
        );
      }),
    );
}
