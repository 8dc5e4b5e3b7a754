import type { Schema } from '@orgwallet/client';
import { SelectField } from '../../ui/Field.tsx';

/** What verifies the signatures of a wallet. */
export function WalletKindField({
  value,
  keep = false,
  error,
  onChange,
}: {
  readonly value: Schema['WalletKind'] | '';
  /** Whether it can stay as it is. */
  readonly keep?: boolean;
  readonly error: string | undefined;
  readonly onChange: (kind: Schema['WalletKind'] | '') => void;
}) {
  return (
    <SelectField
      label="Wallet kind"
      value={value}
      error={error}
      onChange={({ target }) => onChange(target.value as Schema['WalletKind'] | '')}
    >
      {keep ? <option value="">unchanged</option> : null}
      <option value="key">key (ECDSA)</option>
      <option value="contract">contract (EIP-1271)</option>
    </SelectField>
  );
}
