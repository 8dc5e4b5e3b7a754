import { type UseMutationResult, useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { orgwallet, queryClient } from '../../api/client.ts';
import {
  type Delivery,
  deliveriesQuery,
  type Webhook,
  webhookSecretsQuery,
  webhooksQuery,
} from '../../api/webhooks.ts';
import { announce } from '../../state/announcement.ts';
import { dateTime } from '../../text/time.ts';
import { deliveryOutcome, webhookState } from '../../text/webhooks.ts';
import { Button } from '../../ui/Button.tsx';
import { Copy } from '../../ui/Copy.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { ErrorNotice, Loaded } from '../../ui/States.tsx';
import type { Columns } from '../../ui/Table.tsx';
import { TablePages } from '../../ui/TablePages.tsx';

const readAgain = () => queryClient.invalidateQueries({ queryKey: webhooksQuery.queryKey });

function columnsOf(resend: (delivery: Delivery) => void): Columns<Delivery> {
  return [
    { name: 'Event', cell: ({ eventType, position }) => `${eventType} (${position})` },
    { name: 'Sent', cell: ({ createdAt }) => <time dateTime={createdAt}>{dateTime(createdAt)}</time> },
    { name: 'Attempt', cell: ({ reason, attempt }) => (reason === 'event' ? attempt : reason) },
    { name: 'Outcome', cell: deliveryOutcome },
    { name: 'Answer', cell: ({ answer, durationMs }) => `${answer || 'empty'} (${durationMs} ms)` },
    {
      name: 'Resend',
      cell: (delivery) =>
        delivery.reason === 'test' ? null : (
          <Button className="small" onClick={() => resend(delivery)}>
            Resend<span className="hidden-visually"> event {delivery.position}</span>
          </Button>
        ),
    },
  ];
}

function Secrets({ of: { id } }: { readonly of: Webhook }) {
  const query = useQuery(webhookSecretsQuery(id));
  return (
    <Loaded query={query} what="the secrets">
      {({ secrets, publicKey, organizationId }) => (
        <Facts
          rows={[
            ...secrets.map(({ secret, until }): [string, React.ReactNode] => [
              until ? `Secret until ${dateTime(until)}` : 'Secret',
              <span key={secret} className="row">
                <code>{secret}</code> <Copy text={secret} of="the secret" />
              </span>,
            ]),
            ['Public key', <code key="public">{publicKey}</code>],
            ['Organization', <code key="organization">{organizationId}</code>],
          ]}
        />
      )}
    </Loaded>
  );
}

/** One webhook: its secrets, its last attempts, and what can be done with it. */
export function WebhookDialog({
  webhook,
  resendFailed,
  onClose,
}: {
  readonly webhook: Webhook;
  readonly resendFailed: UseMutationResult<unknown, Error, string>;
  readonly onClose: () => void;
}) {
  const { id, url, enabled } = webhook;
  const query = useQuery({ ...deliveriesQuery(id), refetchInterval: 3_000 });
  const [isShown, setShown] = useState(false);
  const act = useMutation({
    mutationFn: (what: () => Promise<unknown>) => what(),
    onSettled: readAgain,
  });
  const remove = useMutation({
    mutationFn: () => orgwallet.removeWebhook(id),
    onSuccess: () => {
      announce('Webhook removed');
      onClose();
    },
    onSettled: readAgain,
  });
  const error = act.error ?? remove.error ?? resendFailed.error;
  return (
    <Dialog open title="Webhook" onClose={onClose}>
      <Facts
        rows={[
          ['URL', <code key="url">{url}</code>],
          ['State', webhookState(webhook)],
          ['Position', webhook.position],
        ]}
      />
      <div className="row">
        <Button busy={act.isPending} onClick={() => act.mutate(() => orgwallet.testWebhook(id, {}))}>
          Send a test
        </Button>
        <Button onClick={() => act.mutate(() => orgwallet.updateWebhook(id, { enabled: !enabled }))}>
          {enabled ? 'Disable' : 'Enable'}
        </Button>
        <Button onClick={() => resendFailed.mutate(id)}>Resend what failed</Button>
        <Button onClick={() => act.mutate(() => orgwallet.rotateWebhook(id, {}))}>Rotate the secret</Button>
        <Button onClick={() => setShown(!isShown)}>{isShown ? 'Hide the secret' : 'Show the secret'}</Button>
        <Button look="danger" busy={remove.isPending} onClick={() => remove.mutate()}>
          Remove
        </Button>
      </div>
      {error ? <ErrorNotice error={error} /> : null}
      {isShown ? <Secrets of={webhook} /> : null}
      <Loaded query={query} what="the deliveries">
        {(deliveries) =>
          deliveries.length === 0 ? (
            <p className="muted">Nothing was sent yet.</p>
          ) : (
            <TablePages
              what="deliveries"
              caption="Deliveries of the webhook"
              columns={columnsOf(({ eventId }) =>
                act.mutate(() => orgwallet.resendEvents(id, { eventIds: [eventId] })),
              )}
              rows={deliveries}
              rowKey={(delivery) => delivery.id}
            />
          )
        }
      </Loaded>
      <Button onClick={onClose}>Close</Button>
    </Dialog>
  );
}
