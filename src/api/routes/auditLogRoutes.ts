import { listAuditLogsEndpoint } from '../../contract/auditLogContract';
import { type AuditEntry, type AuditFilter, isResourceKnown, pageOfAudit } from '../../db/audit';
import type { Db } from '../../db/database';
import type { Cursors, Filters } from '../cursors';
import { DEFAULT_LIMIT, page, pageRequest, parseInstant } from '../pages';
import { badRequest } from '../refusals';
import { type Route, readRoute } from '../requestContext';

function auditView(entry: AuditEntry) {
  const { id, action, actor, resourceType, resourceId, details, createdAt, position, previousHash, hash } =
    entry;
  return {
    id,
    action,
    actor: { ...actor },
    resourceType,
    resourceId,
    details: { ...details },
    createdAt: createdAt.toISOString(),
    position: String(position),
    previousHash,
    hash,
  };
}

/** Bytes of details on one page. */
const MAX_PAGE_DETAILS = 1_048_576;

function auditFilter({ resourceType, resourceId, action, from, to }: Filters): Partial<AuditFilter> {
  return {
    ...(resourceType === undefined ? {} : { resourceType }),
    ...(resourceId === undefined ? {} : { resourceId }),
    ...(action === undefined ? {} : { action }),
    ...(from === undefined ? {} : { from: new Date(from) }),
    ...(to === undefined ? {} : { to: new Date(to) }),
  };
}

/** GET /audit-logs. */
export function auditLogRoutes({ db, cursors }: { db: Db; cursors: Cursors }): Route[] {
  return [
    readRoute(listAuditLogsEndpoint, async ({ organizationId, query }) => {
      const scope = { organizationId, list: 'audit-logs' };
      const { cursor, limit, from, to, ...rest } = query;
      const given = { ...rest, from: parseInstant(from), to: parseInstant(to) };
      const request = pageRequest(cursors, scope, { cursor, limit }, given, DEFAULT_LIMIT);
      const { entries, hasMore } = await pageOfAudit(
        db,
        {
          ...auditFilter(request.filters),
          organizationId,
          limit: request.limit,
          ...(request.before === undefined ? {} : { before: request.before }),
        },
        MAX_PAGE_DETAILS,
      );
      const { resourceId } = request.filters;
      if (entries.length === 0 && resourceId !== undefined) {
        if (!(await isResourceKnown(db, { organizationId, resourceId }))) {
          throw badRequest([
            { field: 'resourceId', message: `${resourceId} not found in this organization` },
          ]);
        }
      }
      return page(cursors, scope, request, entries, auditView, hasMore);
    }),
  ];
}
