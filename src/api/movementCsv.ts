import type { ShownMovement } from '../contract/movementContract';
import { csvRow } from '../domain/csvRow';

const COLUMNS: { readonly [name: string]: (movement: ShownMovement) => string } = {
  id: ({ id }) => id,
  blockAt: ({ blockAt }) => blockAt,
  accountId: ({ accountId }) => accountId,
  networkId: ({ networkId }) => String(networkId),
  direction: ({ direction }) => direction,
  status: ({ status }) => status,
  amount: ({ displayAmount }) => displayAmount,
  symbol: ({ asset }) => asset.symbol,
  tokenAddress: ({ asset }) => asset.tokenAddress,
  tokenId: ({ tokenId }) => tokenId ?? '',
  rawAmount: ({ rawAmount }) => rawAmount,
  kind: ({ kind }) => kind,
  cause: ({ cause }) => cause,
  counterparty: ({ counterparty }) => counterparty.address,
  counterpartyName: ({ counterparty }) => counterparty.name ?? '',
  transactionId: ({ transactionId }) => transactionId ?? '',
  transactionHash: ({ transactionHash }) => transactionHash,
  logIndex: ({ logIndex }) => String(logIndex),
  blockNumber: ({ blockNumber }) => String(blockNumber),
  verified: ({ verified }) => String(verified),
  marks: ({ marks }) => marks.join(' '),
};

/** The first row of a file of movements. */
export const MOVEMENT_COLUMNS = csvRow(Object.keys(COLUMNS));

/** A movement as a row of a file. */
export function movementRow(movement: ShownMovement): string {
  return csvRow(Object.values(COLUMNS).map((column) => column(movement)));
}
