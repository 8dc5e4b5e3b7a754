import type { Schema } from '@orgwallet/client';
import type { CsvColumn } from './csv.ts';

interface Named {
  account(id: string): string | undefined;
  network(id: number): string | undefined;
}

/** Movements in a file, with the names of now. Amounts are exact, in whole units and in the smallest. */
export function movementColumns({ account, network }: Named): readonly CsvColumn<Schema['Movement']>[] {
  return [
    ['id', ({ id }) => id],
    ['blockAt', ({ blockAt }) => blockAt],
    ['account', ({ accountId }) => account(accountId)],
    ['accountId', ({ accountId }) => accountId],
    ['network', ({ networkId }) => network(networkId) ?? networkId],
    ['networkId', ({ networkId }) => networkId],
    ['direction', ({ direction }) => direction],
    ['status', ({ status }) => status],
    ['amount', ({ displayAmount }) => displayAmount],
    ['symbol', ({ asset }) => asset.symbol],
    ['tokenId', ({ tokenId }) => tokenId ?? undefined],
    ['rawAmount', ({ rawAmount }) => rawAmount],
    ['tokenAddress', ({ asset }) => asset.tokenAddress],
    ['kind', ({ kind }) => kind],
    ['cause', ({ cause }) => cause],
    ['counterparty', ({ counterparty }) => counterparty.address],
    ['counterpartyName', ({ counterparty }) => counterparty.name],
    ['counterpartyKind', ({ counterparty }) => counterparty.kind],
    ['transactionId', ({ transactionId }) => transactionId],
    ['transactionHash', ({ transactionHash }) => transactionHash],
    ['logIndex', ({ logIndex }) => logIndex],
    ['blockNumber', ({ blockNumber }) => blockNumber],
    ['verified', ({ verified }) => String(verified)],
    ['marks', ({ marks }) => marks.join(' ')],
  ];
}

/** The totals of a statement in a file, in the smallest unit. */
export function statementColumns({
  network,
}: Pick<Named, 'network'>): readonly CsvColumn<Schema['AssetStatement']>[] {
  return [
    ['network', ({ networkId }) => network(networkId) ?? networkId],
    ['networkId', ({ networkId }) => networkId],
    ['symbol', ({ asset }) => asset.symbol],
    ['tokenAddress', ({ asset }) => asset.tokenAddress],
    ['decimals', ({ asset }) => asset.decimals ?? undefined],
    ['fromBlock', ({ fromBlock }) => fromBlock],
    ['toBlock', ({ toBlock }) => toBlock],
    ['movements', ({ movements }) => movements],
    ['opening', ({ opening }) => opening ?? undefined],
    ['in', (one) => one.in],
    ['out', ({ out }) => out],
    ['fees', ({ fees }) => fees],
    ['difference', ({ difference }) => difference ?? undefined],
    ['closing', ({ closing }) => closing ?? undefined],
    [
      'unexplained',
      ({ unexplained }) =>
        unexplained
          .map(({ amount, fromBlock, toBlock }) => `${amount} in ${fromBlock} to ${toBlock}`)
          .join(', '),
    ],
    ['unproved', ({ unproved }) => unproved],
  ];
}
