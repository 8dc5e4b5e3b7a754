import type { Command } from 'commander';
import { formatGwei } from 'viem';
import type { Db } from '../db/database';
import { readOrganization } from '../db/organizations';
import { findTransactionById, listTransactions, type TransactionSnapshot } from '../db/transactions';
import { readTransactionTrail, type TrailAttempt, type TrailUsage } from '../db/transactionTrail';
import { transactionDetails, transactionSentence } from '../domain/operatorText';
import { transactionState } from '../domain/transaction';
import { transactionView } from '../domain/transactionView';
import { transactionWorkflowId } from '../temporal/ids';
import { giveUpTransaction, retryTransaction } from '../temporal/transactions';
import { organizationsOf, type Within } from './context';
import { CommandRefused } from './output';
import { askWorkflow, MAX_LISTED, tellRecords, votesTable } from './records';
import { plainText, table } from './text';
import { workflowLink } from './workflowLink';

async function findTransaction(db: Db, id: string): Promise<TransactionSnapshot> {
  const snapshot = await findTransactionById(db, id);
  if (!snapshot) throw new CommandRefused(`there is no transaction ${id}`);
  return snapshot;
}

function outcomeText(attempt: TrailAttempt): string {
  const { outcome, confirmations, blockNumber } = attempt;
  if (outcome !== null) return `${outcome}${blockNumber === null ? '' : ` in block ${blockNumber}`}`;
  return confirmations > 0 ? `undecided, ${confirmations} confirmations` : 'undecided';
}

/** Everything that was signed, each attempt with the envelopes that carry it to the chain. */
function attemptsTable(attempts: readonly TrailAttempt[]): string {
  return table(
    [
      'signed',
      'what',
      'account nonce',
      'outcome',
      'transaction',
      'relayer nonce',
      'max fee',
      'sent',
      'envelope',
    ],
    attempts.flatMap((attempt) => {
      const about = [attempt.createdAt.toISOString(), attempt.kind, attempt.safeNonce, outcomeText(attempt)];
      if (attempt.envelopes.length === 0) return [[...about, 'no envelope']];
      return attempt.envelopes.map((envelope, index) => [
        ...(index === 0 ? about : about.map(() => '')),
        envelope.transactionHash,
        `${envelope.relayerNonce} of ${envelope.relayerAddress}`,
        `${formatGwei(BigInt(envelope.maxFeePerGas))} gwei`,
        envelope.sentAt?.toISOString() ?? 'not yet',
        envelope.outcome ?? 'undecided',
      ]);
    }),
    'Nothing has been signed for a chain.',
  );
}

function usageTable(usage: readonly TrailUsage[]): string {
  return table(
    ['budget', 'amount', 'of token', 'policy', 'reserved', 'decided'],
    usage.map((one) => [
      one.status,
      one.amount,
      one.tokenAddress,
      one.policyId,
      one.reservedAt.toISOString(),
      one.decidedAt?.toISOString() ?? '',
    ]),
    'It has taken nothing of a budget.',
  );
}

/** `transactions list`, `transactions show`, `transactions retry`, `transactions give-up`. */
export function transactionCommands(program: Command, within: Within): void {
  const transactions = program
    .command('transactions')
    .description('Transactions of accounts: waiting, on their way, done or failed');

  transactions
    .command('list')
    .description(`List the newest ${MAX_LISTED} transactions`)
    .option('--org <org_…>', 'only of this organization')
    .option('--failed', 'only those whose execution failed or was blocked and can be tried again')
    .action((options: { org?: string; failed?: boolean }, command: Command) =>
      within(command, async ({ db, output }) => {
        await organizationsOf(db(), options.org);
        const snapshots = await listTransactions(db(), {
          limit: MAX_LISTED,
          ...(options.org === undefined ? {} : { organizationId: options.org }),
          ...(options.failed ? { executionStatus: ['failed', 'blocked'], unclosed: true } : {}),
        });
        const states = snapshots
          .map(({ record, now }) => ({
            ...transactionState(record, now),
            createdAt: record.createdAt.toISOString(),
            type: record.type,
          }))
          .filter(({ open }) => open || !options.failed);
        tellRecords(output, {
          states,
          rows: states.map((state) => ({
            ...state,
            id: state.transactionId,
            operation: state.type === 'TOKEN_TRANSFER' ? 'transfer' : 'call',
            sentence: transactionSentence(state),
          })),
          none: options.failed ? 'Nothing waits for a retry.' : 'There are no transactions.',
          looked: snapshots.length,
        });
      }),
    );

  transactions
    .command('show')
    .description(
      'Show one transaction: what is asked, who signed, what is on chain, what failed and what to do',
    )
    .argument('<txn_…>')
    .action((id: string, _options: object, command: Command) =>
      within(command, async ({ config, db, output }) => {
        const { record, now } = await findTransaction(db(), id);
        const { organizationId } = record;
        const organization = await readOrganization(db(), organizationId);
        const state = transactionState(record, now);
        const { attempts, usage } = await readTransactionTrail(db(), id);
        const workflowId = transactionWorkflowId(organizationId, id);
        const link = workflowLink(config().temporal, workflowId);
        output.result(
          {
            ...transactionView(record, now),
            organizationId,
            status: plainText(transactionSentence(state)),
            open: state.open,
            waitingFor: state.waitingFor,
            awaitsRelayerWei: state.awaitsRelayerWei,
            givingUp: state.givingUp,
            createdByKey: record.createdByKey,
            votes: record.votes,
            attempts,
            usage,
            workflowId,
            temporalUiUrl: link,
          },
          [
            `${id}: ${record.type} of ${organizationId} (${organization.name}), proposed ${record.createdAt.toISOString()}`,
            plainText(transactionDetails(state)),
            `Policy: ${record.policyId} "${now.policy.name}", ${now.policy.type}${now.policyRemoved ? ', removed' : ''}`,
            ...(record.description === '' ? [] : [`Description: ${record.description}`]),
            votesTable(record.votes),
            attemptsTable(attempts),
            usageTable(usage),
            `Workflow: ${link ?? workflowId}`,
            ...(state.open && state.failure ? [`Retry: npx orgwallet transactions retry ${id}`] : []),
            ...(state.executionStatus === 'processing' && !state.givingUp
              ? [`Give up: npx orgwallet transactions give-up ${id}`]
              : []),
          ].join('\n\n'),
        );
      }),
    );

  const messages = [
    {
      name: 'retry',
      description:
        'Try a failed or blocked execution again; what is on chain already is found, not done twice',
      verb: 'retry',
      send: retryTransaction,
    },
    {
      name: 'give-up',
      description: 'Let what is on its way come to nothing: an empty call of the account takes its nonce',
      verb: 'give up',
      send: giveUpTransaction,
    },
  ];
  for (const { name, description, verb, send } of messages) {
    transactions
      .command(name)
      .description(description)
      .argument('<txn_…>')
      .action((id: string, _options: object, command: Command) =>
        within(command, async (context) => {
          const { db, sender, output } = context;
          const { organizationId } = (await findTransaction(db(), id)).record;
          const state = await askWorkflow(
            context,
            { kind: 'transaction', organizationId, id },
            {
              verb,
              send: () => send(sender(), { organizationId, transactionId: id }),
              look: async () => {
                const { record, now } = await findTransaction(db(), id);
                return {
                  closed: record.closed,
                  sentence: transactionSentence(transactionState(record, now)),
                };
              },
            },
          );
          output.result(
            state,
            `${plainText(transactionSentence(state))}\nHow it goes on: npx orgwallet transactions show ${id}`,
          );
        }),
      );
  }
}
