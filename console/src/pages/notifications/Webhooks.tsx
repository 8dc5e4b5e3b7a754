import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { orgwallet, queryClient } from '../../api/client.ts';
import { type Webhook, webhooksQuery } from '../../api/webhooks.ts';
import { webhookState } from '../../text/webhooks.ts';
import { Button } from '../../ui/Button.tsx';
import { Empty, Loaded } from '../../ui/States.tsx';
import type { Columns } from '../../ui/Table.tsx';
import { TablePages } from '../../ui/TablePages.tsx';
import { WebhookDialog } from './WebhookDialog.tsx';

function columnsOf(open: (webhook: Webhook) => void): Columns<Webhook> {
  return [
    {
      name: 'Webhook',
      cell: ({ url, description }) => (
        <>
          {description || new URL(url).host} <code className="small">{url}</code>
        </>
      ),
    },
    { name: 'Events', cell: ({ types }) => types?.join(', ') ?? 'all' },
    { name: 'State', cell: webhookState },
    {
      name: 'Deliveries',
      cell: (webhook) => (
        <Button className="small" onClick={() => open(webhook)}>
          Open<span className="hidden-visually"> {webhook.description || webhook.url}</span>
        </Button>
      ),
    },
  ];
}

/** The webhooks of the organization, each with its deliveries. */
export function Webhooks() {
  const query = useQuery(webhooksQuery);
  const [openId, setOpenId] = useState<string>();
  const opened = query.data?.find(({ id }) => id === openId);
  const again = useMutation({
    mutationFn: (id: string) => orgwallet.resendEvents(id, { failed: true }),
  });
  return (
    <>
      <Loaded query={query} what="the webhooks">
        {(webhooks) =>
          webhooks.length === 0 ? (
            <Empty title="No webhooks">
              <p>A webhook sends events to a program of yours. Create one below.</p>
            </Empty>
          ) : (
            <TablePages
              what="webhooks"
              caption="Webhooks of the organization"
              columns={columnsOf(({ id }) => setOpenId(id))}
              rows={webhooks}
              rowKey={({ id }) => id}
            />
          )
        }
      </Loaded>
      {opened ? (
        <WebhookDialog
          webhook={opened}
          resendFailed={again}
          onClose={() => {
            setOpenId(undefined);
            void queryClient.invalidateQueries({ queryKey: webhooksQuery.queryKey });
          }}
        />
      ) : null}
    </>
  );
}
