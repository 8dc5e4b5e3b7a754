import { useFieldArray } from 'react-hook-form';
import { NO_RULE } from '../../../domain/policyDraft.ts';
import { Button } from '../../../ui/Button.tsx';
import { FormCheck, FormText, FormTextArea } from '../../../ui/formFields.tsx';
import type { FieldsProps } from './PolicyPart.tsx';

/** The contracts that may be called, one after the other. */
function Rules({ form, draft }: FieldsProps) {
  const { fields, append, remove } = useFieldArray({ control: form.control, name: 'rules' });
  return (
    <>
      {fields.map(({ id }, index) => (
        <fieldset key={id} className="stack-small">
          <legend>Contract {index + 1}</legend>
          <FormText
            form={form}
            name={`rules.${index}.contractAddress`}
            label="Contract address"
            className="mono"
          />
          <FormCheck
            form={form}
            name={`rules.${index}.anyFunction`}
            label="Any function, WITHOUT LIMIT"
            hint="Except restricted functions."
          />
          {draft.rules[index]?.anyFunction ? null : (
            <FormTextArea
              form={form}
              name={`rules.${index}.functions`}
              label="Allowed functions"
              hint="One per line, such as mint(address,uint256) or 0x40c10f19."
              className="mono"
              spellCheck={false}
            />
          )}
          <FormText
            form={form}
            name={`rules.${index}.maxValue`}
            label="Maximum value of a call, in native currency"
            inputMode="decimal"
          />
          {fields.length > 1 ? (
            <div>
              <Button look="quiet" onClick={() => remove(index)}>
                Remove contract {index + 1}
              </Button>
            </div>
          ) : null}
        </fieldset>
      ))}
      <div>
        <Button onClick={() => append(NO_RULE)}>Add another contract</Button>
      </div>
    </>
  );
}

/** What contract interactions are permitted. */
export function RuleFields(props: FieldsProps) {
  return (
    <>
      <FormCheck
        form={props.form}
        name="anyContract"
        label="Any contract, WITHOUT LIMIT"
        hint="Except restricted functions: those that grant or move assets or rights, or carry calls."
      />
      {props.draft.anyContract ? null : <Rules {...props} />}
    </>
  );
}
