import type { Command } from 'commander';
import type { NetworkConfig } from '../config';
import type { Db } from '../db/database';
import { readOrganization } from '../db/organizations';
import type { ApprovalRef } from '../domain/approvalRef';
import type { ApprovalState } from '../domain/approvalState';
import { type MessageOutcome, restartApproval, retryApproval } from '../temporal/approvalMessages';
import type { WorkflowSender } from '../temporal/client';
import { approvalWorkflowId } from '../temporal/ids';
import { findWorkflow } from '../temporal/runs';
import { type CommandContext, organizationsOf, type Within } from './commandContext';
import { silentRoles } from './doctor/roleChecks';
import { CommandRefused } from './output';
import { plainText, table } from './text';
import { workflowLink } from './workflowLink';

/** How many of the newest approvals a list shows. */
const MAX_LISTED = 100;

/** What `list` shows. */
interface ApprovalFilter {
  readonly organizationId?: string;
  readonly executionStatus?: readonly string[];
  readonly unclosed?: true;
  /** Of transactions. */
  readonly externalId?: string;
  readonly limit: number;
}

/** The options of `list`. */
interface ListOptions {
  readonly org?: string;
  readonly failed?: boolean;
  readonly externalId?: string;
}

/** One approval, as the commands show it. */
export interface ShownApproval<S extends ApprovalState> {
  readonly ref: ApprovalRef;
  readonly state: S;
  readonly createdAt: Date;
  readonly createdBy: string | null;
  readonly votes: readonly {
    readonly type: string;
    readonly memberId: string;
    readonly signerAddress: string;
    readonly scheme: string;
    readonly createdAt: Date;
  }[];
}

/** The parts of the commands that depend on the subject. `A` is an approval as they read it. */
interface ApprovalCommands<S extends ApprovalState, A extends ShownApproval<S>> {
  /** `proposals` or `transactions`. */
  readonly name: string;
  readonly description: string;
  /** The placeholder of an id in the help. */
  readonly argument: string;
  /** Further options of `list`: flags, and what they mean. */
  readonly listOptions?: readonly (readonly [flags: string, description: string])[];
  readonly list: (db: Db, filter: ApprovalFilter) => Promise<A[]>;
  readonly find: (db: Db, id: string) => Promise<A | undefined>;
  /** The operation, in a list. */
  readonly operation: (approval: A) => string;
  /** Fields of a list's JSON besides the state. */
  readonly listed: (approval: A) => object;
  /** One sentence: its status and what it waits for (Markdown). */
  readonly sentence: (state: S) => string;
  /** Everything about it (Markdown). */
  readonly details: (state: S) => string;
  /** The output of `show`, in JSON and in paragraphs. */
  readonly show: (
    from: { readonly db: Db; readonly networks: readonly NetworkConfig[] },
    approval: A,
    organization: Awaited<ReturnType<typeof readOrganization>>,
  ) => Promise<{ readonly json: object; readonly paragraphs: readonly string[] }>;
}

/** Throws CommandRefused when it does not exist. */
async function findOrRefuse<S extends ApprovalState, A extends ShownApproval<S>>(
  commands: ApprovalCommands<S, A>,
  db: Db,
  id: string,
): Promise<A> {
  const approval = await commands.find(db, id);
  if (!approval) throw new CommandRefused(`${commands.name.slice(0, -1)} ${id} not found`);
  return approval;
}

