import type { Approval, Schema, Transaction } from '@orgwallet/client';
import { decimalText } from '../domain/amounts.ts';
import type { CsvColumn } from './csv.ts';
import { metadataOf, sentAmount, sentSymbol } from './csvColumns.ts';
import { headline, type Names } from './headline.ts';
import { recipientAddressOf } from './requestRow.ts';

const namesOf = (members: readonly { readonly name: string }[]) => members.map(({ name }) => name).join('; ');

/** A column of transactions, empty for proposals. */
const ofTransaction =
  (text: (transaction: Transaction) => string | number | undefined) =>
  (approval: Approval): string | number | undefined =>
    'resourceType' in approval ? undefined : text(approval);

const transferOf = (transaction: Transaction) =>
  transaction.type === 'TOKEN_TRANSFER' ? transaction.data : undefined;

/** What a file names. */
interface Named extends Names {
  readonly policies: readonly Pick<Schema['Policy'], 'id' | 'name'>[];
  nativeAsset(networkId: number): { readonly symbol: string; readonly decimals: number } | undefined;
}

/** Requests in a file, with the names of now. Amounts are exact: numbers with a point, without commas between digits. */
export function requestColumns({
  account,
  network,
  nativeAsset,
  owner,
  noted,
  ...organization
}: Named): readonly CsvColumn<Approval>[] {
  const policy = (id: string) => organization.policies.find((one) => one.id === id)?.name;
  const exact = (raw: string | undefined, networkId: number) =>
    raw === undefined ? undefined : decimalText(raw, nativeAsset(networkId)?.decimals ?? null);
  return [
    ['id', ({ id }) => id],
    ['kind', (one) => ('resourceType' in one ? one.kind : one.type)],
    ['title', (one) => headline(one, { account, network, owner, noted })],
    ['createdAt', ({ createdAt }) => createdAt],
    ['executedAt', ofTransaction(({ result }) => result?.executedAt)],
    ['signatureStatus', ({ signatureStatus }) => signatureStatus],
    ['executionStatus', ({ executionStatus }) => executionStatus ?? ''],
    ['failure', ({ failure }) => failure?.message],
    ['description', ofTransaction(({ description }) => description)],
    ['externalId', ofTransaction(({ externalId }) => externalId)],
    ['tags', ofTransaction(({ tags }) => tags.join('; '))],
    ['metadata', ofTransaction(({ metadata }) => metadataOf(metadata))],
    ['account', ofTransaction(({ accountId }) => account(accountId))],
    ['accountId', ofTransaction(({ accountId }) => accountId)],
    ['network', ofTransaction(({ networkId }) => network(networkId) ?? networkId)],
    [
      'recipient',
      ofTransaction((one) => {
        const address = recipientAddressOf(one);
        return owner(address) ?? noted(address, one.networkId);
      }),
    ],
    ['recipientAddress', ofTransaction(recipientAddressOf)],
    ['amount', ofTransaction(sentAmount)],
    ['symbol', ofTransaction(sentSymbol)],
    ['rawAmount', ofTransaction((one) => transferOf(one)?.rawAmount)],
    ['tokenAddress', ofTransaction((one) => transferOf(one)?.asset.tokenAddress)],
    ['value', ofTransaction(({ value, networkId }) => exact(value, networkId))],
    ['function', ofTransaction((one) => (one.type === 'TOKEN_TRANSFER' ? undefined : one.data.functionName))],
    ['fee', ofTransaction(({ fees, networkId }) => exact(fees?.paid, networkId))],
    [
      'feeSymbol',
      ofTransaction(({ fees, networkId }) => (fees ? nativeAsset(networkId)?.symbol : undefined)),
    ],
    ['initiator', ofTransaction(({ initiator }) => initiator.name)],
    ['policy', ofTransaction(({ policy: { id } }) => policy(id))],
    ['policyId', ofTransaction(({ policy: { id } }) => id)],
    ['approvals', ({ approvals }) => namesOf(approvals)],
    ['rejections', ({ rejections }) => namesOf(rejections)],
    [
      'transactionHash',
      ofTransaction(({ result, chain }) => result?.transactionHash ?? chain?.transactionHash),
    ],
    ['blockNumber', ofTransaction(({ result }) => result?.blockNumber)],
  ];
}
