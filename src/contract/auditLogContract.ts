import { z } from 'zod';
import { timestamp } from '../domain/schemas';
import { endpoint } from './endpoint';
import { instant, LARGE_PAGE, pageOf, pageQuery } from './primitives';

/** Who did something. */
export const actor = z
  .object({
    type: z.enum(['member', 'operator', 'system']).meta({ id: 'ActorType' }),
    id: z.string(),
    name: z.string(),
    walletAddress: z.string().meta({ description: 'Empty for an actor without a wallet.' }),
  })
  .meta({ id: 'Actor' });

/** The hash of an entry of the audit log. */
export const auditHash = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ id: 'AuditHash', description: 'SHA-256, 64 hex digits.', examples: ['5e'.repeat(32)] });

/** The position of an entry of the audit log. */
export const auditPosition = z
  .string()
  .regex(/^[1-9][0-9]*$/)
  .meta({ description: 'Decimal digits: the first entry is 1, the next one 2.', examples: ['42'] });

const auditEntry = z
  .object({
    id: z.string().meta({ examples: ['log_01jz8k3v5fe5ht0n2m6w9r4xyz'] }),
    action: z.string().meta({ description: '`<resource>.<verb>`, such as `proposal.signed`.' }),
    actor,
    resourceType: z.string().meta({ examples: ['proposal'] }),
    resourceId: z.string().meta({ examples: ['prop_01jz8k3v5fe5ht0n2m6w9r4xyz'] }),
    details: z.record(z.string(), z.unknown()).meta({ description: 'What changed, depending on `action`.' }),
    createdAt: timestamp,
    position: auditPosition,
    previousHash: auditHash.meta({
      description: '`hash` of the entry before it; 64 zeros in the first one.',
    }),
    hash: auditHash.meta({ description: 'Covers all other fields and the id of the organization.' }),
  })
  .meta({ id: 'AuditLogEntry' });

const word = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[A-Za-z0-9._-]+$/, 'must be letters, digits, dots, - or _');
export const listAuditLogsEndpoint = endpoint({
  id: 'listAuditLogs',
  tag: 'AuditLogs',
  method: 'get',
  path: '/audit-logs',
  access: 'read',
  summary: 'List audit log entries',
  description: `Returns a page of the audit log of the organization, newest first. ${LARGE_PAGE}`,
  params: {},
  query: z.strictObject({
    ...pageQuery,
    resourceType: word.optional().meta({ description: 'Only entries about this type of resource.' }),
    resourceId: word.optional().meta({ description: 'Only entries about this resource.' }),
    action: word.optional().meta({ description: 'Only entries with this action.' }),
    from: instant.optional().meta({ description: 'Only entries at or after this time.' }),
    to: instant.optional().meta({ description: 'Only entries before this time.' }),
  }),
  response: pageOf(auditEntry),
  status: 200,
  errors: [],
});
