import { getMemberEndpoint, listMembersEndpoint } from '../../contract/memberContract';
import type { Db } from '../../db/database';
import { findMember, listMembers, type Member } from '../../db/members';
import type { Cursors } from '../cursors';
import { listOrPage } from '../pages';
import { notFound } from '../refusals';
import { type Route, readRoute } from '../requestContext';

function memberView(member: Member) {
  return {
    id: member.id,
    name: member.name,
    type: member.type,
    walletAddress: member.walletAddress,
    walletKind: member.walletKind,
    registeredAt: member.registeredAt?.toISOString() ?? null,
    createdAt: member.createdAt.toISOString(),
    updatedAt: member.updatedAt.toISOString(),
  };
}

/** GET /members and /members/{memberId}. */
export function memberRoutes({ db, cursors }: { db: Db; cursors: Cursors }): Route[] {
  return [
    readRoute(listMembersEndpoint, ({ organizationId, query }) =>
      listOrPage(
        cursors,
        { organizationId, list: 'members' },
        query,
        (page) => listMembers(db, { organizationId, ...page }),
        memberView,
      ),
    ),
    readRoute(getMemberEndpoint, async ({ organizationId, params }) => {
      const member = await findMember(db, organizationId, params.memberId ?? '');
      if (!member) throw notFound('member');
      return { data: memberView(member) };
    }),
  ];
}
