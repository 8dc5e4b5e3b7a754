import { getRecipientEndpoint, type ShownRecipient } from '../../contract/recipientContract';
import type { Db } from '../../db/database';
import {
  findKnownAddresses,
  findLastPayment,
  findPaidAddresses,
  type KnownAddress,
} from '../../db/recipients';
import { type Route, readRoute } from '../requestContext';

const MAX_KNOWN = 100;
const MAX_LOOK_ALIKES = 20;

function knownView(known: readonly KnownAddress[]): ShownRecipient['known'] {
  return known.slice(0, MAX_KNOWN).map(({ type, id, name, networkId }) => ({
    type,
    id,
    name,
    ...(networkId === null ? {} : { networkId }),
  }));
}

async function recipientView(
  db: Db,
  sought: { readonly organizationId: string; readonly address: string },
  before: Date | null,
): Promise<ShownRecipient> {
  const { address } = sought;
  const [known, paid] = await Promise.all([
    findKnownAddresses(db, { ...sought, addresses: [address] }),
    findPaidAddresses(db, { ...sought, addresses: [address] }, before),
  ]);
  const of = (one: string) => ({
    address: one,
    known: knownView(known.filter((found) => found.address === one)),
    count: paid.find((found) => found.address === one)?.count ?? 0,
  });
  const history = paid.find((one) => one.address === address);
  const last = history && (await findLastPayment(db, sought, before));
  const others = new Set([...known, ...paid].map((one) => one.address));
  others.delete(address);
  return {
    ...of(address),
    firstAt: history?.firstAt.toISOString() ?? null,
    lastAt: history?.lastAt.toISOString() ?? null,
    lastTransactionId: last ?? null,
    lookAlikes: [...others].slice(0, MAX_LOOK_ALIKES).map(of),
  };
}

/** GET /recipients/{recipientAddress}. */
export function recipientRoutes({ db }: { db: Db }): Route[] {
  return [
    readRoute(getRecipientEndpoint, async ({ organizationId, params, query }) => {
      const sought = { organizationId, address: params.recipientAddress ?? '' };
      const before = query.before === undefined ? null : new Date(query.before);
      return { data: await recipientView(db, sought, before) };
    }),
  ];
}
