import type { Schema } from '@orgwallet/client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { apiKeys } from '../../api/apiKeys.ts';
import { networksQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { errorWithin, fieldErrors } from '../../text/errors.ts';
import { Button } from '../../ui/Button.tsx';
import { CheckList } from '../../ui/Choices.tsx';
import { Copy } from '../../ui/Copy.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { ErrorNotice } from '../../ui/States.tsx';

const SCOPES = [
  { id: 'read', name: 'Read', hint: 'everything of the organization' },
  { id: 'request', name: 'Request', hint: 'transactions: create, deliver signatures, execute' },
  { id: 'propose', name: 'Propose', hint: 'organization operations; needs a member who is an admin' },
] as const;

const EMPTY = {
  name: '',
  members: [] as readonly string[],
  scopes: ['read'] as readonly string[],
  networks: [] as readonly string[],
  accounts: [] as readonly string[],
  ranges: '',
  expires: '',
};

const listOrNull = <T,>(list: readonly T[]): T[] | null => (list.length > 0 ? [...list] : null);

function requestOf(draft: typeof EMPTY): Schema['NewApiKeyRequest'] {
  const { name, members, scopes, networks, accounts, ranges, expires } = draft;
  return {
    name,
    memberIds: [...members],
    scopes: SCOPES.map(({ id }) => id).filter((id) => scopes.includes(id)),
    networkIds: listOrNull(networks.map(Number)),
    accountIds: listOrNull(accounts),
    addressRanges: listOrNull(ranges.split(/[\s,]+/).filter(Boolean)),
    // To the end of that day, where the person is.
    expiresAt: expires === '' ? null : new Date(`${expires}T23:59:59`).toISOString(),
  };
}

function Issued({
  of: { key, name },
  onClose,
}: {
  readonly of: Schema['IssuedApiKey'];
  readonly onClose: () => void;
}) {
  return (
    <Notice tone="good" title={`${name} is issued`} urgent>
      <p>Store the key now: it is shown only here.</p>
      <p className="row">
        <code>{key}</code> <Copy text={key} of="the key" />
      </p>
      <Button onClick={onClose}>I have stored it</Button>
    </Notice>
  );
}

/** Issues a key, and shows it once. */
export function NewApiKey({
  organization,
  onIssued,
}: {
  readonly organization: Organization;
  readonly onIssued: () => void;
}) {
  const { data: networks = [] } = useQuery(networksQuery);
  const [draft, setDraft] = useState(EMPTY);
  const change = (part: Partial<typeof EMPTY>) => setDraft({ ...draft, ...part });
  const { mutate, data, error, isPending, reset } = useMutation({
    mutationFn: () => apiKeys.create(requestOf(draft)),
    onSuccess: () => {
      setDraft(EMPTY);
      onIssued();
    },
  });
  if (data) return <Issued of={data} onClose={reset} />;
  const errors = fieldErrors(error);
  const bots = organization.members.filter(({ type }) => type === 'api');
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        mutate();
      }}
    >
      <TextField
        label="Name"
        value={draft.name}
        error={errors.name}
        onChange={({ target }) => change({ name: target.value })}
      />
      <CheckList
        label="Acts for"
        empty="There are no members of type api: a bot becomes one by a proposal."
        options={bots.map(({ id, name, walletAddress }) => ({ id, name, hint: walletAddress }))}
        chosen={draft.members}
        error={errorWithin(errors, 'memberIds')}
        onChange={(members) => change({ members })}
      />
      <CheckList
        label="Scopes"
        empty=""
        options={SCOPES}
        chosen={draft.scopes}
        error={errorWithin(errors, 'scopes')}
        onChange={(scopes) => change({ scopes })}
      />
      <CheckList
        label="Only these networks (none chosen: any)"
        empty="There are no networks."
        options={networks.map(({ id, name }) => ({ id: String(id), name }))}
        chosen={draft.networks}
        error={errorWithin(errors, 'networkIds')}
        onChange={(chosen) => change({ networks: chosen })}
      />
      <CheckList
        label="Only these accounts (none chosen: any)"
        empty="There are no accounts."
        options={organization.accounts.map(({ id, name }) => ({ id, name }))}
        chosen={draft.accounts}
        error={errorWithin(errors, 'accountIds')}
        onChange={(accounts) => change({ accounts })}
      />
      <TextField
        label="Only from these addresses (optional)"
        hint="Ranges such as 203.0.113.0/24, with commas between them."
        value={draft.ranges}
        error={errorWithin(errors, 'addressRanges')}
        onChange={({ target }) => change({ ranges: target.value })}
      />
      <TextField
        label="Valid until (optional)"
        type="date"
        value={draft.expires}
        error={errors.expiresAt}
        onChange={({ target }) => change({ expires: target.value })}
      />
      {error ? <ErrorNotice error={error} /> : null}
      <Button look="primary" type="submit" busy={isPending}>
        Issue the key
      </Button>
    </form>
  );
}
