import { NO_RULE, type PolicyDraft } from '../../../domain/policyDraft.ts';
import { Button } from '../../../ui/Button.tsx';
import { CheckField, TextArea, TextField } from '../../../ui/Field.tsx';
import type { FieldsProps } from './PolicyPart.tsx';

/** What contract interactions are permitted. */
export function RuleFields({ draft, errors, change }: FieldsProps) {
  const { rules } = draft;
  const edit = (index: number, fields: Partial<PolicyDraft['rules'][number]>) =>
    change({ rules: rules.map((rule, i) => (i === index ? { ...rule, ...fields } : rule)) });
  return (
    <>
      <CheckField
        label="Any contract, WITHOUT LIMIT"
        hint="Except restricted functions: those that grant or move assets or rights, or carry calls."
        checked={draft.anyContract}
        onChange={({ target }) => change({ anyContract: target.checked })}
      />
      {draft.anyContract
        ? null
        : rules.map((rule, index) => (
            <fieldset key={index.toString()} className="stack-small">
              <legend>Contract {index + 1}</legend>
              <TextField
                label="Contract address"
                className="mono"
                value={rule.contractAddress}
                error={rule.contractAddress === '' ? undefined : errors[`rules[${index}].contractAddress`]}
                onChange={({ target }) => edit(index, { contractAddress: target.value })}
              />
              <CheckField
                label="Any function, WITHOUT LIMIT"
                hint="Except restricted functions."
                checked={rule.anyFunction}
                onChange={({ target }) => edit(index, { anyFunction: target.checked })}
              />
              {rule.anyFunction ? null : (
                <TextArea
                  label="Allowed functions"
                  hint="One per line, such as mint(address,uint256) or 0x40c10f19."
                  className="mono"
                  spellCheck={false}
                  value={rule.functions}
                  error={errors[`rules[${index}].functions`]}
                  onChange={({ target }) => edit(index, { functions: target.value })}
                />
              )}
              <TextField
                label="Maximum value of a call, in native currency"
                inputMode="decimal"
                value={rule.maxValue}
                error={errors[`rules[${index}].maxValue`]}
                onChange={({ target }) => edit(index, { maxValue: target.value })}
              />
              {rules.length > 1 ? (
                <div>
                  <Button look="quiet" onClick={() => change({ rules: rules.filter((_, i) => i !== index) })}>
                    Remove contract {index + 1}
                  </Button>
                </div>
              ) : null}
            </fieldset>
          ))}
      {draft.anyContract ? null : (
        <div>
          <Button onClick={() => change({ rules: [...rules, NO_RULE] })}>Add another contract</Button>
        </div>
      )}
    </>
  );
}
