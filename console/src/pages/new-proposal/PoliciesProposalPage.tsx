import type { Organization } from '../../api/useOrganization.ts';
import { faultsOfPolicies } from '../../contract/policyBodies.ts';
import { placed } from '../../domain/faults.ts';
import { draftOf } from '../../domain/policyDraft.ts';
import { draftFaults } from '../../domain/policyDraftFaults.ts';
import {
  NO_PROPOSAL,
  PLACES,
  POLICY_ACTIONS,
  type PolicyIntent,
  type PolicyProposalDraft,
  policyIntent,
} from '../../domain/policyIntent.ts';
import type { Labels } from '../../state/useForm.ts';
import { fieldErrors } from '../../text/errors.ts';
import formStyles from '../../ui/form.module.css';
import { FormCheckList, FormRadios, FormRecord } from '../../ui/formFields.tsx';
import { ProposalForm } from './ProposalForm.tsx';
import { ProposalPage } from './ProposalPage.tsx';
import { BudgetFields } from './policy/BudgetFields.tsx';
import { ConditionFields } from './policy/ConditionFields.tsx';
import { GeneralFields } from './policy/GeneralFields.tsx';
import { PolicyPreview } from './policy/PolicyPreview.tsx';
import { SettingFields } from './policy/SettingFields.tsx';
import { TemplateChoice } from './policy/TemplateChoice.tsx';
import { usePreview } from './policy/usePreview.ts';
import { useProposalForm } from './useProposalForm.ts';
import { useTarget } from './useTarget.ts';

/** What has to be filled in, as the form labels it and in its order. */
function labelsOf({ action, id, rules }: PolicyProposalDraft): Labels {
  if (action === 'remove' || (action === 'update' && id === '')) return [];
  return [
    ['name', 'name'],
    ['networkId', 'network'],
    ['accountIds', 'accounts'],
    ['amount', 'amount threshold'],
    ['destinations', 'recipients'],
    ...rules.map((_, i) => [`rules.${i}.contractAddress`, 'contract address'] as const),
    ...rules.map((_, i) => [`rules.${i}.functions`, 'allowed functions'] as const),
    ['initiator', 'initiator'],
    ['approver', 'approver'],
  ];
}

function Form({ organization }: { readonly organization: Organization }) {
  const typed = useProposalForm<PolicyProposalDraft, PolicyIntent>('policies', {
    empty: NO_PROPOSAL,
    intentOf: policyIntent,
    faultsOf: faultsOfPolicies,
    ownFaults: (draft) => (draft.action === 'remove' ? {} : draftFaults(draft)),
    places: () => PLACES,
    labels: labelsOf,
  });
  const { draft, change, intent } = typed;
  const preview = usePreview(intent);
  const form = {
    ...typed,
    refused: { ...placed(fieldErrors(preview.query.error), PLACES), ...typed.refused },
  };
  const load = (id: string) => {
    const policy = organization.policies.find((one) => one.id === id);
    if (policy) change(draftOf(policy));
  };
  useTarget(POLICY_ACTIONS, ({ action, id }) => {
    change({ action, ...(id ? { removed: [id] } : {}) });
    if (action === 'update' && id) load(id);
  });
  const { action } = draft;
  const fields = { form, draft, organization };
  const page = (
    <ProposalForm form={form}>
      <FormRadios
        form={form}
        name="action"
        label="Action"
        options={[
          { value: 'create', label: 'Add a policy' },
          { value: 'update', label: 'Change a policy' },
          { value: 'remove', label: 'Remove policies' },
        ]}
        onChoice={() => change({ id: '' })}
      />
      {action === 'create' ? <TemplateChoice organization={organization} onChoice={change} /> : null}
      {action === 'update' ? (
        <FormRecord
          form={form}
          name="id"
          label="Policy"
          none="Choose a policy"
          records={organization.policies}
          onChoice={load}
        />
      ) : null}
      {action === 'remove' ? (
        <FormCheckList
          form={form}
          name="removed"
          label="Policies to remove"
          empty="There are no policies."
          options={organization.policies.map(({ id, name }) => ({ id, name }))}
        />
      ) : null}
      {action === 'create' || (action === 'update' && draft.id !== '') ? (
        <>
          <GeneralFields {...fields} />
          <ConditionFields {...fields} />
          <SettingFields {...fields} />
          <BudgetFields {...fields} />
        </>
      ) : null}
    </ProposalForm>
  );
  if (action === 'remove') return page;
  return (
    <div className={formStyles.formBeside}>
      {page}
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
