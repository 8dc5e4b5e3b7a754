import { useQuery } from '@tanstack/react-query';
import { balancesQuery } from '../../../api/queries.ts';
import { NATIVE_CURRENCY, sendableOn } from '../../../domain/assets.ts';
import { CheckField, SelectField, TextArea, TextField } from '../../../ui/Field.tsx';
import formStyles from '../../../ui/form.module.css';
import type { FieldsProps } from './PolicyPart.tsx';

/** What a transfer may send: a token, the native currency, or any of them. */
function TokenFields({ draft, organization, errors, change }: FieldsProps) {
  const network = organization.networks.find(({ id }) => String(id) === draft.networkId);
  // The balances of any account there have every token of the service's list, with its decimals.
  const account = organization.accounts.find(({ networks }) => networks.some(({ id }) => id === network?.id));
  const { data: balances = [] } = useQuery({ ...balancesQuery(account?.id ?? ''), enabled: !!account });
  if (!network) {
    return (
      <SelectField label="Token" disabled>
        <option>Choose a network first</option>
      </SelectField>
    );
  }
  const known = sendableOn(network, balances, organization.policies);
  const isKnown = known.some(({ tokenAddress }) => tokenAddress === draft.token);
  const chosen = draft.token === '' ? 'any' : isKnown ? draft.token : 'other';
  const choose = (value: string) => {
    if (value === 'any') return change({ token: '' });
    const asset = known.find(({ tokenAddress }) => tokenAddress === value);
    change(asset ? { token: value, decimals: String(asset.decimals ?? '') } : { token: '0x', decimals: '' });
  };
  return (
    <>
      <SelectField label="Token" value={chosen} onChange={({ target }) => choose(target.value)}>
        {known.map(({ tokenAddress, symbol }) => (
          <option key={tokenAddress} value={tokenAddress}>
            {symbol} {tokenAddress === NATIVE_CURRENCY ? '(native currency)' : `(${tokenAddress})`}
          </option>
        ))}
        <option value="other">another token</option>
        <option value="any">any token or the native currency</option>
      </SelectField>
      {chosen === 'other' ? (
        <div className={formStyles.formPair}>
          <TextField
            label="Token address"
            className="mono"
            value={draft.token}
            error={draft.token === '0x' ? undefined : errors.token}
            onChange={({ target }) => change({ token: target.value || '0x' })}
          />
          <TextField
            label="Token decimals"
            hint="Compared with what the token reports."
            inputMode="numeric"
            value={draft.decimals}
            error={errors.decimals}
            onChange={({ target }) => change({ decimals: target.value })}
          />
        </div>
      ) : null}
    </>
  );
}

/** What transfers are permitted. */
export function TransferFields(props: FieldsProps) {
  const { draft, errors, change } = props;
  return (
    <>
      <TokenFields {...props} />
      {draft.token === '' ? null : (
        <>
          <CheckField
            label="Any amount, WITHOUT LIMIT"
            checked={draft.anyAmount}
            onChange={({ target }) => change({ anyAmount: target.checked })}
          />
          {draft.anyAmount ? null : (
            <TextField
              label="Amount threshold"
              hint="The most that one transfer may send, and the budget below if there is one."
              inputMode="decimal"
              value={draft.amount}
              error={draft.amount === '' ? undefined : errors.amount}
              onChange={({ target }) => change({ amount: target.value })}
            />
          )}
        </>
      )}
      <CheckField
        label="Any recipient"
        checked={draft.anyDestination}
        onChange={({ target }) => change({ anyDestination: target.checked })}
      />
      {draft.anyDestination ? null : (
        <TextArea
          label="Recipients"
          hint="One address per line."
          className="mono"
          spellCheck={false}
          value={draft.destinations}
          error={errors.destinations}
          onChange={({ target }) => change({ destinations: target.value })}
        />
      )}
    </>
  );
}
