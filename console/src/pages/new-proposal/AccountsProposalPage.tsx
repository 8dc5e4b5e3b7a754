import type { OperationIntent } from '@orgwallet/client';
import type { Organization } from '../../api/useOrganization.ts';
import { faultsOfIntent } from '../../contract/bodies.ts';
import type { Places } from '../../domain/faults.ts';
import { FormCheckList, FormRadios, FormRecord, FormText } from '../../ui/formFields.tsx';
import { ProposalForm } from './ProposalForm.tsx';
import { ProposalPage } from './ProposalPage.tsx';
import { useProposalForm } from './useProposalForm.ts';
import { useTarget } from './useTarget.ts';

const ACTIONS = ['create', 'update'] as const;
type Action = (typeof ACTIONS)[number];
const EMPTY = { action: 'create' as Action, id: '', name: '', networks: [] as readonly string[] };

/** What the service names, in this form. */
const PLACES: Places = [
  [/^items\[0\]\.networkIds.*/, 'networks'],
  [/^items\[0\]\./, ''],
];

function intentOf({ action, id, name, networks }: typeof EMPTY): OperationIntent | undefined {
  const networkIds = networks.map(Number);
  if (action === 'create') return { type: 'accounts.create', items: [{ name, networkIds }] };
  const fields = { ...(name ? { name } : {}), ...(networkIds.length > 0 ? { networkIds } : {}) };
  return id && Object.keys(fields).length > 0
    ? { type: 'accounts.update', items: [{ id, ...fields }] }
    : undefined;
}

function Form({ organization }: { readonly organization: Organization }) {
  const form = useProposalForm('accounts', {
    empty: EMPTY,
    intentOf,
    faultsOf: faultsOfIntent,
    places: () => PLACES,
    labels: () => [
      ['name', 'name'],
      ['networks', 'networks'],
    ],
  });
  const { draft, change } = form;
  useTarget(ACTIONS, change);
  const account = organization.accounts.find(({ id }) => id === draft.id);
  const isUpdate = draft.action === 'update';
  const networks = organization.networks.filter(
    ({ id }) => !isUpdate || !account?.networks.some((one) => one.id === id),
  );
  return (
    <ProposalForm form={form}>
      <FormRadios
        form={form}
        name="action"
        label="Action"
        options={[
          { value: 'create', label: 'Create an account' },
          { value: 'update', label: 'Change an account' },
        ]}
        onChoice={() => change({ networks: [] })}
      />
      {isUpdate ? (
        <FormRecord
          form={form}
          name="id"
          label="Account"
          none="Choose an account"
          records={organization.accounts}
          onChoice={() => change({ networks: [] })}
        />
      ) : null}
      <FormText
        form={form}
        name="name"
        label={isUpdate ? 'New name (optional)' : 'Name'}
        hint={account && isUpdate ? `Now: ${account.name}` : undefined}
      />
      <FormCheckList
        form={form}
        name="networks"
        label={isUpdate ? 'Networks to add' : 'Networks'}
        empty="It is on every network."
        options={networks.map(({ id, name }) => ({ id: String(id), name: `${name} (${id})` }))}
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
