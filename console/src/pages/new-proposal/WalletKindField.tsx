import type { Bound } from '../../state/useForm.ts';
import { FormSelect } from '../../ui/formFields.tsx';
import type { MembersDraft } from './membersDraft.ts';

/** What verifies the signatures of a wallet. */
export function WalletKindField({
  form,
  name,
  keep = false,
}: {
  readonly form: Bound<MembersDraft>;
  readonly name: 'walletKind' | `members.${number}.walletKind`;
  /** Whether it can stay as it is. */
  readonly keep?: boolean;
}) {
  return (
    <FormSelect form={form} name={name} label="Wallet kind">
      {keep ? <option value="">unchanged</option> : null}
      <option value="key">key (ECDSA)</option>
      <option value="contract">contract (EIP-1271)</option>
    </FormSelect>
  );
}
