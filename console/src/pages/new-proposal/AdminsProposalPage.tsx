import type { Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { adminsQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { faultsOfIntent } from '../../contract/bodies.ts';
import { membershipUpdates } from '../../domain/membership.ts';
import { FormCheckList, FormText } from '../../ui/formFields.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Loaded } from '../../ui/States.tsx';
import { ProposalForm } from './ProposalForm.tsx';
import { ProposalPage } from './ProposalPage.tsx';
import { useProposalForm } from './useProposalForm.ts';

const EMPTY = { members: null as readonly string[] | null, threshold: '' };

function Form({
  organization,
  admins,
}: {
  readonly organization: Organization;
  readonly admins: Schema['Admins'];
}) {
  const present = admins.members.map(({ id }) => id);
  const chosenIn = ({ members }: typeof EMPTY) => members ?? present;
  const thresholdIn = (draft: typeof EMPTY) => Number(draft.threshold || admins.threshold);
  const form = useProposalForm('admins', {
    empty: EMPTY,
    intentOf: (draft) => {
      const updates = membershipUpdates(present, chosenIn(draft));
      const threshold = thresholdIn(draft);
      const isChanged = updates.length > 0 || threshold !== admins.threshold;
      return isChanged ? { type: 'admins.update', updates, threshold } : undefined;
    },
    faultsOf: faultsOfIntent,
    ownFaults: (draft) => {
      const most = chosenIn(draft).length;
      return /^\d*$/.test(draft.threshold) && thresholdIn(draft) <= most && thresholdIn(draft) >= 1
        ? {}
        : { threshold: `Invalid threshold (expected 1 to ${most})` };
    },
    places: () => [[/^updates.*/, 'members']],
    labels: () => [],
  });
  const chosen = chosenIn(form.draft);
  const threshold = thresholdIn(form.draft);
  const people = organization.members.filter(({ id, type }) => chosen.includes(id) && type === 'user').length;
  return (
    <ProposalForm form={form}>
      <FormCheckList
        form={form}
        name="members"
        label="Admins"
        empty="There are no members."
        options={organization.members.map(({ id, name, type, walletAddress }) => ({
          id,
          name: type === 'api' ? `${name} (bot)` : name,
          hint: walletAddress,
        }))}
        whileUntouched={present}
      />
      <FormText
        form={form}
        name="threshold"
        label="Threshold"
        inputMode="numeric"
        whileEmpty={String(admins.threshold)}
        hint={`Now: ${admins.threshold} of ${admins.members.length}`}
      />
      {!form.faults.threshold && threshold >= people ? (
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
