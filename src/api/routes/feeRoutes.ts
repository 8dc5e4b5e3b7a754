import type { NetworkConfig } from '../../config';
import { listFeesEndpoint } from '../../contract/feeContract';
import type { Db } from '../../db/database';
import { type FeeKey, type FeeRow, sumFees } from '../../db/relayerFees';
import { NATIVE_CURRENCY } from '../../domain/policy';
import { displayAmount } from '../../domain/policyText';
import type { Cursors } from '../cursors';
import { requireNamed } from '../namedRecords';
import { DEFAULT_LIMIT, page, pageRequest, parseInstant, requestFilters } from '../pages';
import { type Route, readRoute } from '../requestContext';

function feeView(row: FeeRow, networks: readonly NetworkConfig[]) {
  const { networkId, paid } = row;
  const native = networks.find(({ id }) => id === networkId)?.nativeAsset;
  const asset = native && {
    id: `${networkId}:${NATIVE_CURRENCY}`,
    symbol: native.symbol,
    name: native.name,
    logoUrl: null,
    decimals: native.decimals,
    tokenAddress: NATIVE_CURRENCY,
  };
  return {
    ...row,
    asset: asset ?? null,
    displayAmount: native ? displayAmount(paid, native.decimals) : null,
  };
}

/** A sum in a cursor, which goes on behind it: whatever is paid meanwhile moves no sum. */
function keyText({ month, networkId, accountId, policyId, kind }: FeeKey): string {
  return JSON.stringify({ month, networkId, accountId, policyId, kind });
}

/** GET /fees. */
export function feeRoutes({
  db,
  cursors,
  networks,
}: {
  readonly db: Db;
  readonly cursors: Cursors;
  readonly networks: readonly NetworkConfig[];
}): Route[] {
  return [
    readRoute(listFeesEndpoint, async ({ organizationId, query }) => {
      const scope = { organizationId, list: 'fees' };
      const { cursor, limit, from, to, networkId, ...ids } = query;
      const period = { from: parseInstant(from), to: parseInstant(to) };
      const given = { ...ids, ...period, networkId: networkId?.toString() };
      const request = pageRequest(cursors, scope, { cursor, limit }, given, DEFAULT_LIMIT);
      const { accountId, policyId, networkId: network, after } = request.filters;
      const rows = await sumFees(db, {
        organizationId,
        ...requestFilters(request.filters),
        ...(accountId === undefined ? {} : { accountId }),
        ...(policyId === undefined ? {} : { policyId }),
        ...(network === undefined ? {} : { networkId: Number(network) }),
        ...(after === undefined ? {} : { after: JSON.parse(after) as FeeKey }),
        limit: request.limit + 1,
      });
      if (rows.length === 0) await requireNamed(db, organizationId, request.filters);
      const last = rows.at(request.limit - 1);
      const filters = last ? { ...request.filters, after: keyText(last) } : request.filters;
      // Sums have a key, and no position.
      const placed = rows.map((row) => ({ row, position: 0n }));
      return page(cursors, scope, { ...request, filters }, placed, ({ row }) => feeView(row, networks));
    }),
  ];
}
