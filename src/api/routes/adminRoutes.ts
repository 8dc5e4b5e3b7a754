import { deriveAdminsSafe } from '../../chain/adminsSafe';
import { getAdminsEndpoint, listAdminsEndpoint } from '../../contract/adminContract';
import type { Db } from '../../db/database';
import { type Admins, type AdminsSafeOnNetwork, readAdmins } from '../../db/members';
import { notFound } from '../refusals';
import { type Route, readRoute } from '../requestContext';

function safeView({ owners, since, observedAt, ...safe }: AdminsSafeOnNetwork) {
  return {
    ...safe,
    owners: owners && [...owners],
    since: since.toISOString(),
    observedAt: observedAt.toISOString(),
  };
}

function adminsView({ id, members, threshold, onChain, signingKey, safes }: Admins) {
  const { safe } = deriveAdminsSafe({ signingKey, admins: { id } });
  // What is not kept is not looked at any more.
  const networks = onChain ? safes.map(safeView) : [];
  return {
    ...{ id, members: [...members], threshold },
    onChain: { enabled: onChain, safe: safe.address, networks },
  };
}

/** GET /admins and /admins/{adminsId}. */
export function adminRoutes({ db }: { db: Db }): Route[] {
  return [
    readRoute(listAdminsEndpoint, async ({ organizationId }) => ({
      data: adminsView(await readAdmins(db, organizationId)),
    })),
    readRoute(getAdminsEndpoint, async ({ organizationId, params }) => {
      const admins = await readAdmins(db, organizationId);
      if (admins.id !== params.adminsId) throw notFound('set of admins');
      return { data: adminsView(admins) };
    }),
  ];
}
