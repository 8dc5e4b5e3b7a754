import type { OperationIntent } from '@orgwallet/client';
import type { Organization } from '../../api/useOrganization.ts';
import { faultsOfIntent } from '../../contract/bodies.ts';
import type { Places } from '../../domain/faults.ts';
import { membershipUpdates } from '../../domain/membership.ts';
import { FormCheckList, FormRadios, FormRecord, FormText } from '../../ui/formFields.tsx';
import { ProposalForm } from './ProposalForm.tsx';
import { ProposalPage } from './ProposalPage.tsx';
import { useProposalForm } from './useProposalForm.ts';
import { useTarget } from './useTarget.ts';

const ACTIONS = ['create', 'update', 'delete'] as const;
type Action = (typeof ACTIONS)[number];
const EMPTY = {
  action: 'create' as Action,
  id: '',
  name: '',
  /** Of the new group, or of the changed one; null: as they are. */
  members: null as readonly string[] | null,
  deleted: [] as readonly string[],
};

/** What the service names, in this form. */
const PLACES: Places = [
  [/^items\[0\]\.name$/, 'name'],
  [/^items\[0\]\.id$/, 'id'],
  [/^items\[0\]\.member.*/, 'members'],
  [/^items.*/, 'deleted'],
];

function intentOf(draft: typeof EMPTY, { groups }: Organization): OperationIntent | undefined {
  const { action, id, name, members, deleted } = draft;
  if (action === 'delete') {
    return deleted.length > 0
      ? { type: 'groups.delete', items: deleted.map((one) => ({ id: one })) }
      : undefined;
  }
  if (action === 'create')
    return { type: 'groups.create', items: [{ name, memberIds: [...(members ?? [])] }] };
  const group = groups.find((one) => one.id === id);
  if (!group) return undefined;
  const before = group.members.map((member) => member.id);
  const memberUpdates = membershipUpdates(before, members ?? before);
  const fields = { ...(name ? { name } : {}), ...(memberUpdates.length > 0 ? { memberUpdates } : {}) };
  return Object.keys(fields).length > 0 ? { type: 'groups.update', items: [{ id, ...fields }] } : undefined;
}

function Form({ organization }: { readonly organization: Organization }) {
  const form = useProposalForm('groups', {
    empty: EMPTY,
    intentOf: (draft) => intentOf(draft, organization),
    faultsOf: faultsOfIntent,
    places: () => PLACES,
    labels: () => [['name', 'name']],
  });
  const { draft, change } = form;
  useTarget(ACTIONS, ({ action, id }) => change({ action, ...(id ? { id, deleted: [id] } : {}) }));
  const { action } = draft;
  const group = organization.groups.find(({ id }) => id === draft.id);
  const present = action === 'update' ? (group?.members.map(({ id }) => id) ?? []) : [];
  return (
    <ProposalForm form={form}>
      <FormRadios
        form={form}
        name="action"
        label="Action"
        options={[
          { value: 'create', label: 'Create a group' },
          { value: 'update', label: 'Change a group' },
          { value: 'delete', label: 'Delete groups' },
        ]}
        onChoice={() => change({ members: null })}
      />
      {action === 'update' ? (
        <FormRecord
          form={form}
          name="id"
          label="Group"
          none="Choose a group"
          records={organization.groups}
          onChoice={() => change({ members: null })}
        />
      ) : null}
      {action === 'delete' ? (
        <FormCheckList
          form={form}
          name="deleted"
          label="Groups to delete"
          empty="There are no groups."
          options={organization.groups.map(({ id, name }) => ({ id, name }))}
        />
      ) : (
        <>
          <FormText
            form={form}
            name="name"
            label={action === 'create' ? 'Name' : 'New name (optional)'}
            hint={group && action === 'update' ? `Now: ${group.name}` : undefined}
          />
          <FormCheckList
            form={form}
            name="members"
            label="Members"
            empty="There are no members."
            options={organization.members.map(({ id, name, walletAddress }) => ({
              id,
              name,
              hint: walletAddress,
            }))}
            whileUntouched={present}
          />
        </>
      )}
    </ProposalForm>
  );
}

/** Proposes changes of the groups. */
export function GroupsProposalPage() {
  return (
    <ProposalPage title="New proposal: groups" lead="Sets of members that policies refer to.">
      {(organization) => <Form organization={organization} />}
    </ProposalPage>
  );
}
