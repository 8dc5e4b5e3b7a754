import type { OperationIntent } from '@orgwallet/client';
import type { Organization } from '../../api/useOrganization.ts';
import { draftOf, NO_POLICY, type PolicyDraft, policyOf } from '../../domain/policyDraft.ts';
import { type DraftErrors, draftErrors } from '../../domain/policyDraftErrors.ts';
import { useDraft } from '../../state/drafts.ts';
import { errorWithin } from '../../text/errors.ts';
import { CheckList, RadioGroup } from '../../ui/Choices.tsx';
import { RecordField } from '../../ui/Field.tsx';
import { ProposalForm } from './ProposalForm.tsx';
import { ProposalPage } from './ProposalPage.tsx';
import { BudgetFields } from './policy/BudgetFields.tsx';
import { ConditionFields } from './policy/ConditionFields.tsx';
import { GeneralFields } from './policy/GeneralFields.tsx';
import { SettingFields } from './policy/SettingFields.tsx';
import { useProposal } from './useProposal.ts';
import { useTarget } from './useTarget.ts';

const ACTIONS = ['create', 'update', 'remove'] as const;
type Action = (typeof ACTIONS)[number];
const EMPTY = { ...NO_POLICY, action: 'create' as Action, removed: [] as readonly string[] };
type Draft = typeof EMPTY & PolicyDraft;

const NATIVE_DECIMALS = 18;
const decimalsOn = (networkId: number | string, { networks }: Organization) =>
  networks.find(({ id }) => String(id) === String(networkId))?.nativeAsset.decimals ?? NATIVE_DECIMALS;

/** The fields of this form, by the paths of the service. */
const PLACES: readonly (readonly [path: RegExp, field: string])[] = [
  [/^tokenTransferCondition\.tokenAddress/, 'token'],
  [/^tokenTransferCondition\.tokenDecimals/, 'decimals'],
  [/^tokenTransferCondition\.amountThreshold/, 'amount'],
  [/^tokenTransferCondition\.destinationAddresses/, 'destinations'],
  [/^contractInteractionCondition\[(\d+)\]\.allowedFunctions/, 'rules[$1].functions'],
  [/^contractInteractionCondition\[(\d+)\]\.(\w+)/, 'rules[$1].$2'],
  [/^approverSetting\.threshold/, 'threshold'],
  [/^approverSetting/, 'approver'],
  [/^initiatorSetting/, 'initiator'],
  [/^limitation/, 'hours'],
  [/^(\w+).*/, '$1'],
];

function shownErrors(errors: { readonly [path: string]: string }): { readonly [field: string]: string } {
  return Object.fromEntries(
    Object.entries(errors).map(([path, message]) => {
      const below = path.replace(/^policies\[0\]\./, '');
      const [pattern, field = below] = PLACES.find(([one]) => one.test(below)) ?? [];
      const [found = below] = pattern?.exec(below) ?? [];
      return [pattern ? found.replace(pattern, field) : below, message];
    }),
  );
}

/** Fields without which there is no policy, as the form labels them. */
const REQUIRED = {
  name: 'name',
  networkId: 'network',
  accountIds: 'accounts',
  amount: 'amount threshold',
} as const;

function missingIn(draft: Draft, errors: DraftErrors): readonly string[] {
  return Object.entries(REQUIRED).flatMap(([field, label]) =>
    field in errors && draft[field as keyof typeof REQUIRED].length === 0 ? [label] : [],
  );
}

function intentOf(draft: Draft, decimals: number): OperationIntent | undefined {
  const { action, removed, id } = draft;
  if (action === 'remove') {
    return removed.length > 0 ? { type: 'policies.remove', policyIds: [...removed] } : undefined;
  }
  if (Object.keys(draftErrors(draft, decimals)).length > 0) return undefined;
  if (action === 'create') {
    return { type: 'policies.add', policies: [policyOf({ ...draft, id: '' }, decimals)] };
  }
  return id ? { type: 'policies.update', policies: [{ ...policyOf(draft, decimals), id }] } : undefined;
}

function Form({ organization }: { readonly organization: Organization }) {
  const [draft, change, forget] = useDraft<Draft>('policies', EMPTY);
  const proposal = useProposal(forget);
  const load = (id: string) => {
    const policy = organization.policies.find((one) => one.id === id);
    change(policy ? draftOf(policy, decimalsOn(policy.networkId, organization)) : { id: '' });
  };
  useTarget(ACTIONS, ({ action, id }) => {
    change({ action, ...(id ? { removed: [id] } : {}) });
    if (action === 'update' && id) load(id);
  });
  const { action } = draft;
  const decimals = decimalsOn(draft.networkId, organization);
  const typed = draftErrors(draft, decimals);
  const shown = Object.fromEntries(Object.entries(typed).filter(([, message]) => message !== 'Missing'));
  const props = {
    draft,
    organization,
    change,
    errors: { ...shownErrors(proposal.errors), ...shown },
  };
  const isTyped = action === 'create' || draft.id !== '';
  return (
    <ProposalForm
      proposal={proposal}
      intent={intentOf(draft, decimals)}
      missing={action !== 'remove' && isTyped ? missingIn(draft, typed) : []}
    >
      <RadioGroup
        label="Action"
        value={action}
        options={[
          { value: 'create', label: 'Add a policy' },
          { value: 'update', label: 'Change a policy' },
          { value: 'remove', label: 'Remove policies' },
        ]}
        onChange={(next) => change({ action: next, id: '' })}
      />
      {action === 'update' ? (
        <RecordField
          label="Policy"
          none="Choose a policy"
          records={organization.policies}
          value={draft.id}
          error={props.errors.id}
          onChange={load}
        />
      ) : null}
      {action === 'remove' ? (
        <CheckList
          label="Policies to remove"
          empty="There are no policies."
          options={organization.policies.map(({ id, name }) => ({ id, name }))}
          chosen={draft.removed}
          error={errorWithin(proposal.errors, 'policyIds')}
          onChange={(removed) => change({ removed })}
        />
      ) : null}
      {action !== 'remove' && isTyped ? (
        <>
          <GeneralFields {...props} />
          <ConditionFields {...props} />
          <SettingFields {...props} />
          <BudgetFields {...props} />
        </>
      ) : null}
    </ProposalForm>
  );
}

/** Proposes changes of the policies. */
export function PoliciesProposalPage() {
  return (
    <ProposalPage
      title="New proposal: policies"
      lead="Which transactions are permitted, and who approves them. Policies are alternatives: a stricter one does not restrict a looser one."
    >
      {(organization) => <Form organization={organization} />}
    </ProposalPage>
  );
}
