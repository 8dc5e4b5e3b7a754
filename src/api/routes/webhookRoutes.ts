import {
  createWebhookEndpoint,
  getWebhookEndpoint,
  getWebhookSecretsEndpoint,
  listWebhookDeliveriesEndpoint,
  listWebhooksEndpoint,
  removeWebhookEndpoint,
  resendEventsEndpoint,
  rotateWebhookEndpoint,
  testWebhookEndpoint,
  updateWebhookEndpoint,
} from '../../contract/webhookContract';
import type { Db } from '../../db/database';
import {
  type DeliveryAttempt,
  type Destination,
  findDestination,
  listAttempts,
  listDestinations,
  type ResendSelection,
} from '../../db/destinations';
import type { StoredAnswer } from '../../db/idempotency';
import { newId } from '../../db/ids';
import {
  createWebhook,
  removeWebhook,
  resendEvents,
  rotateWebhook,
  updateWebhook,
} from '../../delivery/webhookChanges';
import { destinationStatus, isTaking } from '../../domain/delivery';
import type { DeliveryRef } from '../../temporal/deliveryMessages';
import type { Cursors } from '../cursors';
import type { ApiDependencies } from '../dependencies';
import type { RequestRef } from '../idempotency';
import { DEFAULT_LIMIT, page, pageRequest } from '../pages';
import { acceptOrThrow, badRequest, notFound } from '../refusals';
import { dryRunRoute, mutationRoute, type RequestContext, type Route, readRoute } from '../requestContext';

interface Deps {
  readonly db: Db;
  readonly cursors: Cursors;
  readonly deliveries: ApiDependencies['deliveries'];
}

const time = (date: Date | null) => date?.toISOString() ?? null;

function webhookView(webhook: Destination) {
  const { id, url, types, description, disabledFor, pausedFor, position, attempts, lastFailure } = webhook;
  return {
    ...{ id, url, types: types && [...types], description, enabled: disabledFor === null },
    ...{
      status: destinationStatus(webhook),
      reason: disabledFor ?? pausedFor,
      position: String(position),
      attempts,
      lastFailure,
    },
    nextAttemptAt: time(webhook.nextAttemptAt),
    failingSince: time(webhook.failingSince),
    createdAt: webhook.createdAt.toISOString(),
    updatedAt: webhook.updatedAt.toISOString(),
  };
}

function deliveryView(attempt: DeliveryAttempt) {
  const { id, reason, eventId, eventType, eventPosition, status, fault, message, answer, durationMs } =
    attempt;
  return {
    ...{
      id: String(id),
      reason,
      eventId,
      eventType,
      position: String(eventPosition),
      attempt: attempt.attempt,
    },
    ...{
      delivered: isTaking(status),
      status,
      fault,
      message,
      answer,
      durationMs,
    },
    createdAt: attempt.createdAt.toISOString(),
  };
}

type Delivery = ReturnType<typeof deliveryView>;

const answerOf = (data: object): StoredAnswer => ({
  status: 200,
  body: JSON.stringify({ data }),
  location: null,
});
const answerOfWebhook = (webhook: Destination) => answerOf(webhookView(webhook));

const requestOf = (
  { organizationId, credential }: Pick<RequestContext, 'organizationId' | 'credential'>,
  { id, resourceId }: Pick<RequestRef, 'id' | 'resourceId'>,
) => ({ organizationId, requestId: id, credentialId: credential.id, id: resourceId });

const refOf = ({ organizationId }: Pick<RequestContext, 'organizationId'>, id: string): DeliveryRef => ({
  ...{ organizationId, id, kind: 'webhook' },
});

/** Which events a body names. */
function selectionOf(body: {
  readonly eventIds?: readonly string[] | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}): ResendSelection {
  const { eventIds, from, to } = body;
  if (eventIds) return { eventIds };
  return from !== undefined && to !== undefined ? { from: BigInt(from), to: BigInt(to) } : { failed: true };
}

