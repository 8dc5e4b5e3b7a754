import { getAdminsEndpoint, listAdminsEndpoint } from '../../contract/adminContract';
import type { Db } from '../../db/database';
import { type Admins, readAdmins } from '../../db/members';
import { notFound } from '../refusals';
import { type Route, readRoute } from '../requestContext';

function adminsView({ id, members, threshold }: Admins) {
  return { id, members: [...members], threshold };
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
