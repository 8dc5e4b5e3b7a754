import type { ListedToken } from '../chain/tokenList';
import type { Db } from '../db/database';
import { listIncoming } from '../db/movementLists';
import type { FeedEntry } from '../domain/feedEvent';
import {
  type AssetNetwork,
  assetKey,
  knownCounterparty,
  readAssets,
  readCounterparties,
} from '../movements/movementNames';
import type { Incoming } from './moneyInNotice';

/** Most transfers of an entry that are read. */
const MOST_READ = 500;
/** How far the clock of a network may be behind that of the database, in ms. */
const CLOCK_TOLERANCE_MS = 60_000;

/** What assets are named by. */
export interface NamedAssets {
  readonly networks: readonly (AssetNetwork & { readonly name: string })[];
  readonly tokens: readonly ListedToken[];
}

/**
 * What an entry of the audit log says has come in, or is no longer there: nothing from an address that imitates another one, and
 * nothing from before `since`. null: nothing has.
 */
export async function readIncoming(
  db: Db,
  { organizationId, position, action, details }: FeedEntry,
  since: Date,
  named: NamedAssets,
): Promise<Incoming | null> {
  const status = action === 'movement.reversed' ? 'reversed' : 'confirmed';
  const from = new Date(since.getTime() - CLOCK_TOLERANCE_MS);
  const read = await listIncoming(db, { organizationId, position, status, from, limit: MOST_READ + 1 });
  if (read.length === 0) return null;
  const [{ assets }, names] = await Promise.all([
    readAssets(db, organizationId, named),
    readCounterparties(db, organizationId, read),
  ]);
  const networkId = Number(details.networkId);
  return {
    status,
    movements: read.slice(0, MOST_READ).filter(({ counterparty }) => !names.lookAlikes.has(counterparty)),
    hasMore: read.length > MOST_READ,
    network: named.networks.find(({ id }) => id === networkId)?.name ?? String(networkId),
    assetOf: (movement) => assets.get(assetKey(movement.network_id, movement.token_address)),
    senderOf: ({ counterparty }) => knownCounterparty(counterparty, networkId, names),
  };
}
