import type { OperationIntent } from '@orgwallet/client';
import { useFieldArray } from 'react-hook-form';
import type { Organization } from '../../api/useOrganization.ts';
import { faultsOfIntent } from '../../contract/bodies.ts';
import type { Places } from '../../domain/faults.ts';
import type { Bound } from '../../state/useForm.ts';
import { Button } from '../../ui/Button.tsx';
import { FormCheckList, FormRadios, FormRecord, FormText } from '../../ui/formFields.tsx';
import { MEMBER_ACTIONS, type MembersDraft, NO_CHANGE, NO_MEMBER } from './membersDraft.ts';
import { NewMemberFields } from './NewMemberFields.tsx';
import { ProposalForm } from './ProposalForm.tsx';
import { ProposalPage } from './ProposalPage.tsx';
import { useProposalForm } from './useProposalForm.ts';
import { useTarget } from './useTarget.ts';
import { WalletKindField } from './WalletKindField.tsx';

function changeOf({ id, name, walletAddress, walletKind }: MembersDraft): OperationIntent | undefined {
  const fields = {
    ...(name ? { name } : {}),
    ...(walletAddress ? { walletAddress: walletAddress.trim() } : {}),
    ...(walletKind ? { walletKind } : {}),
  };
  return id && Object.keys(fields).length > 0
    ? { type: 'members.update', items: [{ id, ...fields }] }
    : undefined;
}

function intentOf(draft: MembersDraft): OperationIntent | undefined {
  const { action, members, removed } = draft;
  if (action === 'update') return changeOf(draft);
  if (action === 'remove')
    return removed.length > 0 ? { type: 'members.remove', ids: [...removed] } : undefined;
  const items = members.map((member) => ({ ...member, walletAddress: member.walletAddress.trim() }));
  return { type: 'members.create', items };
}

const placesOf = ({ action }: MembersDraft): Places => [
  [/^items\[(\d+)\]\./, action === 'create' ? 'members.$1.' : ''],
  [/^ids.*/, 'removed'],
];

/** The new members, one after the other. */
function NewMembers({ form }: { readonly form: Bound<MembersDraft> }) {
  const { fields, append, remove } = useFieldArray({ control: form.control, name: 'members' });
  return (
    <>
      {fields.map(({ id }, index) => (
        <NewMemberFields
          key={id}
          form={form}
          index={index}
          onRemove={fields.length > 1 ? () => remove(index) : undefined}
        />
      ))}
      <div>
        <Button onClick={() => append(NO_MEMBER)}>Add another member</Button>
      </div>
    </>
  );
}

function Form({ organization }: { readonly organization: Organization }) {
  const form = useProposalForm<MembersDraft>('members', {
    empty: NO_CHANGE,
    intentOf,
    faultsOf: faultsOfIntent,
    places: placesOf,
    labels: ({ action, members }) =>
      action === 'create'
        ? [
            ...members.map((_, i) => [`members.${i}.name`, 'name'] as const),
            ...members.map((_, i) => [`members.${i}.walletAddress`, 'wallet address'] as const),
          ]
        : [],
  });
  const { draft, change } = form;
  useTarget(MEMBER_ACTIONS, ({ action, id }) => change({ action, ...(id ? { id, removed: [id] } : {}) }));
  const { action } = draft;
  const member = organization.members.find(({ id }) => id === draft.id);
  return (
    <ProposalForm form={form}>
      <FormRadios
        form={form}
        name="action"
        label="Action"
        options={[
          { value: 'create', label: 'Add members' },
          { value: 'update', label: 'Change a member' },
          { value: 'remove', label: 'Remove members' },
        ]}
      />
      {action === 'create' ? <NewMembers form={form} /> : null}
      {action === 'update' ? (
        <>
          <FormRecord
            form={form}
            name="id"
            label="Member"
            none="Choose a member"
            records={organization.members}
          />
          <FormText
            form={form}
            name="name"
            label="New name (optional)"
            hint={member ? `Now: ${member.name}` : undefined}
          />
          <FormText
            form={form}
            name="walletAddress"
            label="New wallet address (optional)"
            className="mono"
            hint={member ? `Now: ${member.walletAddress}` : undefined}
          />
          <WalletKindField form={form} name="walletKind" keep />
        </>
      ) : null}
      {action === 'remove' ? (
        <FormCheckList
          form={form}
          name="removed"
          label="Members to remove"
          empty="There are no members."
          options={organization.members.map(({ id, name, walletAddress }) => ({
            id,
            name,
            hint: walletAddress,
          }))}
        />
      ) : null}
    </ProposalForm>
  );
}

/** Proposes changes of the members. */
export function MembersProposalPage() {
  return (
    <ProposalPage
      title="New proposal: members"
      lead="Who belongs to the organization, and the wallet that each signs with."
    >
      {(organization) => <Form organization={organization} />}
    </ProposalPage>
  );
}
