import { useQuery } from '@tanstack/react-query';
import { balancesQuery } from '../../../api/queries.ts';
import { NATIVE_CURRENCY, sendableOn } from '../../../domain/assets.ts';
import { SelectField } from '../../../ui/Field.tsx';
import formStyles from '../../../ui/form.module.css';
import { FormCheck, FormText, FormTextArea } from '../../../ui/formFields.tsx';
import type { FieldsProps } from './PolicyPart.tsx';

/** Of a token whose address is not typed yet: an empty one would be any token. */
const NO_ADDRESS = '0x';

/** What a transfer may send: a token, the native currency, or any of them. */
function TokenFields({ form, draft, organization }: FieldsProps) {
  const { change } = form;
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
    change(
      asset ? { token: value, decimals: String(asset.decimals ?? '') } : { token: NO_ADDRESS, decimals: '' },
    );
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
          <FormText
            form={form}
            name="token"
            label="Token address"
            className="mono"
            untyped={NO_ADDRESS}
            read={(typed) => typed || NO_ADDRESS}
          />
          <FormText
            form={form}
            name="decimals"
            label="Token decimals"
            hint="Compared with what the token reports."
            inputMode="numeric"
          />
        </div>
      ) : null}
    </>
  );
}

/** What transfers are permitted. */
export function TransferFields(props: FieldsProps) {
  const { form, draft } = props;
  return (
    <>
      <TokenFields {...props} />
      {draft.token === '' ? null : (
        <>
          <FormCheck form={form} name="anyAmount" label="Any amount, WITHOUT LIMIT" />
          {draft.anyAmount ? null : (
            <FormText
              form={form}
              name="amount"
              label="Amount threshold"
              hint="The most that one transfer may send, and the budget below if there is one."
              inputMode="decimal"
            />
          )}
        </>
      )}
      <FormCheck form={form} name="anyDestination" label="Any recipient" />
      {draft.anyDestination ? null : (
        <FormTextArea
          form={form}
          name="destinations"
          label="Recipients"
          hint="One address per line."
          className="mono"
          spellCheck={false}
        />
      )}
    </>
  );
}
