import type { OperationIntent, Schema } from '@orgwallet/client';
import { isAddress } from 'viem';
import type { Organization } from '../../api/useOrganization.ts';
import { addressError } from '../../domain/address.ts';
import { useDraft } from '../../state/drafts.ts';
import { errorWithin } from '../../text/errors.ts';
import { Button } from '../../ui/Button.tsx';
import { CheckList, RadioGroup } from '../../ui/Choices.tsx';
import { RecordField, TextField } from '../../ui/Field.tsx';
import { type NewMember, NewMemberFields, NO_MEMBER } from './NewMemberFields.tsx';
import { ProposalForm } from './ProposalForm.tsx';
import { ProposalPage } from './ProposalPage.tsx';
import { useProposal } from './useProposal.ts';
import { useTarget } from './useTarget.ts';
import { WalletKindField } from './WalletKindField.tsx';

const ACTIONS = ['create', 'update', 'remove'] as const;
type Action = (typeof ACTIONS)[number];
const EMPTY = {
  action: 'create' as Action,
  members: [NO_MEMBER] as readonly NewMember[],
  /** The member to change. */
  id: '',
  /** What is changed of them; empty: as it is. */
  name: '',
  walletAddress: '',
  walletKind: '' as Schema['WalletKind'] | '',
  removed: [] as readonly string[],
};

function changeOf({ id, name, walletAddress, walletKind }: typeof EMPTY): OperationIntent | undefined {
  const fields = {
    ...(name ? { name } : {}),
    ...(walletAddress ? { walletAddress: walletAddress.trim() } : {}),
    ...(walletKind ? { walletKind } : {}),
  };
  return id && Object.keys(fields).length > 0
    ? { type: 'members.update', items: [{ id, ...fields }] }
    : undefined;
}

function intentOf(draft: typeof EMPTY): OperationIntent | undefined {
  const { action, members, removed } = draft;
  if (action === 'update') return changeOf(draft);
  if (action === 'remove')
    return removed.length > 0 ? { type: 'members.remove', ids: [...removed] } : undefined;
  const isComplete = members.every(
    ({ name, walletAddress }) => name.trim() && isAddress(walletAddress.trim()),
  );
  const items = members.map((member) => ({ ...member, walletAddress: member.walletAddress.trim() }));
  return isComplete ? { type: 'members.create', items } : undefined;
}

/** What of the new members has to be filled in yet, or corrected. */
function missingIn({ action, members }: typeof EMPTY): readonly string[] {
  if (action !== 'create') return [];
  return [
    ...(members.every(({ name }) => name.trim()) ? [] : ['name']),
    ...(members.every(({ walletAddress }) => isAddress(walletAddress.trim())) ? [] : ['wallet address']),
  ];
}

function Form({ organization }: { readonly organization: Organization }) {
  const [draft, change, forget] = useDraft('members', EMPTY);
  const proposal = useProposal(forget);
  const { errors } = proposal;
  useTarget(ACTIONS, ({ action, id }) => change({ action, ...(id ? { id, removed: [id] } : {}) }));
  const { action, members, removed } = draft;
  const member = organization.members.find(({ id }) => id === draft.id);
  return (
    <ProposalForm proposal={proposal} intent={intentOf(draft)} missing={missingIn(draft)}>
      <RadioGroup
        label="Action"
        value={action}
        options={[
          { value: 'create', label: 'Add members' },
          { value: 'update', label: 'Change a member' },
          { value: 'remove', label: 'Remove members' },
        ]}
        onChange={(next) => change({ action: next })}
      />
      {action === 'create' ? (
        <>
          {members.map((one, index) => (
            <NewMemberFields
              key={index.toString()}
              member={one}
              index={index}
              errors={errors}
              onChange={(fields) =>
                change({
                  members: members.map((other, i) => (i === index ? { ...other, ...fields } : other)),
                })
              }
              onRemove={
                members.length > 1
                  ? () => change({ members: members.filter((_, i) => i !== index) })
                  : undefined
              }
            />
          ))}
          <div>
            <Button onClick={() => change({ members: [...members, NO_MEMBER] })}>Add another member</Button>
          </div>
        </>
      ) : null}
      {action === 'update' ? (
        <>
          <RecordField
            label="Member"
            none="Choose a member"
            records={organization.members}
            value={draft.id}
            error={errors['items[0].id']}
            onChange={(id) => change({ id })}
          />
          <TextField
            label="New name (optional)"
            value={draft.name}
            hint={member ? `Now: ${member.name}` : undefined}
            error={errors['items[0].name']}
            onChange={({ target }) => change({ name: target.value })}
          />
          <TextField
            label="New wallet address (optional)"
            className="mono"
            value={draft.walletAddress}
            hint={member ? `Now: ${member.walletAddress}` : undefined}
            error={addressError(draft.walletAddress) ?? errors['items[0].walletAddress']}
            onChange={({ target }) => change({ walletAddress: target.value })}
          />
          <WalletKindField
            keep
            value={draft.walletKind}
            error={errors['items[0].walletKind']}
            onChange={(walletKind) => change({ walletKind })}
          />
        </>
      ) : null}
      {action === 'remove' ? (
        <CheckList
          label="Members to remove"
          empty="There are no members."
          options={organization.members.map(({ id, name, walletAddress }) => ({
            id,
            name,
            hint: walletAddress,
          }))}
          chosen={removed}
          error={errorWithin(errors, 'ids')}
          onChange={(next) => change({ removed: next })}
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
