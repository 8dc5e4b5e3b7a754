import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type ApiKey, apiKeys, apiKeysQuery } from '../../api/apiKeys.ts';
import { queryClient } from '../../api/client.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { useSession } from '../../api/useSession.ts';
import { announce } from '../../state/announcement.ts';
import { dateTime } from '../../text/time.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Page, Section } from '../../ui/Page.tsx';
import { ErrorNotice, Loaded } from '../../ui/States.tsx';
import type { Columns } from '../../ui/Table.tsx';
import { TablePages } from '../../ui/TablePages.tsx';
import { WithOrganization } from '../../ui/WithOrganization.tsx';
import { NewApiKey } from './NewApiKey.tsx';

const readAgain = () => queryClient.invalidateQueries({ queryKey: apiKeysQuery.queryKey });

const nameOf = ({ name, prefix }: ApiKey) => name ?? `${prefix}…`;

function Limits({ of, organization }: { readonly of: ApiKey; readonly organization: Organization }) {
  const { networkIds, accountIds, addressRanges } = of;
  const names = (ids: readonly string[]) =>
    ids.map((id) => organization.accounts.find((account) => account.id === id)?.name ?? id).join(', ');
  const limits = [
    ...(accountIds ? [`accounts ${names(accountIds)}`] : []),
    ...(networkIds ? [`networks ${networkIds.join(', ')}`] : []),
    ...(addressRanges ? [`from ${addressRanges.join(', ')}`] : []),
  ];
  return <>{limits.length === 0 ? 'none' : limits.join('; ')}</>;
}

function State({ of: { revokedAt, expiresAt } }: { readonly of: ApiKey }) {
  if (revokedAt) return <Badge>revoked {dateTime(revokedAt)}</Badge>;
  if (!expiresAt) return <>until it is revoked</>;
  return <time dateTime={expiresAt}>{dateTime(expiresAt)}</time>;
}

function columnsOf(organization: Organization, revoke: (key: ApiKey) => void): Columns<ApiKey> {
  const memberNames = (ids: readonly string[]) =>
    ids.map((id) => organization.members.find((member) => member.id === id)?.name ?? id).join(', ');
  return [
    {
      name: 'Key',
      cell: ({ name, prefix }) => (
        <>
          {name ?? 'issued by an operator'} <code className="small">{prefix}…</code>
        </>
      ),
    },
    { name: 'Acts for', cell: ({ memberIds }) => memberNames(memberIds) },
    { name: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
    { name: 'Limits', cell: (key) => <Limits of={key} organization={organization} /> },
    {
      name: 'Last used',
      cell: ({ lastUsedAt }) =>
        lastUsedAt ? <time dateTime={lastUsedAt}>{dateTime(lastUsedAt)}</time> : 'never',
    },
    { name: 'Valid', cell: (key) => <State of={key} /> },
    {
      name: 'Revoke',
      cell: (key) =>
        key.revokedAt ? null : (
          <Button className="small" onClick={() => revoke(key)}>
            Revoke<span className="hidden-visually"> {nameOf(key)}</span>
          </Button>
        ),
    },
  ];
}

function Revoke({ of, onClose }: { readonly of: ApiKey; readonly onClose: () => void }) {
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => apiKeys.revoke(of.id),
    onSuccess: () => {
      announce('API key revoked');
      onClose();
    },
    onSettled: readAgain,
  });
  return (
    <Dialog open title={`Revoke ${nameOf(of)}`} onClose={onClose}>
      <p>
        Requests with this key are refused from now on. What it has requested and is not executed yet has no
        effect any more.
      </p>
      {error ? <ErrorNotice error={error} /> : null}
      <div className="row">
        <Button look="danger" busy={isPending} onClick={() => mutate()}>
          Revoke the key
        </Button>
        <Button onClick={onClose}>Keep it</Button>
      </div>
    </Dialog>
  );
}

function Keys({ organization }: { readonly organization: Organization }) {
  const query = useQuery(apiKeysQuery);
  const [revoking, setRevoking] = useState<ApiKey>();
  return (
    <>
      <Loaded query={query} what="the API keys">
        {(keys) => (
          <TablePages
            what="API keys"
            caption="API keys of the organization"
            columns={columnsOf(organization, setRevoking)}
            rows={keys}
            rowKey={({ id }) => id}
          />
        )}
      </Loaded>
      {revoking ? <Revoke of={revoking} onClose={() => setRevoking(undefined)} /> : null}
    </>
  );
}

/** The credentials of programs, for admins. */
export function ApiKeysPage() {
  const { isAdmin, organization: own } = useSession();
  return (
    <Page title="API keys" lead={`What programs of ${own.name} authenticate with. A key never signs.`}>
      {isAdmin ? (
        <WithOrganization what="the API keys">
          {(found) => (
            <>
              <Section title="Keys" id="keys">
                <Keys organization={found} />
              </Section>
              <Section title="New key" id="new-key">
                <NewApiKey organization={found} onIssued={() => void readAgain()} />
              </Section>
            </>
          )}
        </WithOrganization>
      ) : (
        <Notice title="Only admins see API keys">
          <p>Ask an admin of your organization for a key, or to revoke one.</p>
        </Notice>
      )}
    </Page>
  );
}
