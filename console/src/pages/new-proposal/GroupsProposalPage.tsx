import type { OperationIntent } from '@orgwallet/client';
import type { Organization } from '../../api/useOrganization.ts';
import { membershipUpdates } from '../../domain/membership.ts';
import { useDraft } from '../../state/drafts.ts';
import { errorWithin } from '../../text/errors.ts';
import { CheckList, RadioGroup } from '../../ui/Choices.tsx';
import { RecordField, TextField } from '../../ui/Field.tsx';
import { ProposalForm } from './ProposalForm.tsx';
import { ProposalPage } from './ProposalPage.tsx';
import { useProposal } from './useProposal.ts';
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

function intentOf(draft: typeof EMPTY, { groups }: Organization): OperationIntent | undefined {
  const { action, id, name, members, deleted } = draft;
  if (action === 'delete') {
    return deleted.length > 0
      ? { type: 'groups.delete', items: deleted.map((one) => ({ id: one })) }
      : undefined;
  }
  if (action === 'create') {
    return name.trim()
      ? { type: 'groups.create', items: [{ name, memberIds: [...(members ?? [])] }] }
      : undefined;
  }
  const group = groups.find((one) => one.id === id);
  if (!group) return undefined;
  const before = group.members.map((member) => member.id);
  const memberUpdates = membershipUpdates(before, members ?? before);
  const fields = { ...(name ? { name } : {}), ...(memberUpdates.length > 0 ? { memberUpdates } : {}) };
  return Object.keys(fields).length > 0 ? { type: 'groups.update', items: [{ id, ...fields }] } : undefined;
}

function Form({ organization }: { readonly organization: Organization }) {
  const [draft, change, forget] = useDraft('groups', EMPTY);
  const proposal = useProposal(forget);
  const { errors } = proposal;
  useTarget(ACTIONS, ({ action, id }) => change({ action, ...(id ? { id, deleted: [id] } : {}) }));
  const { action } = draft;
  const group = organization.groups.find(({ id }) => id === draft.id);
  const present = action === 'update' ? (group?.members.map(({ id }) => id) ?? []) : [];
  return (
    <ProposalForm
      proposal={proposal}
      intent={intentOf(draft, organization)}
      missing={action === 'create' && draft.name.trim() === '' ? ['name'] : []}
    >
      <RadioGroup
        label="Action"
        value={action}
        options={[
          { value: 'create', label: 'Create a group' },
          { value: 'update', label: 'Change a group' },
          { value: 'delete', label: 'Delete groups' },
        ]}
        onChange={(next) => change({ action: next, members: null })}
      />
      {action === 'update' ? (
        <RecordField
          label="Group"
          none="Choose a group"
          records={organization.groups}
          value={draft.id}
          error={errors['items[0].id']}
          onChange={(id) => change({ id, members: null })}
        />
      ) : null}
      {action === 'delete' ? (
        <CheckList
          label="Groups to delete"
          empty="There are no groups."
          options={organization.groups.map(({ id, name }) => ({ id, name }))}
          chosen={draft.deleted}
          error={errorWithin(errors, 'items')}
          onChange={(deleted) => change({ deleted })}
        />
      ) : (
        <>
          <TextField
            label={action === 'create' ? 'Name' : 'New name (optional)'}
            value={draft.name}
            hint={group && action === 'update' ? `Now: ${group.name}` : undefined}
            error={errors['items[0].name']}
            onChange={({ target }) => change({ name: target.value })}
          />
          <CheckList
            label="Members"
            empty="There are no members."
            options={organization.members.map(({ id, name, walletAddress }) => ({
              id,
              name,
              hint: walletAddress,
            }))}
            chosen={draft.members ?? present}
            error={errorWithin(errors, 'items[0].memberIds') ?? errorWithin(errors, 'items[0].memberUpdates')}
            onChange={(members) => change({ members })}
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
