import type { OperationIntent, Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { adminsQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { membershipUpdates } from '../../domain/membership.ts';
import { useDraft } from '../../state/drafts.ts';
import { errorWithin } from '../../text/errors.ts';
import { CheckList } from '../../ui/Choices.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Loaded } from '../../ui/States.tsx';
import { ProposalForm } from './ProposalForm.tsx';
import { ProposalPage } from './ProposalPage.tsx';
import { useProposal } from './useProposal.ts';

const EMPTY = { members: null as readonly string[] | null, threshold: '' };

function Form({
  organization,
  admins,
}: {
  readonly organization: Organization;
  readonly admins: Schema['Admins'];
}) {
  const [draft, change, forget] = useDraft('admins', EMPTY);
  const proposal = useProposal(forget);
  const { errors } = proposal;
  const present = admins.members.map(({ id }) => id);
  const chosen = draft.members ?? present;
  const typed = draft.threshold === '' ? String(admins.threshold) : draft.threshold;
  const updates = membershipUpdates(present, chosen);
  const threshold = Number(typed);
  const isValid = /^\d+$/.test(typed) && threshold >= 1 && threshold <= chosen.length;
  const isChanged = updates.length > 0 || threshold !== admins.threshold;
  const intent: OperationIntent | undefined =
    isValid && isChanged ? { type: 'admins.update', updates, threshold } : undefined;
  const people = organization.members.filter(({ id, type }) => chosen.includes(id) && type === 'user').length;
  return (
    <ProposalForm proposal={proposal} intent={intent}>
      <CheckList
        label="Admins"
        empty="There are no members."
        options={organization.members.map(({ id, name, type, walletAddress }) => ({
          id,
          name: type === 'api' ? `${name} (bot)` : name,
          hint: walletAddress,
        }))}
        chosen={chosen}
        error={errorWithin(errors, 'updates')}
        onChange={(members) => change({ members })}
      />
      <TextField
        label="Threshold"
        inputMode="numeric"
        value={typed}
        hint={`Now: ${admins.threshold} of ${admins.members.length}`}
        error={isValid ? errors.threshold : `Invalid threshold (expected 1 to ${chosen.length})`}
        onChange={({ target }) => change({ threshold: target.value })}
      />
      {isValid && threshold >= people ? (
        <Notice tone="warning" title="One lost wallet could block all proposals">
          <p>
            {threshold} of {people} people have to approve. If fewer of them have their wallets, no proposal
            can be executed, not even one that changes the admins.
          </p>
        </Notice>
      ) : null}
    </ProposalForm>
  );
}

/** Proposes who the admins are. */
export function AdminsProposalPage() {
  const admins = useQuery(adminsQuery);
  return (
    <ProposalPage
      title="New proposal: admins"
      lead="The members who approve proposals, and how many approvals a proposal needs."
    >
      {(organization) => (
        <Loaded query={admins} what="the admins">
          {(data) => <Form organization={organization} admins={data} />}
        </Loaded>
      )}
    </ProposalPage>
  );
}
