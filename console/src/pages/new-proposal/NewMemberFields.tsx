import type { Bound } from '../../state/useForm.ts';
import { Button } from '../../ui/Button.tsx';
import formStyles from '../../ui/form.module.css';
import { FormSelect, FormText } from '../../ui/formFields.tsx';
import type { MembersDraft, NewMember } from './membersDraft.ts';
import { WalletKindField } from './WalletKindField.tsx';

/** The fields of one new member. */
export function NewMemberFields({
  form,
  index,
  onRemove,
}: {
  readonly form: Bound<MembersDraft>;
  readonly index: number;
  readonly onRemove: (() => void) | undefined;
}) {
  const name = <Field extends keyof NewMember>(field: Field) => `members.${index}.${field}` as const;
  return (
    <fieldset className={formStyles.formItem}>
      <legend>New member {index + 1}</legend>
      <div className={formStyles.formPair}>
        <FormText form={form} name={name('name')} label="Name" />
        <FormSelect form={form} name={name('type')} label="Type">
          <option value="user">person</option>
          <option value="api">bot</option>
        </FormSelect>
      </div>
      <FormText form={form} name={name('walletAddress')} label="Wallet address" className="mono" />
      <WalletKindField form={form} name={name('walletKind')} />
      {onRemove ? (
        <div>
          <Button look="quiet" onClick={onRemove}>
            Remove new member {index + 1}
          </Button>
        </div>
      ) : null}
    </fieldset>
  );
}
