import { isZeroAddress } from '../chain/address';
import type { ShownMovement } from '../contract/movementContract';
import type { ListedMovement, SeenToken } from '../db/movementLists';
import { foldName } from '../domain/names';
import { displayAmount } from '../domain/policyText';
import { assetKey, knownCounterparty, type MovementNames } from '../movements/movementNames';

function counterpartyView(
  address: string,
  networkId: number,
  names: MovementNames,
): ShownMovement['counterparty'] {
  if (isZeroAddress(address)) return { address, kind: 'none' };
  const found = knownCounterparty(address, networkId, names);
  return found ? { address, kind: found.type, id: found.id, name: found.name } : { address, kind: 'unknown' };
}

/** An asset in a response: as it is known, or else as it says itself. */
export function assetOf(
  { networkId, tokenAddress }: { readonly networkId: number; readonly tokenAddress: string },
  known: MovementNames['assets'],
  seen: readonly SeenToken[],
): ShownMovement['asset'] {
  const id = assetKey(networkId, tokenAddress);
  const said = seen.find((one) => one.networkId === networkId && one.address === tokenAddress);
  const { symbol, name, decimals, logoUrl } = {
    ...{
      symbol: said?.symbol ?? '',
      name: said?.name ?? null,
      decimals: said?.decimals ?? null,
      logoUrl: null,
    },
    ...known.get(id),
  };
  return { id, symbol, name, logoUrl, decimals, tokenAddress };
}

function assetView(row: ListedMovement, { assets }: MovementNames): ShownMovement['asset'] {
  const { symbol, name, token_address: tokenAddress } = row;
  const networkId = Number(row.network_id);
  // What cannot be divided has no decimals to show.
  const decimals = row.kind === 'erc20' ? row.decimals : null;
  return assetOf({ networkId, tokenAddress }, assets, [
    { networkId, address: tokenAddress, symbol, name, decimals },
  ]);
}

function marksOf(row: ListedMovement, { texts, lookAlikes }: MovementNames): ShownMovement['marks'] {
  const said = [row.symbol, row.name].filter((text) => text !== null && text !== '');
  const isLookAlike =
    !row.verified && said.some((text) => texts.has(`${row.network_id}:${foldName(text ?? '')}`));
  return [
    ...(row.amount === '0' ? (['zeroAmount'] as const) : []),
    ...(isLookAlike ? (['lookAlikeToken'] as const) : []),
    ...(lookAlikes.has(row.counterparty) ? (['lookAlikeCounterparty'] as const) : []),
  ];
}

/** A movement in a response. */
export function movementView(row: ListedMovement, names: MovementNames): ShownMovement {
  const networkId = Number(row.network_id);
  const asset = assetView(row, names);
  return {
    id: row.id,
    accountId: row.account_id,
    networkId,
    direction: row.direction,
    kind: row.kind,
    cause: row.cause,
    asset,
    tokenId: row.token_id,
    rawAmount: row.amount,
    displayAmount: displayAmount(row.amount, asset.decimals ?? 0),
    counterparty: counterpartyView(row.counterparty, networkId, names),
    transactionHash: row.transaction_hash,
    logIndex: Number(row.log_index),
    blockNumber: Number(row.block_number),
    blockAt: row.block_at.toISOString(),
    status: row.status,
    ...(row.transaction_id === null ? {} : { transactionId: row.transaction_id }),
    verified: row.verified,
    marks: marksOf(row, names),
  };
}
