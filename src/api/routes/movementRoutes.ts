import type { Request, Response } from 'express';
import { checksumAddress } from '../../chain/address';
import type { ListedToken } from '../../chain/tokenList';
import type { NetworkConfig } from '../../config';
import {
  listAccountMovementsEndpoint,
  listMovementsEndpoint,
  type ShownMovement,
} from '../../contract/movementContract';
import { findAccount } from '../../db/accounts';
import type { Db } from '../../db/database';
import { type ListedMovement, listMovements, type MovementFilter } from '../../db/movementLists';
import { readAssets, readCounterparties } from '../../movements/movementNames';
import type { Cursors, Filters } from '../cursors';
import { beginStream } from '../exchange';
import { MOVEMENT_COLUMNS, movementRow } from '../movementCsv';
import { movementView } from '../movementView';
import { DEFAULT_LIMIT, page, pageRequest, parseInstant } from '../pages';
import { badRequest, notFound } from '../refusals';
import { type Asked, answerRoute, type Route } from '../requestContext';
import { writeAtPace } from '../writeAtPace';

/** The dependencies of these routes. */
interface Deps {
  readonly db: Db;
  readonly cursors: Cursors;
  readonly networks: readonly NetworkConfig[];
  readonly tokens: readonly ListedToken[];
}

/** Movements that are read at once for a file. */
const FILE_PAGE = 500;

/** What the query of either endpoint says. */
type Query = {
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
  readonly networkId?: number | undefined;
} & {
  readonly [Field in
    | 'accountId'
    | 'assetId'
    | 'direction'
    | 'counterparty'
    | 'status'
    | 'transactionId'
    | 'minimum'
    | 'verified'
    | 'from'
    | 'to'
    | 'order']?: string | undefined;
};

/** The filters of a query as its cursor has them. */
function filtersOf(query: Query): { readonly [name: string]: string | undefined } {
  const { cursor: _, limit: __, networkId, assetId, counterparty, from, to, ...rest } = query;
  return {
    ...rest,
    networkId: networkId === undefined ? undefined : String(networkId),
    assetId: assetId?.toLowerCase(),
    counterparty: counterparty === undefined ? undefined : checksumAddress(counterparty),
    from: parseInstant(from),
    to: parseInstant(to),
  };
}

/** An asset in a filter: its network and its token. */
function assetIn(assetId: string): { readonly networkId: number; readonly tokenAddress: string } {
  const [networkId, address = ''] = assetId.split(':');
  return { networkId: Number(networkId), tokenAddress: checksumAddress(address) };
}

/** The filter of the database. Undefined where no movement can be both on a network and of an asset of another one. */
function databaseFilter(
  organizationId: string,
  { networkId, assetId, verified = 'true', from, to, order = 'newest', ...exact }: Filters,
): Omit<MovementFilter, 'limit'> | undefined {
  const asset = assetId === undefined ? {} : assetIn(assetId);
  if ('networkId' in asset && networkId !== undefined && asset.networkId !== Number(networkId))
    return undefined;
  return {
    // Its own fields, as the contract has checked them.
    ...(exact as Pick<MovementFilter, 'direction' | 'status'>),
    organizationId,
    order: order === 'oldest' ? 'oldest' : 'newest',
    ...(networkId === undefined ? {} : { networkId: Number(networkId) }),
    ...asset,
    ...(verified === 'any' ? {} : { verified: verified === 'true' }),
    ...(from === undefined ? {} : { from: new Date(from) }),
    ...(to === undefined ? {} : { to: new Date(to) }),
  };
}

/** GET /movements and /accounts/{accountId}/movements. */
export function movementRoutes(deps: Deps): Route[] {
  const { db, cursors } = deps;

  async function viewsOf(organizationId: string, rows: readonly ListedMovement[]) {
    const [assets, counterparties] = await Promise.all([
      readAssets(db, organizationId, deps),
      readCounterparties(db, organizationId, rows),
    ]);
    return (row: ListedMovement): ShownMovement => movementView(row, { ...assets, ...counterparties });
  }

  /** Sends all movements of a filter as a file, at the pace of its reader. */
  async function sendFile(
    { organizationId, filters }: { readonly organizationId: string; readonly filters: Filters },
    { request, response }: Asked,
  ): Promise<void> {
    const filter = databaseFilter(organizationId, filters);
    beginFile(request, response);
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    await writeAtPace(response, MOVEMENT_COLUMNS);
    for (
      let after: bigint | undefined, isLast = filter === undefined;
      !isLast && filter && !response.closed;
    ) {
      const at = after === undefined ? {} : { after };
      const rows = await listMovements(db, { ...filter, ...at, limit: FILE_PAGE });
      const show = await viewsOf(organizationId, rows);
      await writeAtPace(response, rows.map((row) => movementRow(show(row))).join(''));
      after = rows.at(-1)?.position;
      isLast = rows.length < FILE_PAGE;
    }
    response.end();
  }

  async function answer(
    organizationId: string,
    { list, query }: { readonly list: string; readonly query: Query },
    asked: Asked,
  ) {
    const scope = { organizationId, list };
    const request = pageRequest(cursors, scope, query, filtersOf(query), DEFAULT_LIMIT);
    if ((asked.request.headers.accept ?? '').includes('text/csv')) {
      await sendFile({ organizationId, filters: request.filters }, asked).catch(() =>
        asked.response.destroy(),
      );
      return undefined;
    }
    const { before: after, limit, filters } = request;
    const filter = databaseFilter(organizationId, filters);
    const at = after === undefined ? {} : { after };
    const rows = filter ? await listMovements(db, { ...filter, ...at, limit: limit + 1 }) : [];
    return page(cursors, scope, request, rows, await viewsOf(organizationId, rows));
  }

  return [
    answerRoute(listMovementsEndpoint, async ({ organizationId, query }, asked) => {
      const { accountId } = query;
      if (accountId !== undefined && !(await findAccount(db, organizationId, accountId))) {
        throw badRequest([{ field: 'accountId', message: 'account not found in this organization' }]);
      }
      return answer(organizationId, { list: 'movements', query }, asked);
    }),
    answerRoute(listAccountMovementsEndpoint, async ({ organizationId, params, query }, asked) => {
      const { accountId = '' } = params;
      if (!(await findAccount(db, organizationId, accountId))) throw notFound('account');
      const own = { list: `movements of ${accountId}`, query: { ...query, accountId } };
      return answer(organizationId, own, asked);
    }),
  ];
}

function beginFile(request: Request, response: Response): void {
  if (request.method !== 'HEAD') beginStream(response);
  response.setHeader('Content-Type', 'text/csv; charset=utf-8; header=present');
  response.setHeader('Content-Disposition', 'attachment; filename="movements.csv"');
}
