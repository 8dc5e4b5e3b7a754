import type { Schema } from '@orgwallet/client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { apiKeys } from '../../api/apiKeys.ts';
import { networksQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { faultsOfApiKey } from '../../contract/apiKeyBody.ts';
import { type Places, placed } from '../../domain/faults.ts';
import { checked, submits, useForm } from '../../state/useForm.ts';
import { fieldErrors } from '../../text/errors.ts';
import { Button } from '../../ui/Button.tsx';
import { Copy } from '../../ui/Copy.tsx';
import formStyles from '../../ui/form.module.css';
import { FormCheckList, FormText } from '../../ui/formFields.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { ErrorNotice } from '../../ui/States.tsx';

const SCOPES = [
  { id: 'read', name: 'Read', hint: 'everything of the organization' },
  { id: 'request', name: 'Request', hint: 'transactions: create, deliver signatures, execute' },
  { id: 'propose', name: 'Propose', hint: 'organization operations; needs a member who is an admin' },
  { id: 'webhooks', name: 'Webhooks', hint: 'where events are sent to; needs a member who is an admin' },
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

/** What the service names, in this form. */
const PLACES: Places = [
  [/^memberIds.*/, 'members'],
  [/^scopes.*/, 'scopes'],
  [/^networkIds.*/, 'networks'],
  [/^accountIds.*/, 'accounts'],
  [/^addressRanges.*/, 'ranges'],
  [/^expiresAt$/, 'expires'],
];

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
  const typed = useForm(EMPTY);
  const asked = requestOf(typed.draft);
  const { mutate, data, error, isPending, reset } = useMutation({
    mutationFn: () => apiKeys.create(asked),
    onSuccess: () => {
      typed.change(EMPTY);
      onIssued();
    },
  });
  if (data) return <Issued of={data} onClose={reset} />;
  const form = {
    ...checked(typed, placed(faultsOfApiKey(asked), PLACES)),
    refused: placed(fieldErrors(error), PLACES),
  };
  const bots = organization.members.filter(({ type }) => type === 'api');
  return (
    <form className={`card stack ${formStyles.form}`} noValidate onSubmit={submits(() => mutate())}>
      <FormText form={form} name="name" label="Name" />
      <FormCheckList
        form={form}
        name="members"
        label="Acts for"
        empty="No member is a bot yet. Add one with a proposal."
        options={bots.map(({ id, name, walletAddress }) => ({ id, name, hint: walletAddress }))}
      />
      <FormCheckList form={form} name="scopes" label="Scopes" empty="" options={SCOPES} />
      <FormCheckList
        form={form}
        name="networks"
        label="Only these networks (none chosen: any)"
        empty="There are no networks."
        options={networks.map(({ id, name }) => ({ id: String(id), name }))}
      />
      <FormCheckList
        form={form}
        name="accounts"
        label="Only these accounts (none chosen: any)"
        empty="There are no accounts."
        options={organization.accounts.map(({ id, name }) => ({ id, name }))}
      />
      <FormText
        form={form}
        name="ranges"
        label="Only from these addresses (optional)"
        hint="Comma-separated ranges, for example 203.0.113.0/24."
      />
      <FormText form={form} name="expires" label="Valid until (optional)" type="date" />
      {error ? <ErrorNotice error={error} /> : null}
      <Button look="primary" type="submit" busy={isPending}>
        Issue the key
      </Button>
    </form>
  );
}
