import { FormRadios } from '../../../ui/formFields.tsx';
import { type FieldsProps, PolicyPart } from './PolicyPart.tsx';
import { RuleFields } from './RuleFields.tsx';
import { TransferFields } from './TransferFields.tsx';

/** What is permitted. */
export function ConditionFields(props: FieldsProps) {
  const { form, draft } = props;
  return (
    <PolicyPart title="Permitted transactions">
      <FormRadios
        form={form}
        name="transactionType"
        label="Transaction type"
        options={[
          { value: 'TOKEN_TRANSFER', label: 'Token transfer, also of native currency' },
          { value: 'CONTRACT_INTERACTION', label: 'Contract interaction' },
          { value: 'ANY', label: 'Any transaction, WITHOUT LIMIT' },
        ]}
      />
      {draft.transactionType === 'TOKEN_TRANSFER' ? <TransferFields {...props} /> : null}
      {draft.transactionType === 'CONTRACT_INTERACTION' ? <RuleFields {...props} /> : null}
    </PolicyPart>
  );
}
