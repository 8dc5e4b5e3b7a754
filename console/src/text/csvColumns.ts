import type { Schema, Transaction } from '@orgwallet/client';
import { decimalText } from '../domain/amounts.ts';
import { sentAsset } from '../domain/sentAsset.ts';
import type { CsvColumn } from './csv.ts';

const namesOf = (members: readonly { readonly name: string }[]) => members.map(({ name }) => name).join('; ');
const transferOf = (transaction: Transaction) =>
  transaction.type === 'TOKEN_TRANSFER' ? transaction.data : undefined;

/** What a transfer sends, in whole units as it is signed: of a token that the organization does not know in the smallest. */
export const sentAmount = (one: Transaction) =>
  one.type === 'TOKEN_TRANSFER' ? decimalText(one.data.rawAmount, sentAsset(one).decimals) : undefined;
/** The symbol of what a transfer sends, as it is signed. */
export const sentSymbol = (one: Transaction) =>
  one.type === 'TOKEN_TRANSFER' ? sentAsset(one).symbol : undefined;

/** Metadata in one cell: JSON; empty where there is none. */
export const metadataOf = (metadata: Transaction['metadata']): string =>
  Object.keys(metadata).length === 0 ? '' : JSON.stringify(metadata);

/** Transactions in a file. Amounts are exact, in smallest and in whole units. */
export const TRANSACTION_COLUMNS: readonly CsvColumn<Transaction>[] = [
  ['id', ({ id }) => id],
  ['createdAt', ({ createdAt }) => createdAt],
  ['updatedAt', ({ updatedAt }) => updatedAt],
  ['accountId', ({ accountId }) => accountId],
  ['networkId', ({ networkId }) => networkId],
  ['type', ({ type }) => type],
  ['description', ({ description }) => description],
  ['externalId', ({ externalId }) => externalId],
  ['tags', ({ tags }) => tags.join('; ')],
  ['metadata', ({ metadata }) => metadataOf(metadata)],
  ['initiator', ({ initiator }) => initiator.name],
  ['initiatorWallet', ({ initiator }) => initiator.walletAddress],
  ['to', (one) => (one.type === 'TOKEN_TRANSFER' ? one.data.destination : one.data.toAddress)],
  ['amount', sentAmount],
  ['symbol', sentSymbol],
  ['rawAmount', (one) => transferOf(one)?.rawAmount],
  ['tokenAddress', (one) => transferOf(one)?.asset.tokenAddress],
  ['value', ({ value }) => value],
  ['function', (one) => (one.type === 'TOKEN_TRANSFER' ? undefined : one.data.functionName)],
  ['calldata', ({ calldata }) => calldata],
  ['policyId', ({ policy }) => policy.id],
  ['approvals', ({ approvals }) => namesOf(approvals)],
  ['rejections', ({ rejections }) => namesOf(rejections)],
  ['signatureStatus', ({ signatureStatus }) => signatureStatus],
  ['executionStatus', ({ executionStatus }) => executionStatus ?? ''],
  ['failure', ({ failure }) => failure?.message],
  ['transactionHash', ({ result, chain }) => result?.transactionHash ?? chain?.transactionHash],
  ['blockNumber', ({ result }) => result?.blockNumber],
  ['feeWei', ({ fees }) => fees?.paid],
];

/** Entries of the audit log in a file; their details are JSON. */
export const AUDIT_COLUMNS: readonly CsvColumn<Schema['AuditLogEntry']>[] = [
  ['id', ({ id }) => id],
  ['createdAt', ({ createdAt }) => createdAt],
  ['action', ({ action }) => action],
  ['actorType', ({ actor }) => actor.type],
  ['actorId', ({ actor }) => actor.id],
  ['actorName', ({ actor }) => actor.name],
  ['actorWallet', ({ actor }) => actor.walletAddress],
  ['resourceType', ({ resourceType }) => resourceType],
  ['resourceId', ({ resourceId }) => resourceId],
  ['details', ({ details }) => JSON.stringify(details)],
  ['position', ({ position }) => position],
  ['previousHash', ({ previousHash }) => previousHash],
  ['hash', ({ hash }) => hash],
];