/** The signatures of an approval, in the order in which they came. */
function votesTable({ votes }: Pick<ShownApproval<ApprovalState>, 'votes'>): string {
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

async function list<S extends ApprovalState, A extends ShownApproval<S>>(
  commands: ApprovalCommands<S, A>,
  { db, output }: CommandContext,
  options: ListOptions,
): Promise<void> {
  await organizationsOf(db(), options.org);
  const read = await commands.list(db(), {
    limit: MAX_LISTED,
    ...(options.org === undefined ? {} : { organizationId: options.org }),
    ...(options.failed ? { executionStatus: ['failed', 'blocked'], unclosed: true } : {}),
    ...(options.externalId === undefined ? {} : { externalId: options.externalId }),
  });
  const approvals = read.filter(({ state }) => state.open || !options.failed);
  output.result(
    approvals.map((approval) => ({
      ...approval.state,
      ...commands.listed(approval),
      createdAt: approval.createdAt.toISOString(),
    })),
    table(
      ['id', 'created', 'organization', 'operation', 'status'],
      approvals.map((approval) => {
        const { id, organizationId, failure } = approval.state;
        const failed = failure ? ` ${failure.message}` : '';
        return [
          id,
          approval.createdAt.toISOString(),
          organizationId,
          commands.operation(approval),
          plainText(commands.sentence(approval.state)) + failed,
        ];
      }),
      options.failed ? 'Nothing waits for a retry.' : `There are no ${commands.name}.`,
    ),
  );
  if (read.length === MAX_LISTED) output.note(`Only the newest ${MAX_LISTED} were read.`);
}

async function show<S extends ApprovalState, A extends ShownApproval<S>>(
  commands: ApprovalCommands<S, A>,
  { config, db, output }: CommandContext,
  id: string,
): Promise<void> {
  const approval = await findOrRefuse(commands, db(), id);
  const { ref, state } = approval;
  const organization = await readOrganization(db(), ref.organizationId);
  const { json, paragraphs } = await commands.show(
    { db: db(), networks: config().networks },
    approval,
    organization,
  );
  const awaited = state.open ? await silentRoles(db(), config()) : [];
  const workflowId = approvalWorkflowId(ref);
  const link = workflowLink(config().temporal, workflowId);
  const created = `proposed ${approval.createdAt.toISOString()}`;
  output.result(
    {
      ...json,
      organizationId: ref.organizationId,
      status: plainText(commands.sentence(state)),
      open: state.open,
      createdBy: approval.createdBy,
      votes: approval.votes,
      unavailable: awaited,
      workflowId,
      temporalUiUrl: link,
    },
    [
      `${id}: ${commands.operation(approval)} of ${ref.organizationId} (${organization.name}), ${created}`,
      plainText(commands.details(state)),
      ...awaited.map(({ part, found, todo }) => `Waits for: ${part}: ${found}\n  → ${todo}`),
      votesTable(approval),
      ...paragraphs,
      `Workflow: ${link ?? workflowId}`,
      ...(state.open && state.failure ? [`Retry: ./orgwallet ${commands.name} retry ${id}`] : []),
    ].join('\n\n'),
  );
}

/** A message that an operator sends to the workflow of an approval. */
export interface OperatorMessage {
  /** Name of the command. */
  readonly name: string;
  readonly description: string;
  readonly send: (sender: WorkflowSender, ref: ApprovalRef) => Promise<MessageOutcome>;
}

/** Sends an operator's message; a workflow that no longer exists is restarted first. Throws CommandRefused. */
async function sendMessage<S extends ApprovalState, A extends ShownApproval<S>>(
  commands: ApprovalCommands<S, A>,
  { db, sender, output }: CommandContext,
  id: string,
  message: OperatorMessage,
): Promise<void> {
  const { ref } = await findOrRefuse(commands, db(), id);
  let outcome = await message.send(sender(), ref);
  if ('workflowClosed' in outcome && !(await findOrRefuse(commands, db(), id)).state.closed) {
    // Terminated by an operator, or lost with Temporal's data: it continues from its record.
    const found = await findWorkflow(sender(), approvalWorkflowId(ref));
    if (found.status !== 'running') await restartApproval(sender(), ref, found);
    output.note(`The workflow of ${id} was gone and has been restarted.`);
    outcome = await message.send(sender(), ref);
  }
  if ('workflowClosed' in outcome) {
    const { state } = await findOrRefuse(commands, db(), id);
    const status = plainText(commands.sentence(state));
    throw new CommandRefused(
      `${ref.subject} ${id} is closed: there is nothing to ${message.name}. ${status}`,
    );
  }
  if (!outcome.ok) throw new CommandRefused(outcome.refusal.message);
  const state = outcome.state as S;
  output.result(
    state,
    `${plainText(commands.sentence(state))}\nFollow it: ./orgwallet ${commands.name} show ${id}`,
  );
}

const RETRY: OperatorMessage = {
  name: 'retry',
  description: 'Retry a failed or blocked execution; finished steps are not repeated',
  send: retryApproval,
};

/** `list`, `show`, `retry` and the subject's own messages. */
export function approvalCommands<S extends ApprovalState, A extends ShownApproval<S>>(
  program: Command,
  within: Within,
  commands: ApprovalCommands<S, A>,
  messages: readonly OperatorMessage[] = [],
): void {
  const { name, argument } = commands;
  const group = program.command(name).description(commands.description);
  const listing = group
    .command('list')
    .description(`List the newest ${MAX_LISTED} ${name}`)
    .option('--org <org_…>', 'only of this organization')
    .option('--failed', 'only those whose execution failed or was blocked and can be retried');
  for (const [flags, description] of commands.listOptions ?? []) listing.option(flags, description);
  listing.action((options: ListOptions, command: Command) =>
    within(command, (context) => list(commands, context, options)),
  );
  group
    .command('show')
    .description('Show one: the operation, who signed, what failed and what to do')
    .argument(argument)
    .action((id: string, _options: object, command: Command) =>
      within(command, (context) => show(commands, context, id)),
    );
  for (const message of [RETRY, ...messages]) {
    group
      .command(message.name)
      .description(message.description)
      .argument(argument)
      .action((id: string, _options: object, command: Command) =>
        within(command, (context) => sendMessage(commands, context, id, message)),
      );
  }
}
