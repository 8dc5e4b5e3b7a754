import { isAddress } from 'viem';
import type { Organization } from '../../api/useOrganization.ts';
import { chosenOf } from '../../domain/chosen.ts';
import { RecordField, TextField } from '../../ui/Field.tsx';
import formStyles from '../../ui/form.module.css';

/** What every transaction says: where it comes from, and what it is for. */
export interface Source {
  readonly accountId: string;
  readonly networkId: string;
  readonly description: string;
  /** The failed transaction that it replaces, or empty. */
  readonly replaces: string;
}

export const NO_SOURCE: Source = { accountId: '', networkId: '', description: '', replaces: '' };

/** The account and network that are chosen; where there is no choice, the only one. */
export function sourceOf(
  { accountId, networkId }: Pick<Source, 'accountId' | 'networkId'>,
  { accounts, networks }: Pick<Organization, 'accounts' | 'networks'>,
) {
  const account = chosenOf(accounts, accountId);
  const possible = networks.filter(({ id }) => account?.networks.some((one) => one.id === id));
  return { account, network: chosenOf(possible, networkId), possible };
}

/** What of the source and the recipient has to be filled in yet, as the form labels it. */
export function missingOf(
  to: string,
  organization: Organization,
  source: Source,
  recipient = 'contract',
): readonly string[] {
  const { account, network } = sourceOf(source, organization);
  return [
    ...(account ? [] : ['account']),
    ...(network ? [] : ['network']),
    ...(isAddress(to.trim()) ? [] : [recipient]),
  ];
}

/** The account and the network. */
export function SourceFields({
  source,
  organization,
  errors,
  onChange,
}: {
  readonly source: Source;
  readonly organization: Organization;
  readonly errors: { readonly [field: string]: string };
  readonly onChange: (fields: Partial<Source>) => void;
}) {
  const { account, network, possible } = sourceOf(source, organization);
  return (
    <div className={formStyles.formPair}>
      <RecordField
        label="Account"
        none="Choose an account"
        records={organization.accounts}
        value={account?.id ?? ''}
        error={errors.accountId}
        required
        onChange={(accountId) => onChange({ accountId, networkId: '' })}
      />
      <RecordField
        label="Network"
        none="Choose a network"
        records={possible}
        value={network ? String(network.id) : ''}
        error={errors.networkId}
        required
        disabled={!account}
        hint={account ? undefined : 'Choose an account first.'}
        onChange={(networkId) => onChange({ networkId })}
      />
    </div>
  );
}

interface FieldProps {
  readonly source: Source;
  readonly errors: { readonly [field: string]: string };
  readonly onChange: (fields: Partial<Source>) => void;
}

/** The failed transaction that this one stands for: there only for who comes from it. */
export function ReplacesField({ source, errors, onChange }: FieldProps) {
  if (!source.replaces) return null;
  return (
    <TextField
      label="Replaces the failed transaction (optional)"
      value={source.replaces}
      error={errors.replaces}
      onChange={({ target }) => onChange({ replaces: target.value })}
    />
  );
}

/** What the transaction is for. */
export function DescriptionField({ source, errors, onChange }: FieldProps) {
  return (
    <TextField
      label="Description (optional)"
      hint="What it is for. Shown to approvers; not part of what is signed."
      value={source.description}
      error={errors.description}
      maxLength={500}
      onChange={({ target }) => onChange({ description: target.value })}
    />
  );
}
