import type { ListedToken } from '../../chain/tokenList';
import type { NetworkConfig } from '../../config';
import { getStatementEndpoint, type ShownAssetStatement } from '../../contract/statementContract';
import { findAccount } from '../../db/accounts';
import type { Db } from '../../db/database';
import { findSeenTokens } from '../../db/movementLists';
import { readAssets } from '../../movements/movementNames';
import type { AssetStatement } from '../../movements/statement';
import type { ApiDependencies } from '../dependencies';
import { assetOf } from '../movementView';
import { parseInstant } from '../pages';
import { acceptOrThrow, badRequest, notFound } from '../refusals';
import { type Route, readRoute } from '../requestContext';

/** The dependencies of this route. */
interface Deps {
  readonly db: Db;
  readonly networks: readonly NetworkConfig[];
  readonly tokens: readonly ListedToken[];
  readonly readStatement: ApiDependencies['readStatement'];
}

function view(one: AssetStatement, asset: ShownAssetStatement['asset']): ShownAssetStatement {
  const { networkId, fromBlock, toBlock, movements, sums, opening, closing, difference, unexplained } = one;
  const text = (value: bigint | null) => (value === null ? null : String(value));
  return {
    ...{ networkId, asset, movements, fromBlock: Number(fromBlock), toBlock: Math.max(Number(toBlock), 0) },
    opening: text(opening),
    ...{ in: String(sums.in), out: String(sums.out), fees: String(sums.fees) },
    closing: text(closing),
    difference: text(difference),
    unexplained: unexplained.map((part) => ({
      fromBlock: Number(part.fromBlock),
      toBlock: Number(part.toBlock),
      amount: String(part.amount),
    })),
    ...(one.unproved === undefined ? {} : { unproved: one.unproved }),
  };
}

/** GET /accounts/{accountId}/statement. */
export function statementRoutes(deps: Deps): Route[] {
  const { db, readStatement } = deps;
  return [
    readRoute(getStatementEndpoint, async ({ organizationId, params, query }) => {
      const account = await findAccount(db, organizationId, params.accountId ?? '');
      if (!account) throw notFound('account');
      const [from, to] = [query.from, query.to].map(parseInstant);
      if (from !== undefined && to !== undefined && from >= to) {
        throw badRequest([{ field: 'to', message: 'must be after `from`' }]);
      }
      const period = {
        ...(from === undefined ? {} : { from: new Date(from) }),
        ...(to === undefined ? {} : { to: new Date(to) }),
      };
      const assets = acceptOrThrow(await readStatement(account, period));
      const [known, seen] = await Promise.all([
        readAssets(db, organizationId, deps),
        findSeenTokens(db, assets),
      ]);
      const shown = assets.map((one) => view(one, assetOf(one, known.assets, seen)));
      return { data: { accountId: account.id, from: from ?? null, to: to ?? null, assets: shown } };
    }),
  ];
}
