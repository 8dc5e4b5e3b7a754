import { z } from 'zod';
import { EVENT_LIST_VERSION, eventTypes } from '../domain/eventTypes';
import { CURSORS } from '../domain/feedCursor';
import { timestamp } from '../domain/schemas';
import { actor, auditHash, auditPosition } from './auditLogContract';
import { endpoint } from './endpoint';
import { eventLimit } from './primitives';

/** How long a request for events may wait, in seconds. */
const MAX_WAIT_SECONDS = 25;
const MAX_CURSORS_LENGTH = 4_096;

const EXAMPLE_CURSOR = `42-${'5e'.repeat(32)}`;

const event = z
  .object({
    position: auditPosition,
    hash: auditHash.meta({ description: '`hash` of the entry of the audit log that it is made of.' }),
    previousHash: auditHash.meta({
      description: '`hash` of the event before it; 64 zeros in the first one.',
    }),
    id: z.string().meta({ examples: ['log_01jz8k3v5fe5ht0n2m6w9r4xyz'] }),
    organizationId: z.string().meta({
      description: 'The organization in which it happened.',
      examples: ['org_01jz8k3v5fe5ht0n2m6w9r4xyz'],
    }),
    type: z.string().meta({
      description: `\`<resource>.<verb>\`, one of \`EventType\` (version ${EVENT_LIST_VERSION} of the list); of a newer build also another.`,
      examples: ['proposal.signed'],
    }),
    occurredAt: timestamp,
    resource: z
      .object({
        type: z.string().meta({ examples: ['proposal'] }),
        id: z.string().meta({ examples: ['prop_01jz8k3v5fe5ht0n2m6w9r4xyz'] }),
        uri: z.string().optional().meta({ description: 'Its path, where it has one.' }),
      })
      .meta({ id: 'EventResource' }),
    actor,
    data: z
      .record(z.string(), z.unknown())
      .meta({ description: 'States and ids, depending on `type`. Read the resource for more.' }),
  })
  .meta({ id: 'Event', description: 'Something that happened. An event never changes.' });

const place = z
  .object({
    cursor: z.string().meta({
      description: '`after` of the next request: up to here the feed is known, whatever `types` says.',
      examples: [EXAMPLE_CURSOR],
    }),
    hasMore: z.boolean().meta({ description: 'True if there is more at once.' }),
  })
  .meta({ id: 'EventPlace' });

const eventStream = z.string().meta({
  id: 'EventStream',
  description:
    'Server-sent events without a name, whose data is an `Event` and whose id is its cursor; `end` when the credential has ended.',
  examples: [`id: ${EXAMPLE_CURSOR}\ndata: {"position":"42","type":"proposal.signed"}\n\n`],
});

/** The types, for the document. */
export const eventType = z.enum(eventTypes as [string, ...string[]]).meta({
  id: 'EventType',
  description: `The types of events, version ${EVENT_LIST_VERSION} of the list. Later versions only add to it.`,
});

/** The types in a query: each once, with commas between them. */
const typesQuery = z
  .string()
  .max(4_096)
  .transform((text, context) => {
    const types = text.split(',');
    for (const type of types) {
      if (eventType.safeParse(type).success) continue;
      context.issues.push({ code: 'custom', message: `has no such type: "${type}"`, input: text });
    }
    return new Set(types);
  });

export const listEventsEndpoint = endpoint({
  id: 'listEvents',
  tag: 'Events',
  method: 'get',
  path: '/events',
  access: 'read',
  summary: 'Read the feed of events',
  description:
    'Returns what happened in the organization after a place in its feed, in the order of the audit log. Nothing is ever ' +
    'skipped, repeated with another content, or shown before it is stored. `Accept: text/event-stream` streams it.',
  params: {},
  query: z.strictObject({
    after: z
      .string()
      .max(MAX_CURSORS_LENGTH)
      .refine(
        (text) => text === 'latest' || CURSORS.test(text),
        'must be <position>-<hash> of an event, up to 40 with commas, newest first; a position; or latest',
      )
      .optional()
      .meta({
        description:
          'A cursor, `<position>-<hash>` of the last event that you have: where the log does not have it any more, 410. With ' +
          'further ones after commas, `details.position` of the 410 is the newest that it has; 0 where it has none. A position alone is not compared. ' +
          '`latest`: from now on. Absent: from the first event on.',
        examples: [EXAMPLE_CURSOR],
      }),
    limit: eventLimit,
    types: typesQuery.optional().meta({
      description: 'Only events of these types, comma-separated.',
      override: { type: 'array', items: { $ref: '#/components/schemas/EventType' } },
      param: { style: 'form', explode: false, example: ['transaction.executed', 'transaction.rejected'] },
    }),
    wait: z
      .preprocess(
        (text) => (typeof text === 'string' && /^\d{1,2}$/.test(text) ? Number(text) : text),
        z.int(`must be a whole number from 0 to ${MAX_WAIT_SECONDS}`).min(0).max(MAX_WAIT_SECONDS),
      )
      .optional()
      .meta({ description: 'How many seconds the answer may wait until there is an event.', default: 0 }),
  }),
  response: z.object({ data: z.array(event), pagination: place }).meta({ id: 'EventPage' }),
  stream: eventStream,
  status: 200,
  errors: ['gone'],
});
