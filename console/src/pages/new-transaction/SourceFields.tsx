import type { Organization } from '../../api/useOrganization.ts';
import type { Bound } from '../../state/useForm.ts';
import formStyles from '../../ui/form.module.css';
import { FormRecord, FormText } from '../../ui/formFields.tsx';
import { sourceOf, type TransactionDraft } from './transactionDraft.ts';

/** A form of a transaction. */
export type TransactionForm = Bound<TransactionDraft> & {
  readonly draft: TransactionDraft;
  readonly change: (fields: Partial<TransactionDraft>) => void;
};

interface Props {
  readonly form: TransactionForm;
}

/** The account and the network. */
export function SourceFields({ form, organization }: Props & { readonly organization: Organization }) {
  const { account, network, possible } = sourceOf(form.draft, organization);
  return (
    <div className={formStyles.formPair}>
      <FormRecord
        form={form}
        name="accountId"
        label="Account"
        none="Choose an account"
        records={organization.accounts}
        shown={account?.id ?? ''}
        required
        onChoice={() => form.change({ networkId: '' })}
      />
      <FormRecord
        form={form}
        name="networkId"
        label="Network"
        none="Choose a network"
        records={possible}
        shown={network ? String(network.id) : ''}
        required
        disabled={!account}
        hint={account ? undefined : 'Choose an account first.'}
      />
    </div>
  );
}

/** The failed transaction that this one stands for: there only for who comes from it. */
export function ReplacesField({ form }: Props) {
  if (!form.draft.replaces) return null;
  return <FormText form={form} name="replaces" label="Replaces the failed transaction (optional)" />;
}

/** What the transaction is for. */
export function DescriptionField({ form }: Props) {
  return (
    <FormText
      form={form}
      name="description"
      label="Description (optional)"
      hint="What it is for. Shown to approvers; not part of what is signed."
      maxLength={500}
    />
  );
}