/** Everything about where the events of an organization are sent to. */
export function webhookRoutes({ db, cursors, deliveries }: Deps): Route[] {
  async function find({ organizationId, params }: Pick<RequestContext, 'organizationId' | 'params'>) {
    const found = await findDestination(db, params.webhookId ?? '', { organizationId, kinds: ['webhook'] });
    if (!found) throw notFound('webhook');
    return found;
  }

  async function assertReachable(url: string | undefined): Promise<void> {
    const refusal = url === undefined ? undefined : await deliveries.refuseUrl(url);
    if (refusal !== undefined) throw badRequest([{ field: 'url', message: refusal }]);
  }

  /** The answer that was stored with its effect; its workflow learns of it, or finds it within a second. */
  async function changed<Body>(
    context: Pick<RequestContext, 'organizationId' | 'credential'>,
    request: RequestRef,
    change: (
      request: ReturnType<typeof requestOf>,
    ) => Promise<Parameters<typeof acceptOrThrow<StoredAnswer>>[0]>,
    message: 'start' | 'refresh' = 'refresh',
  ): Promise<{ body: Body; location: string | null }> {
    const { body, location } = acceptOrThrow(await change(requestOf(context, request)));
    deliveries[message](refOf(context, request.resourceId));
    return { body: JSON.parse(body), location };
  }

  return [
    readRoute(listWebhooksEndpoint, async ({ organizationId }) => ({
      data: (await listDestinations(db, { organizationId, kinds: ['webhook'] })).map(webhookView),
    })),
    readRoute(getWebhookEndpoint, async (context) => ({ data: webhookView(await find(context)) })),
    readRoute(getWebhookSecretsEndpoint, async (context) => ({
      data: await deliveries.secretsOf(await find(context)),
    })),
    readRoute(listWebhookDeliveriesEndpoint, async (context) => {
      const { id } = await find(context);
      const { cursor, limit, delivered } = context.query;
      const scope = { organizationId: context.organizationId, list: `webhooks/${id}` };
      const request = pageRequest(cursors, scope, { cursor, limit }, { delivered }, DEFAULT_LIMIT);
      const { before, filters } = request;
      const rows = await listAttempts(db, {
        ...{ id, limit: request.limit + 1 },
        ...(before === undefined ? {} : { before }),
        ...(filters.delivered === undefined ? {} : { isTaken: filters.delivered === 'true' }),
      });
      return page<DeliveryAttempt, Delivery>(cursors, scope, request, rows, deliveryView);
    }),
    mutationRoute(createWebhookEndpoint, {
      async check({ body }) {
        await assertReachable(body.url);
        return { resourceId: newId('whk') };
      },
      send: (context, request) =>
        changed(
          context,
          request,
          (asked) => createWebhook(db, { ...asked, content: context.body }, answerOfWebhook),
          'start',
        ),
    }),
    mutationRoute(updateWebhookEndpoint, {
      async check(context) {
        const { id } = await find(context);
        await assertReachable(context.body.url);
        return { resourceId: id };
      },
      send: (context, request) =>
        changed(context, request, (asked) =>
          updateWebhook(db, { ...asked, change: context.body }, answerOfWebhook),
        ),
    }),
    mutationRoute(removeWebhookEndpoint, {
      check: async (context) => ({ resourceId: (await find(context)).id }),
      send: (context, request) =>
        changed(context, request, (asked) => removeWebhook(db, asked, answerOfWebhook)),
    }),
    mutationRoute(rotateWebhookEndpoint, {
      check: async (context) => ({ resourceId: (await find(context)).id }),
      send: (context, request) =>
        changed(context, request, (asked) => rotateWebhook(db, asked, answerOfWebhook)),
    }),
    mutationRoute(resendEventsEndpoint, {
      check: async (context) => ({ resourceId: (await find(context)).id }),
      send: (context, request) =>
        changed(context, request, (asked) =>
          resendEvents(db, { ...asked, selection: selectionOf(context.body) }, (events) =>
            answerOf({ events }),
          ),
        ),
    }),
    dryRunRoute(testWebhookEndpoint, async (context) => ({
      data: deliveryView(await deliveries.test(await find(context))),
    })),
  ];
}
