import { getGroupEndpoint, listGroupsEndpoint } from '../../contract/groupContract';
import type { Db } from '../../db/database';
import { findGroup, type Group, listGroups } from '../../db/groups';
import type { Cursors } from '../cursors';
import { listOrPage } from '../pages';
import { notFound } from '../refusals';
import { type Route, readRoute } from '../requestContext';

function groupView(group: Group) {
  return {
    id: group.id,
    name: group.name,
    members: [...group.members],
    createdAt: group.createdAt.toISOString(),
    updatedAt: group.updatedAt.toISOString(),
  };
}

/** GET /groups and /groups/{groupId}. */
export function groupRoutes({ db, cursors }: { db: Db; cursors: Cursors }): Route[] {
  return [
    readRoute(listGroupsEndpoint, ({ organizationId, query }) =>
      listOrPage(
        cursors,
        { organizationId, list: 'groups' },
        query,
        (page) => listGroups(db, { organizationId, ...page }),
        groupView,
      ),
    ),
    readRoute(getGroupEndpoint, async ({ organizationId, params }) => {
      const group = await findGroup(db, organizationId, params.groupId ?? '');
      if (!group) throw notFound('group');
      return { data: groupView(group) };
    }),
  ];
}
