import type { OperationIntent } from '@orgwallet/client';
import type { Organization } from '../../api/useOrganization.ts';
import { useDraft } from '../../state/drafts.ts';
import { errorWithin } from '../../text/errors.ts';
import { CheckList, RadioGroup } from '../../ui/Choices.tsx';
import { RecordField, TextField } from '../../ui/Field.tsx';
import { ProposalForm } from './ProposalForm.tsx';
import { ProposalPage } from './ProposalPage.tsx';
import { useProposal } from './useProposal.ts';
import { useTarget } from './useTarget.ts';

const ACTIONS = ['create', 'update'] as const;
type Action = (typeof ACTIONS)[number];
const EMPTY = { action: 'create' as Action, id: '', name: '', networks: [] as readonly string[] };

function intentOf({ action, id, name, networks }: typeof EMPTY): OperationIntent | undefined {
  const networkIds = networks.map(Number);
  if (action === 'create') {
    return name.trim() && networkIds.length > 0
      ? { type: 'accounts.create', items: [{ name, networkIds }] }
      : undefined;
  }
  const fields = { ...(name ? { name } : {}), ...(networkIds.length > 0 ? { networkIds } : {}) };
  return id && Object.keys(fields).length > 0
    ? { type: 'accounts.update', items: [{ id, ...fields }] }
    : undefined;
}

/** What of a new account has to be filled in yet. */
function missingIn({ action, name, networks }: typeof EMPTY): readonly string[] {
  if (action !== 'create') return [];
  return [...(name.trim() ? [] : ['name']), ...(networks.length > 0 ? [] : ['networks'])];
}

function Form({ organization }: { readonly organization: Organization }) {
  const [draft, change, forget] = useDraft('accounts', EMPTY);
  const proposal = useProposal(forget);
  const { errors } = proposal;
  useTarget(ACTIONS, change);
  const { action } = draft;
  const account = organization.accounts.find(({ id }) => id === draft.id);
  const isUpdate = action === 'update';
  const networks = organization.networks.filter(
    ({ id }) => !isUpdate || !account?.networks.some((one) => one.id === id),
  );
  return (
    <ProposalForm proposal={proposal} intent={intentOf(draft)} missing={missingIn(draft)}>
      <RadioGroup
        label="Action"
        value={action}
        options={[
          { value: 'create', label: 'Create an account' },
          { value: 'update', label: 'Change an account' },
        ]}
        onChange={(next) => change({ action: next, networks: [] })}
      />
      {isUpdate ? (
        <RecordField
          label="Account"
          none="Choose an account"
          records={organization.accounts}
          value={draft.id}
          error={errors['items[0].id']}
          onChange={(id) => change({ id, networks: [] })}
        />
      ) : null}
      <TextField
        label={isUpdate ? 'New name (optional)' : 'Name'}
        value={draft.name}
        hint={account && isUpdate ? `Now: ${account.name}` : undefined}
        error={errors['items[0].name']}
        onChange={({ target }) => change({ name: target.value })}
      />
      <CheckList
        label={isUpdate ? 'Networks to add' : 'Networks'}
        empty="It is on every network."
        options={networks.map(({ id, name }) => ({ id: String(id), name: `${name} (${id})` }))}
        chosen={draft.networks}
        error={errorWithin(errors, 'items[0].networkIds')}
        onChange={(next) => change({ networks: next })}
      />
    </ProposalForm>
  );
}

/** Proposes accounts. */
export function AccountsProposalPage() {
  return (
    <ProposalPage
      title="New proposal: accounts"
      lead="A smart account with one address on all its networks. It is deployed when the proposal is executed."
    >
      {(organization) => <Form organization={organization} />}
    </ProposalPage>
  );
}
