import type { Command } from 'commander';
import { gasPriceText } from '../chain/nativeAmount';
import type { NetworkConfig } from '../config';
import type { StoredTransaction, TransactionSnapshot } from '../db/storedTransactions';
import { listTransactions } from '../db/transactionLists';
import { findTransactionById } from '../db/transactions';
import { readTransactionTrail, type TrailAttempt, type TrailUsage } from '../db/transactionTrail';
import { transactionDetails, transactionSentence } from '../domain/operatorText';
import { assetAmount } from '../domain/policyText';
import { quoted } from '../domain/quoted';
import type { TokenTransferData } from '../domain/transactionData';
import { type TransactionState, transactionState } from '../domain/transactionState';
import { transactionView } from '../domain/transactionView';
import { cancelTransaction } from '../temporal/approvalMessages';
import { approvalCommands, type OperatorMessage, type ShownApproval } from './approvalCommands';
import type { Within } from './commandContext';
import { table } from './text';

interface ShownTransaction extends ShownApproval<TransactionState>, TransactionSnapshot {}

function shown(snapshot: TransactionSnapshot): ShownTransaction {
  const { record, now } = snapshot;
  const { organizationId, id, createdAt, createdBy, votes } = record;
  return {
    ...snapshot,
    ref: { subject: 'transaction', organizationId, id },
    state: transactionState(record, now),
    createdAt,
    createdBy,
    votes,
  };
}

function outcomeText(attempt: TrailAttempt): string {
  const { outcome, confirmations, blockNumber } = attempt;
  if (outcome !== null) return `${outcome}${blockNumber === null ? '' : ` in block ${blockNumber}`}`;
  return confirmations > 0 ? `undecided, ${confirmations} confirmations` : 'undecided';
}

/** Every signed attempt, with its envelopes. */
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
        gasPriceText(BigInt(envelope.maxFeePerGas)),
        envelope.sentAt?.toISOString() ?? 'not yet',
        envelope.outcome ?? 'undecided',
      ]);
    }),
    'No attempt has been signed.',
  );
}

/** What a transaction takes from a budget: the token that it transfers, or the native currency that its call sends. */
function assetOf({ type, content, networkId }: StoredTransaction, networks: readonly NetworkConfig[]) {
  if (type === 'TOKEN_TRANSFER') return (content as unknown as TokenTransferData).asset;
  const unknown = { symbol: 'native currency', decimals: null };
  return networks.find(({ id }) => id === networkId)?.nativeAsset ?? unknown;
}

function usageTable(usage: readonly TrailUsage[], asset: ReturnType<typeof assetOf>): string {
  return table(
    ['budget', 'amount', 'of token', 'policy', 'reserved', 'decided'],
    usage.map((one) => [
      one.status,
      assetAmount(one.amount, asset),
      one.tokenAddress,
      one.policyId,
      one.reservedAt.toISOString(),
      one.decidedAt?.toISOString() ?? '',
    ]),
    'No budget usage.',
  );
}

function policyText({ record, now }: ShownTransaction): string {
  const removed = now.policyRemoved ? ', removed' : '';
  return `Policy: ${record.policyId} ${quoted(now.policy.name)}, ${now.policy.type}${removed}`;
}

/** The references of a transaction, as far as it has some. */
function referenceTexts({ references: { externalId, tags, metadata } }: StoredTransaction): string[] {
  const pairs = Object.entries(metadata).map(([name, value]) => `${name}: ${value}`);
  return [
    ...(externalId === null ? [] : [`External id: ${externalId}`]),
    ...(tags.length === 0 ? [] : [`Tags: ${tags.join(', ')}`]),
    ...(pairs.length === 0 ? [] : [`Metadata: ${pairs.join('; ')}`]),
  ];
}

const CANCEL: OperatorMessage = {
  name: 'cancel',
  description: 'Cancel an in-flight transaction: an empty call of the account uses up its nonce',
  send: cancelTransaction,
};

/** `transactions list`, `transactions show`, `transactions retry`, `transactions cancel`. */
export function transactionCommands(program: Command, within: Within): void {
  approvalCommands<TransactionState, ShownTransaction>(
    program,
    within,
    {
      name: 'transactions',
      description: 'Transactions of accounts: waiting, in flight, done or failed',
      argument: '<txn_…>',
      listOptions: [['--external-id <id>', 'only the one with this id of whoever requested it']],
      list: async (db, filter) => (await listTransactions(db, filter)).map(shown),
      async find(db, id) {
        const snapshot = await findTransactionById(db, id);
        return snapshot && shown(snapshot);
      },
      operation: ({ state }) =>
        state.amount === null ? state.operation : `${state.operation} ${state.amount}`,
      listed: ({ record }) => ({ type: record.type, externalId: record.references.externalId }),
      sentence: transactionSentence,
      details: transactionDetails,
      async show({ db, networks }, approval) {
        const { record, now, state } = approval;
        const { attempts, usage } = await readTransactionTrail(db, record.id);
        const { waitingFor, awaitsRelayerWei, cancelling } = state;
        const isInFlight = state.executionStatus === 'processing' && !cancelling;
        return {
          json: {
            ...transactionView(record, now),
            waitingFor,
            awaitsRelayerWei,
            cancelling,
            attempts,
            usage,
          },
          paragraphs: [
            policyText(approval),
            ...(record.description === '' ? [] : [`Description: ${record.description}`]),
            ...referenceTexts(record),
            attemptsTable(attempts),
            usageTable(usage, assetOf(record, networks)),
            ...(isInFlight ? [`Cancel: ./orgwallet transactions cancel ${record.id}`] : []),
          ],
        };
      },
    },
    [CANCEL],
  );
}
