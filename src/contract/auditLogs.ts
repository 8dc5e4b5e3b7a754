import { z } from 'zod';
import { endpoint } from './endpoint';
import { pageOf, pageQuery, timestamp } from './primitives';

const auditEntry = z
  .object({
    id: z.string(),
    action: z.string().meta({ examples: ['proposal.signed'] }),
    actor: z.object({
      type: z.enum(['member', 'operator', 'system']),
      id: z.string(),
      name: z.string(),
      walletAddress: z.string().meta({ description: 'Empty for an actor that has no wallet.' }),
    }),
    resourceType: z.string(),
    resourceId: z.string(),
    details: z.record(z.string(), z.unknown()),
    createdAt: timestamp,
  })
  .meta({ id: 'AuditLogEntry' });

const word = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[A-Za-z0-9._-]+$/, 'must be letters, digits, dots, - or _');
const instant = z.iso.datetime({
  offset: true,
  message: 'must be a date and time such as 2025-06-01T12:00:00Z',
});

export const listAuditLogsEndpoint = endpoint({
  id: 'listAuditLogs',
  tag: 'AuditLogs',
  method: 'get',
  path: '/audit-logs',
  access: 'read',
  summary: 'Get the audit log',
  description: 'Entries of the organization, newest first, 20 per page unless `limit` says otherwise.',
  params: {},
  query: z.strictObject({
    ...pageQuery,
    resourceType: word.optional(),
    resourceId: word.optional(),
    action: word.optional(),
    from: instant.optional().meta({ description: 'Inclusive.' }),
    to: instant.optional().meta({ description: 'Exclusive.' }),
  }),
  response: pageOf(auditEntry),
  status: 200,
  errors: [],
});
