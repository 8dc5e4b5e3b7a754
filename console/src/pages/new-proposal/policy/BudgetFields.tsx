import { FormCheck, FormText } from '../../../ui/formFields.tsx';
import { type FieldsProps, PolicyPart } from './PolicyPart.tsx';

/** What a budget can be apart for. */
const APART = [
  ['perInitiator', 'initiator'],
  ['perAccount', 'account'],
  ['perDestination', 'destination (recipient or contract)'],
] as const;

/** How much within a window. */
export function BudgetFields({ form, draft }: FieldsProps) {
  return (
    <PolicyPart title="Budget">
      <FormCheck
        form={form}
        name="hasBudget"
        label="Limit what is permitted within a time window"
        hint="The amount threshold in total; one execution where there is none."
      />
      {draft.hasBudget ? (
        <>
          <FormText
            form={form}
            name="hours"
            label="Hours"
            hint="Length of the window, which moves with time."
            inputMode="numeric"
          />
          {APART.map(([field, item]) => (
            <FormCheck key={field} form={form} name={field} label={`Separate budget for each ${item}`} />
          ))}
        </>
      ) : null}
    </PolicyPart>
  );
}
