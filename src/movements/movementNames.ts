import { checksumAddress, isZeroAddress } from '../chain/address';
import type { ListedToken } from '../chain/tokenList';
import type { Db } from '../db/database';
import { listPolicyTokens } from '../db/policies';
import { findKnownAddresses, findPaidAddresses, type KnownAddress } from '../db/recipients';
import { foldName } from '../domain/names';
import { NATIVE_CURRENCY } from '../domain/policy';

/** What movements are shown with. */
export interface MovementNames {
  /** The assets that are known, by `<networkId>:<tokenAddress>`. */
  readonly assets: ReadonlyMap<string, ListedToken>;
  /** The folded symbols and names of these, by network. */
  readonly texts: ReadonlySet<string>;
  readonly known: readonly KnownAddress[];
  /** Addresses that look like another one which is known or was paid, and are neither. */
  readonly lookAlikes: ReadonlySet<string>;
}

/** An asset in `MovementNames`. */
export const assetKey = (networkId: number | bigint, address: string) => `${networkId}:${address}`;
const endsOf = (address: string) => (address.slice(2, 5) + address.slice(-3)).toLowerCase();

/** A network with its native currency. */
export interface AssetNetwork {
  readonly id: number;
  readonly nativeAsset: { readonly symbol: string; readonly name: string; readonly decimals: number };
}

/** The native currencies, the tokens of the list, and those that policies name. */
export async function readAssets(
  db: Db,
  organizationId: string,
  {
    networks,
    tokens,
  }: { readonly networks: readonly AssetNetwork[]; readonly tokens: readonly ListedToken[] },
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
  movements: readonly { readonly counterparty: string }[],
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

/** Where the organization has the counterparty of a movement on a network; undefined: nowhere. */
export function knownCounterparty(
  address: string,
  networkId: number,
  { known }: Pick<MovementNames, 'known'>,
): KnownAddress | undefined {
  return known.find(
    (one) => one.address === address && (one.networkId === null || one.networkId === networkId),
  );
}
