import type { NetworkConfig } from '../../config';
import {
  getAccountEndpoint,
  getBalancesEndpoint,
  listAccountsEndpoint,
} from '../../contract/accountContract';
import { getTotalsEndpoint } from '../../contract/totalsContract';
import { type Account, findAccount, listAccounts } from '../../db/accounts';
import type { Db } from '../../db/database';
import { pricedTotals } from '../../prices/pricedTotals';
import type { Cursors } from '../cursors';
import type { ApiDependencies } from '../dependencies';
import { listOrPage } from '../pages';
import { notFound } from '../refusals';
import { type Route, readRoute } from '../requestContext';

function accountView(account: Account, networks: readonly NetworkConfig[]) {
  return {
    id: account.id,
    name: account.name,
    address: account.address,
    networks: account.networkIds.map((id, i) => ({
      id,
      name: networks.find((network) => network.id === id)?.name ?? `network ${id}`,
      rescue: account.rescues[i] ?? 'none',
    })),
    createdAt: account.createdAt.toISOString(),
    updatedAt: account.updatedAt.toISOString(),
  };
}

/** GET /accounts, /accounts/{accountId} and its balances, and those of all. */
export function accountRoutes(options: {
  db: Db;
  cursors: Cursors;
  networks: readonly NetworkConfig[];
  readBalances: ApiDependencies['readBalances'];
  readTotals: ApiDependencies['readTotals'];
  readPrices: ApiDependencies['readPrices'];
}): Route[] {
  const { db, cursors, networks, readBalances, readTotals, readPrices } = options;

  async function readAccount(organizationId: string, id = ''): Promise<Account> {
    const account = await findAccount(db, organizationId, id);
    if (!account) throw notFound('account');
    return account;
  }

  return [
    readRoute(listAccountsEndpoint, ({ organizationId, query }) =>
      listOrPage(
        cursors,
        { organizationId, list: 'accounts' },
        query,
        (page) => listAccounts(db, { organizationId, ...page }),
        (account) => accountView(account, networks),
      ),
    ),
    readRoute(getAccountEndpoint, async ({ organizationId, params }) => ({
      data: accountView(await readAccount(organizationId, params.accountId), networks),
    })),
    readRoute(getBalancesEndpoint, async ({ organizationId, params }) => ({
      data: await readBalances(await readAccount(organizationId, params.accountId)),
    })),
    readRoute(getTotalsEndpoint, async ({ organizationId }) => {
      const [totals, prices] = await Promise.all([readTotals(organizationId), readPrices?.()]);
      return { data: pricedTotals(totals, prices, Date.now()) };
    }),
  ];
}
