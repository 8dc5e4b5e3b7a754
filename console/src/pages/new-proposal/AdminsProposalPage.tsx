import type { Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { adminsQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { faultsOfIntent } from '../../contract/bodies.ts';
import { membershipUpdates } from '../../domain/membership.ts';
import { AdminSetWarnings } from '../../ui/AdminSetWarnings.tsx';
import { FormCheck, FormCheckList, FormText } from '../../ui/formFields.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Loaded } from '../../ui/States.tsx';
import { ProposalForm } from './ProposalForm.tsx';
import { ProposalPage } from './ProposalPage.tsx';
import { useProposalForm } from './useProposalForm.ts';

interface Draft {
  readonly members: readonly string[] | null;
  readonly threshold: string;
  readonly onChain: boolean;
}

function Form({
  organization,
  admins,
}: {
  readonly organization: Organization;
  readonly admins: Schema['Admins'];
}) {
  const present = admins.members.map(({ id }) => id);
  const { enabled } = admins.onChain;
  const chosenIn = ({ members }: Draft) => members ?? present;
  const thresholdIn = (draft: Draft) => Number(draft.threshold || admins.threshold);
  const form = useProposalForm<Draft>('admins', {
    empty: { members: null, threshold: '', onChain: enabled },
    intentOf: (draft) => {
      const updates = membershipUpdates(present, chosenIn(draft));
      const threshold = thresholdIn(draft);
      const isSwitched = draft.onChain !== enabled;
      const isChanged = updates.length > 0 || threshold !== admins.threshold || isSwitched;
      const onChain = isSwitched ? { onChain: { enabled: draft.onChain } } : {};
      return isChanged ? { type: 'admins.update', updates, threshold, ...onChain } : undefined;
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
  const members = organization.members.filter(({ id }) => chosen.includes(id));
  const people = members.filter(({ type }) => type === 'user').length;
  const { onChain } = form.draft;
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
      <FormCheck
        form={form}
        name="onChain"
        label="The admins can take the accounts over without this service"
        hint="Their wallets own a Safe on each network, which is a module of every account. As many as the threshold can move all money at any time, and nothing here can stop them."
      />
      {!form.faults.threshold && onChain ? <AdminSetWarnings admins={{ members, threshold }} /> : null}
      {enabled && !onChain ? (
        <Notice tone="danger" title="Without this service nobody will be able to move the money">
          <p>
            The Safes stay as they are, but no later change of the admins reaches them: those who are removed
            later keep their power there.
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
