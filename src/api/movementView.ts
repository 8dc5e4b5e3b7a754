import { checksumAddress, isZeroAddress } from '../chain/address';
import type { ListedToken } from '../chain/tokenList';
import type { NetworkConfig } from '../config';
import type { ShownMovement } from '../contract/movementContract';
import type { Db } from '../db/database';
import type { ListedMovement, SeenToken } from '../db/movementLists';
import { listPolicyTokens } from '../db/policies';
import { findKnownAddresses, findPaidAddresses, type KnownAddress } from '../db/recipients';
import { foldName } from '../domain/names';
import { NATIVE_CURRENCY } from '../domain/policy';
import { displayAmount } from '../domain/policyText';

/** What movements are shown with. */
interface MovementNames {
  /** The assets that are known, by `<networkId>:<tokenAddress>`. */
  readonly assets: ReadonlyMap<string, ListedToken>;
  /** The folded symbols and names of these, by network. */
  readonly texts: ReadonlySet<string>;
  readonly known: readonly KnownAddress[];
  /** Addresses that look like another one which is known or was paid, and are neither. */
  readonly lookAlikes: ReadonlySet<string>;
}

const assetKey = (networkId: number | bigint, address: string) => `${networkId}:${address}`;
const endsOf = (address: string) => (address.slice(2, 5) + address.slice(-3)).toLowerCase();

/** The native currencies, the tokens of the list, and those that policies name. */
export async function readAssets(
  db: Db,
  organizationId: string,
  {
    networks,
    tokens,
  }: { readonly networks: readonly NetworkConfig[]; readonly tokens: readonly ListedToken[] },
): Promise<Pick<MovementNames, 'assets' | 'texts'>> {
  const natives = networks.map(({ id, nativeAsset }): ListedToken => {
    const { symbol, name, decimals } = nativeAsset;
    return {
      networkId: id,
      address: checksumAddress(NATIVE_CURRENCY),
      symbol,
      name,
      decimals,
      logoUrl: null,
    };
  });
  const named = await listPolicyTokens(db, organizationId);
  const all: readonly ListedToken[] = [...natives, ...tokens, ...named];
  const texts = all.flatMap(({ networkId, symbol, name }) =>
    [symbol, name ?? ''].filter((text) => text !== '').map((text) => `${networkId}:${foldName(text)}`),
  );
  return {
    assets: new Map(all.map((token) => [assetKey(token.networkId, token.address), token])),
    texts: new Set(texts),
  };
}

/** Whom the counterparties of movements are, and whom they only look like. */
export async function readCounterparties(
  db: Db,
  organizationId: string,
  movements: readonly ListedMovement[],
): Promise<Pick<MovementNames, 'known' | 'lookAlikes'>> {
  const addresses = [...new Set(movements.map(({ counterparty }) => counterparty))].filter(
    (address) => !isZeroAddress(address),
  );
  if (addresses.length === 0) return { known: [], lookAlikes: new Set() };
  const [known, paid] = await Promise.all([
    findKnownAddresses(db, { organizationId, addresses }),
    findPaidAddresses(db, { organizationId, addresses }, null),
  ]);
  const ours = new Set([...known, ...paid].map(({ address }) => address));
  const ends = new Set([...ours].map(endsOf));
  return { known, lookAlikes: new Set(addresses.filter((one) => !ours.has(one) && ends.has(endsOf(one)))) };
}

function counterpartyView(
  address: string,
  networkId: number,
  { known }: MovementNames,
): ShownMovement['counterparty'] {
  if (isZeroAddress(address)) return { address, kind: 'none' };
  const found = known.find(
    (one) => one.address === address && (one.networkId === null || one.networkId === networkId),
  );
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
