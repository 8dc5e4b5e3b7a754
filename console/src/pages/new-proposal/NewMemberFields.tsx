import type { Schema } from '@orgwallet/client';
import { addressError } from '../../domain/address.ts';
import { Button } from '../../ui/Button.tsx';
import { SelectField, TextField } from '../../ui/Field.tsx';
import formStyles from '../../ui/form.module.css';
import { WalletKindField } from './WalletKindField.tsx';

/** A member as they are typed. */
export interface NewMember {
  readonly name: string;
  readonly walletAddress: string;
  readonly type: Schema['MemberType'];
  readonly walletKind: Schema['WalletKind'];
}

export const NO_MEMBER: NewMember = { name: '', walletAddress: '', type: 'user', walletKind: 'key' };

/** The fields of one new member. */
export function NewMemberFields({
  member,
  index,
  errors,
  onChange,
  onRemove,
}: {
  readonly member: NewMember;
  readonly index: number;
  readonly errors: { readonly [field: string]: string };
  readonly onChange: (fields: Partial<NewMember>) => void;
  readonly onRemove: (() => void) | undefined;
}) {
  const errorOf = (field: keyof NewMember) => errors[`items[${index}].${field}`];
  return (
    <fieldset className={formStyles.formItem}>
      <legend>New member {index + 1}</legend>
      <div className={formStyles.formPair}>
        <TextField
          label="Name"
          value={member.name}
          error={errorOf('name')}
          onChange={({ target }) => onChange({ name: target.value })}
        />
        <SelectField
          label="Type"
          value={member.type}
          error={errorOf('type')}
          onChange={({ target }) => onChange({ type: target.value as NewMember['type'] })}
        >
          <option value="user">person</option>
          <option value="api">bot</option>
        </SelectField>
      </div>
      <TextField
        label="Wallet address"
        className="mono"
        value={member.walletAddress}
        error={addressError(member.walletAddress) ?? errorOf('walletAddress')}
        onChange={({ target }) => onChange({ walletAddress: target.value })}
      />
      <WalletKindField
        value={member.walletKind}
        error={errorOf('walletKind')}
        onChange={(walletKind) => onChange({ walletKind: walletKind || 'key' })}
      />
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
