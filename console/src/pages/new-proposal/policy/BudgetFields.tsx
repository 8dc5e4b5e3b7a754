import { CheckField, TextField } from '../../../ui/Field.tsx';
import { type FieldsProps, PolicyPart } from './PolicyPart.tsx';

/** How much within a window. */
export function BudgetFields({ draft, errors, change }: FieldsProps) {
  const apart = [
    ['perInitiator', 'initiator'],
    ['perAccount', 'account'],
    ['perDestination', 'destination (recipient or contract)'],
  ] as const;
  return (
    <PolicyPart title="Budget">
      <CheckField
        label="Limit what is permitted within a time window"
        hint="The amount threshold in total; one execution where there is none."
        checked={draft.hasBudget}
        onChange={({ target }) => change({ hasBudget: target.checked })}
      />
      {draft.hasBudget ? (
        <>
          <TextField
            label="Hours"
            hint="Length of the window, which moves with time."
            inputMode="numeric"
            value={draft.hours}
            error={errors.hours}
            onChange={({ target }) => change({ hours: target.value })}
          />
          {apart.map(([field, item]) => (
            <CheckField
              key={field}
              label={`Separate budget for each ${item}`}
              checked={draft[field]}
              onChange={({ target }) => change({ [field]: target.checked })}
            />
          ))}
        </>
      ) : null}
    </PolicyPart>
  );
}
