import type { OperationIntent } from '@orgwallet/client';
import type { Organization } from '../../api/useOrganization.ts';
import { draftOf, NO_POLICY, type PolicyDraft, policyOf } from '../../domain/policyDraft.ts';
import { type DraftErrors, draftErrors, MISSING } from '../../domain/policyDraftErrors.ts';
import { useDraft } from '../../state/drafts.ts';
import { errorWithin, fieldErrors } from '../../text/errors.ts';
import { CheckList, RadioGroup } from '../../ui/Choices.tsx';
import { RecordField } from '../../ui/Field.tsx';
import formStyles from '../../ui/form.module.css';
import { ProposalForm } from './ProposalForm.tsx';
import { ProposalPage } from './ProposalPage.tsx';
import { BudgetFields } from './policy/BudgetFields.tsx';
import { ConditionFields } from './policy/ConditionFields.tsx';
import { GeneralFields } from './policy/GeneralFields.tsx';
import { PolicyPreview } from './policy/PolicyPreview.tsx';
import { SettingFields } from './policy/SettingFields.tsx';
import { TemplateChoice } from './policy/TemplateChoice.tsx';
import { usePreview } from './policy/usePreview.ts';
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
  destinations: 'recipients',
  initiator: 'initiator',
  approver: 'approver',
} as const;

function missingIn(draft: Draft, errors: DraftErrors): readonly string[] {
  const general = Object.entries(REQUIRED).flatMap(([field, label]) =>
    field in errors && draft[field as keyof typeof REQUIRED].length === 0 ? [label] : [],
  );
  const ofRules = draft.rules.flatMap(({ contractAddress }, i) => [
    ...(contractAddress === '' && errors[`rules[${i}].contractAddress`] ? ['contract address'] : []),
    ...(errors[`rules[${i}].functions`] === MISSING ? ['allowed functions'] : []),
  ]);
  return [...general, ...new Set(ofRules)];
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
  const intent = intentOf(draft, decimals);
  const preview = usePreview(intent);
  const typed = draftErrors(draft, decimals);
  const shown = Object.fromEntries(Object.entries(typed).filter(([, message]) => message !== MISSING));
  const props = {
    draft,
    organization,
    change,
    errors: { ...shownErrors({ ...fieldErrors(preview.query.error), ...proposal.errors }), ...shown },
  };
  const isTyped = action === 'create' || draft.id !== '';
  const form = (
    <ProposalForm
      proposal={proposal}
      intent={intent}
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
      {action === 'create' ? <TemplateChoice organization={organization} onChoice={change} /> : null}
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
  if (action === 'remove') return form;
  return (
    <div className={formStyles.formBeside}>
      {form}
      <PolicyPreview {...preview} />
    </div>
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
