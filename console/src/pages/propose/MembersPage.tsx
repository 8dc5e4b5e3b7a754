import type { OperationIntent, Schema } from '@orgwallet/client';
import { isAddress } from 'viem';
import { useDraft } from '../../drafts.ts';
import { Button } from '../../ui/Button.tsx';
import { CheckList, RadioGroup } from '../../ui/Choices.tsx';
import { SelectField, TextField } from '../../ui/Field.tsx';
import type { Organization } from '../../useOrganization.ts';
import { ProposalForm } from './ProposalForm.tsx';
import { useProposal } from './useProposal.ts';
import { useTarget } from './useTarget.ts';
import { WithOrganization } from './WithOrganization.tsx';

interface Person {
  readonly name: string;
  readonly walletAddress: string;
  readonly type: Schema['MemberType'];
  readonly walletKind: Schema['WalletKind'];
}

const NOBODY: Person = { name: '', walletAddress: '', type: 'user', walletKind: 'key' };
const ACTIONS = ['create', 'update', 'remove'] as const;
type Action = (typeof ACTIONS)[number];
const EMPTY = {
  action: 'create' as Action,
  people: [NOBODY] as readonly Person[],
  /** The member to change. */
  id: '',
  /** What is changed of them; empty: as it is. */
  name: '',
  walletAddress: '',
  walletKind: '' as Schema['WalletKind'] | '',
  removed: [] as readonly string[],
};

const notAddress = (text: string) =>
  text.trim() === '' || isAddress(text.trim())
    ? undefined
    : 'Not an address, or its checksum is wrong (expected 0x and 40 hex digits)';

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
  const { action, people, removed } = draft;
  if (action === 'update') return changeOf(draft);
  if (action === 'remove')
    return removed.length > 0 ? { type: 'members.remove', ids: [...removed] } : undefined;
  const isComplete = people.every(
    ({ name, walletAddress }) => name.trim() && isAddress(walletAddress.trim()),
  );
  const items = people.map((person) => ({ ...person, walletAddress: person.walletAddress.trim() }));
  return isComplete ? { type: 'members.create', items } : undefined;
}

function NewPerson({
  person,
  index,
  errors,
  onChange,
  onRemove,
}: {
  readonly person: Person;
  readonly index: number;
  readonly errors: { readonly [field: string]: string };
  readonly onChange: (fields: Partial<Person>) => void;
  readonly onRemove: (() => void) | undefined;
}) {
  const errorOf = (field: keyof Person) => errors[`items[${index}].${field}`];
  return (
    <fieldset className="form-item">
      <legend>New member {index + 1}</legend>
      <div className="form-pair">
        <TextField
          label="Name"
          value={person.name}
          error={errorOf('name')}
          onChange={({ target }) => onChange({ name: target.value })}
        />
        <SelectField
          label="Type"
          value={person.type}
          error={errorOf('type')}
          onChange={({ target }) => onChange({ type: target.value as Person['type'] })}
        >
          <option value="user">person</option>
          <option value="api">bot</option>
        </SelectField>
      </div>
      <TextField
        label="Wallet address"
        className="mono"
        value={person.walletAddress}
        error={notAddress(person.walletAddress) ?? errorOf('walletAddress')}
        onChange={({ target }) => onChange({ walletAddress: target.value })}
      />
      <KindField
        value={person.walletKind}
        error={errorOf('walletKind')}
        onChange={(walletKind) => onChange({ walletKind: walletKind || 'key' })}
      />
      {onRemove ? (
        <div>
          <Button look="quiet" onClick={onRemove}>
            Remove new member {index + 1}
          </Button>
        </div>
      ) : null}
    </fieldset>
  );
}

function KindField({
  value,
  keep = false,
  error,
  onChange,
}: {
  readonly value: Schema['WalletKind'] | '';
  /** Whether it can stay as it is. */
  readonly keep?: boolean;
  readonly error: string | undefined;
  readonly onChange: (kind: Schema['WalletKind'] | '') => void;
}) {
  return (
    <SelectField
      label="Wallet kind"
      value={value}
      error={error}
      onChange={({ target }) => onChange(target.value as Schema['WalletKind'] | '')}
    >
      {keep ? <option value="">unchanged</option> : null}
      <option value="key">key (ECDSA)</option>
      <option value="contract">contract (EIP-1271)</option>
    </SelectField>
  );
}

function Form({ organization }: { readonly organization: Organization }) {
  const [draft, change, forget] = useDraft('members', EMPTY);
  const proposal = useProposal(forget);
  const { errors } = proposal;
  useTarget(ACTIONS, ({ action, id }) =>
    change({ ...(action ? { action } : {}), ...(id ? { id, removed: [id] } : {}) }),
  );
  const { action, people, removed } = draft;
  const member = organization.members.find(({ id }) => id === draft.id);
  return (
    <ProposalForm proposal={proposal} intent={intentOf(draft)}>
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
          {people.map((person, index) => (
            <NewPerson
              key={index.toString()}
              person={person}
              index={index}
              errors={errors}
              onChange={(fields) =>
                change({ people: people.map((one, i) => (i === index ? { ...one, ...fields } : one)) })
              }
              onRemove={
                people.length > 1 ? () => change({ people: people.filter((_, i) => i !== index) }) : undefined
              }
            />
          ))}
          <div>
            <Button onClick={() => change({ people: [...people, NOBODY] })}>Add another member</Button>
          </div>
        </>
      ) : null}
      {action === 'update' ? (
        <>
          <SelectField
            label="Member"
            value={draft.id}
            error={errors['items[0].id']}
            onChange={({ target }) => change({ id: target.value })}
          >
            <option value="">Choose a member</option>
            {organization.members.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </SelectField>
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
            error={notAddress(draft.walletAddress) ?? errors['items[0].walletAddress']}
            onChange={({ target }) => change({ walletAddress: target.value })}
          />
          <KindField
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
          error={errors.ids ?? errors['ids[0]']}
          onChange={(next) => change({ removed: next })}
        />
      ) : null}
    </ProposalForm>
  );
}

/** Proposes changes of the members. */
export function MembersPage() {
  return (
    <WithOrganization
      title="New proposal: members"
      lead="Who belongs to the organization, and the wallet that each signs with."
    >
      {(organization) => <Form organization={organization} />}
    </WithOrganization>
  );
}
