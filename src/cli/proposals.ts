import type { Command } from 'commander';
import { readOrganization } from '../db/organizations';
import { findProposalById, listProposals, readNow } from '../db/proposals';
import { operatorDetails, statusSentence } from '../domain/operatorText';
import { proposalState } from '../domain/proposal';
import { proposalView } from '../domain/proposalView';
import { retryProposal, TemporalUnavailable } from '../temporal/client';
import { proposalWorkflowId } from '../temporal/ids';
import type { CommandContext } from './context';
import { withContext } from './context';
import { CommandRefused, table } from './output';

const MAX_LISTED = 100;

async function find({ db }: CommandContext, id: string) {
  const record = await findProposalById(db(), id);
  if (!record) throw new CommandRefused(`there is no proposal ${id}`);
  const now = await readNow(db(), record.organizationId);
  return { record, now, state: proposalState(record, now) };
}

function workflowLink({ config }: CommandContext, workflowId: string): string | null {
  if (!config.temporal.uiUrl) return null;
  return `${config.temporal.uiUrl}/namespaces/${config.temporal.namespace}/workflows/${encodeURIComponent(workflowId)}`;
}

/** `proposals list`, `proposals show`, `proposals retry`. */
export function proposalCommands(program: Command): void {
  const proposals = program
    .command('proposals')
    .description('Organization operations waiting, done or failed');

  proposals
    .command('list')
    .description(`List the newest ${MAX_LISTED} proposals`)
    .option('--org <org_…>', 'only of this organization')
    .option('--failed', 'only those whose execution failed or was blocked')
    .action((options: { org?: string; failed?: boolean }, command: Command) =>
      withContext(command, async ({ db, output }) => {
        const records = await listProposals(db(), {
          limit: MAX_LISTED,
          ...(options.org === undefined ? {} : { organizationId: options.org }),
          ...(options.failed ? { executionStatus: ['failed', 'blocked'] } : {}),
        });
        const states = await Promise.all(
          records.map(async (record) => proposalState(record, await readNow(db(), record.organizationId))),
        );
        output.result(
          states,
          table(
            ['id', 'organization', 'operation', 'where it stands'],
            states.map((state) => [
              state.proposalId,
              state.organizationId,
              `${state.resourceType} ${state.action}`,
              state.failure ? `${statusSentence(state)} ${state.failure.message}` : statusSentence(state),
            ]),
            options.failed ? 'Nothing has failed.' : 'There are no proposals.',
          ),
        );
      }),
    );

  proposals
    .command('show')
    .description('Show one proposal: what is asked, who signed, what failed and what to do')
    .argument('<prop_…>')
    .action((id: string, _options: object, command: Command) =>
      withContext(command, async (context) => {
        const { record, now, state } = await find(context, id);
        const { domainSalt } = await readOrganization(context.db(), record.organizationId);
        const workflowId = proposalWorkflowId(record.organizationId, record.resourceType, id);
        const link = workflowLink(context, workflowId);
        const words = [operatorDetails(state), `Workflow: ${workflowId}`, ...(link ? [link] : [])];
        context.output.result(
          {
            ...proposalView(record, now, domainSalt),
            organizationId: record.organizationId,
            workflowId,
            temporalUiUrl: link,
          },
          words.join('\n\n'),
        );
      }),
    );

  proposals
    .command('retry')
    .description('Try a failed or blocked execution again; what is done already is found, not done twice')
    .argument('<prop_…>')
    .action((id: string, _options: object, command: Command) =>
      withContext(command, async (context) => {
        const { record } = await find(context, id);
        const { organizationId, resourceType } = record;
        try {
          const outcome = await retryProposal(context.sender(), {
            organizationId,
            resourceType,
            proposalId: id,
          });
          if ('gone' in outcome)
            throw new CommandRefused(`proposal ${id} is closed: nothing is left to retry`);
          if (!outcome.ok) throw new CommandRefused(outcome.refusal.message);
          context.output.result(outcome.state, statusSentence(outcome.state));
        } catch (error) {
          if (error instanceof TemporalUnavailable) {
            throw new CommandRefused(`${error.message}: is Temporal there, and a worker?`);
          }
          throw error;
        }
      }),
    );
}
