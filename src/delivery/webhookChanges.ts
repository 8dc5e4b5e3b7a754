import { type AdminRequest, asAdmin } from '../credentials/adminRequest';
import { appendAudit } from '../db/audit';
import type { Db, Tx } from '../db/database';
import {
  type Destination,
  type DestinationChange,
  deleteDestination,
  findDestination,
  insertDestination,
  listDestinations,
  type ResendSelection,
  updateDestination,
} from '../db/destinations';
import { lockFeedEnd } from '../db/feed';
import type { StoredAnswer } from '../db/idempotency';
import { requireRow } from '../db/rows';
import type { Actor } from '../domain/actor';
import type { JsonValue } from '../domain/canonicalJson';
import { credentialDetail } from '../domain/credential';
import type { AuditAction } from '../domain/eventTypes';
import { accept, type Result, refuse } from '../domain/refusal';
import { resendTo } from './resending';

/** The most webhooks of an organization. */
const MAX_WEBHOOKS = 20;

/** What a webhook is, as an admin gives it. */
interface WebhookContent {
  readonly url: string;
  readonly types: readonly string[] | null;
  readonly description: string;
  readonly enabled: boolean;
}

/** A change of one webhook. */
interface WebhookRequest extends AdminRequest {
  /** whk_… */
  readonly id: string;
}

type AnswerOf = (webhook: Destination) => StoredAnswer;

/** What is audited of a webhook. Its URL may hold a secret of the receiver: the host says where it leads. */
const shown = ({ url, types, description, disabledFor }: Destination): JsonValue => ({
  host: new URL(url).host,
  types: types && [...types],
  description,
  enabled: disabledFor === null,
});

async function audit(
  tx: Tx,
  { organizationId, credentialId, id }: WebhookRequest,
  actor: Actor,
  action: Extract<AuditAction, `webhook.${string}`>,
  details: { readonly [key: string]: JsonValue },
): Promise<void> {
  const entry = { action, actor, resourceType: 'webhook', resourceId: id };
  await appendAudit(tx, organizationId, [
    { ...entry, details: { ...details, ...credentialDetail(credentialId) } },
  ]);
}

/** Changes one webhook, audited. Refuses with `notFound`. */
function changeWebhook(
  db: Db,
  request: WebhookRequest,
  change: (tx: Tx, before: Destination, admin: Actor) => Promise<Result<StoredAnswer>>,
): Promise<Result<StoredAnswer>> {
  const { organizationId, id } = request;
  return asAdmin(db, request, 'webhooks', async (tx, admin) => {
    const before = await findDestination(tx, id, { organizationId, kinds: ['webhook'], lock: true });
    return before ? change(tx, before, admin) : refuse('notFound', 'webhook not found in this organization');
  });
}

/** Creates a webhook, for the events after now. Refuses more than MAX_WEBHOOKS. */
export function createWebhook(
  db: Db,
  request: WebhookRequest & { readonly content: WebhookContent },
  answerOf: AnswerOf,
): Promise<Result<StoredAnswer>> {
  const { organizationId, id, content } = request;
  const { url, types, description, enabled } = content;
  return asAdmin(db, request, 'webhooks', async (tx, admin) => {
    const others = await listDestinations(tx, { organizationId, kinds: ['webhook'] });
    if (others.length >= MAX_WEBHOOKS) {
      return refuse('conflict', `the organization has ${others.length} webhooks, the maximum`);
    }
    // Its creation is the first event that it gets.
    const { position, hash } = await lockFeedEnd(tx, organizationId);
    const disabledFor = enabled ? null : ('request' as const);
    await insertDestination(tx, {
      ...{ id, organizationId, kind: 'webhook', url, types, description, position, hash, disabledFor },
    });
    const made = requireRow(await findDestination(tx, id));
    await audit(tx, request, admin, 'webhook.created', { after: shown(made) });
    return accept(answerOf(made));
  });
}

/** Changes a webhook: what `change` does not have stays. One that is enabled goes on where it was. */
export function updateWebhook(
  db: Db,
  request: WebhookRequest & {
    readonly change: { readonly [Field in keyof WebhookContent]?: WebhookContent[Field] | undefined };
  },
  answerOf: AnswerOf,
): Promise<Result<StoredAnswer>> {
  return changeWebhook(db, request, async (tx, before, admin) => {
    const { url, types, description, enabled } = request.change;
    const isSwitched = enabled !== undefined && enabled !== (before.disabledFor === null);
    const change: DestinationChange = {
      ...(url === undefined || url === before.url ? {} : { url }),
      ...(types === undefined ? {} : { types }),
      ...(description === undefined ? {} : { description }),
      ...(isSwitched ? { disabledFor: enabled ? null : 'request' } : {}),
    };
    const after = await updateDestination(tx, before.id, change);
    await audit(tx, request, admin, 'webhook.updated', { before: shown(before), after: shown(after) });
    return accept(answerOf(after));
  });
}

/** Removes a webhook. The answer is about what was removed. */
export function removeWebhook(
  db: Db,
  request: WebhookRequest,
  answerOf: AnswerOf,
): Promise<Result<StoredAnswer>> {
  return changeWebhook(db, request, async (tx, before, admin) => {
    await deleteDestination(tx, before.id);
    await audit(tx, request, admin, 'webhook.removed', { before: shown(before) });
    return accept(answerOf(before));
  });
}

/** Gives a webhook another secret; the one before it signs for another day. */
export function rotateWebhook(
  db: Db,
  request: WebhookRequest,
  answerOf: AnswerOf,
): Promise<Result<StoredAnswer>> {
  return changeWebhook(db, request, async (tx, before, admin) => {
    const after = await updateDestination(tx, before.id, {
      generation: before.generation + 1,
      rotatedAt: new Date(),
    });
    await audit(tx, request, admin, 'webhook.rotated', {});
    return accept(answerOf(after));
  });
}

/** Has events sent once more. Refuses with `notFound`. */
export function resendEvents(
  db: Db,
  request: WebhookRequest & { readonly selection: ResendSelection },
  answerOf: (events: number) => StoredAnswer,
): Promise<Result<StoredAnswer>> {
  return changeWebhook(db, request, async (tx, before, admin) => {
    const by = { actor: admin, details: credentialDetail(request.credentialId) };
    return accept(answerOf(await resendTo(tx, before, request.selection, by)));
  });
}
