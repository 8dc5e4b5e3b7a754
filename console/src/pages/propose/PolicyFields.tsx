import type { ReactNode } from 'react';
import { NATIVE_CURRENCY, sendableOn } from '../../text/assets.ts';
import { NO_RULE, type PolicyDraft } from '../../text/policyDraft.ts';
import { Button } from '../../ui/Button.tsx';
import { CheckList, RadioGroup } from '../../ui/Choices.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../ui/Field.tsx';
import type { Organization } from '../../useOrganization.ts';

export interface FieldsProps {
  readonly draft: PolicyDraft;
  readonly organization: Organization;
  /** What is wrong, by the field of the draft. */
  readonly errors: { readonly [field: string]: string };
  readonly change: (fields: Partial<PolicyDraft>) => void;
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <fieldset className="form-item">
      <legend>{title}</legend>
      {children}
    </fieldset>
  );
}

function PeopleSelect({
  label,
  nobody,
  value,
  organization,
  error,
  onChange,
}: {
  readonly label: string;
  readonly nobody: string;
  readonly value: string;
  readonly organization: Organization;
  readonly error: string | undefined;
  readonly onChange: (id: string) => void;
}) {
  return (
    <SelectField label={label} value={value} error={error} onChange={({ target }) => onChange(target.value)}>
      <option value="">{nobody}</option>
      <optgroup label="Groups">
        {organization.groups.map(({ id, name, members }) => (
          <option key={id} value={id}>
            {name} ({members.length})
          </option>
        ))}
      </optgroup>
      <optgroup label="Members">
        {organization.members.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </optgroup>
    </SelectField>
  );
}

/** Name, network, accounts. */
export function PlaceFields({ draft, organization, errors, change }: FieldsProps) {
  return (
    <Part title="Policy">
      <TextField
        label="Name"
        value={draft.name}
        error={errors.name}
        onChange={({ target }) => change({ name: target.value })}
      />
      <TextField
        label="Description (optional)"
        value={draft.description}
        error={errors.description}
        onChange={({ target }) => change({ description: target.value })}
      />
      <SelectField
        label="Network"
        value={draft.networkId}
        error={errors.networkId}
        onChange={({ target }) => change({ networkId: target.value })}
      >
        <option value="">Choose a network</option>
        {organization.networks.map(({ id, name }) => (
          <option key={id} value={String(id)}>
            {name}
          </option>
        ))}
      </SelectField>
      <CheckField
        label="Any account, including future ones"
        checked={draft.anyAccount}
        onChange={({ target }) => change({ anyAccount: target.checked })}
      />
      {draft.anyAccount ? null : (
        <CheckList
          label="Accounts"
          empty="There are no accounts."
          options={organization.accounts.map(({ id, name, address }) => ({ id, name, hint: address }))}
          chosen={draft.accountIds}
          error={errors.accountIds}
          onChange={(accountIds) => change({ accountIds })}
        />
      )}
    </Part>
  );
}

function TransferFields({ draft, organization, errors, change }: FieldsProps) {
  const network = organization.networks.find(({ id }) => String(id) === draft.networkId);
  const known = network ? sendableOn(network, [], organization.policies) : [];
  const isKnown = known.some(({ tokenAddress }) => tokenAddress === draft.token);
  const chosen = draft.token === '' ? 'any' : isKnown ? draft.token : 'other';
  const choose = (value: string) => {
    if (value === 'any') return change({ token: '' });
    const asset = known.find(({ tokenAddress }) => tokenAddress === value);
    change(asset ? { token: value, decimals: String(asset.decimals) } : { token: '0x', decimals: '' });
  };
  return (
    <>
      <SelectField
        label="Token"
        value={chosen}
        disabled={!network}
        hint={network ? undefined : 'Choose a network first.'}
        onChange={({ target }) => choose(target.value)}
      >
        {known.map(({ tokenAddress, symbol }) => (
          <option key={tokenAddress} value={tokenAddress}>
            {symbol} {tokenAddress === NATIVE_CURRENCY ? '(native currency)' : `(${tokenAddress})`}
          </option>
        ))}
        <option value="other">another token</option>
        <option value="any">any token or the native currency</option>
      </SelectField>
      {chosen === 'other' ? (
        <div className="form-pair">
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
      <TextArea
        label="Recipients"
        hint="One address per line; empty: any address."
        className="mono"
        spellCheck={false}
        value={draft.destinations}
        error={errors.destinations}
        onChange={({ target }) => change({ destinations: target.value })}
      />
    </>
  );
}

function RuleFields({ draft, errors, change }: FieldsProps) {
  const { rules } = draft;
  const edit = (index: number, fields: Partial<PolicyDraft['rules'][number]>) =>
    change({ rules: rules.map((rule, i) => (i === index ? { ...rule, ...fields } : rule)) });
  return (
    <>
      <CheckField
        label="Any contract, WITHOUT LIMIT"
        hint="Except functions that grant an allowance or move tokens of others."
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
              <TextArea
                label="Allowed functions"
                hint="One per line, such as mint(address,uint256) or 0x40c10f19; empty: any that grants no allowance."
                className="mono"
                spellCheck={false}
                value={rule.functions}
                error={errors[`rules[${index}].functions`]}
                onChange={({ target }) => edit(index, { functions: target.value })}
              />
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

/** What is permitted. */
export function ConditionFields(props: FieldsProps) {
  const { draft, change } = props;
  return (
    <Part title="Permitted transactions">
      <RadioGroup
        label="Transaction type"
        value={draft.transactionType}
        options={[
          { value: 'TOKEN_TRANSFER', label: 'Token transfer, also of native currency' },
          { value: 'CONTRACT_INTERACTION', label: 'Contract interaction' },
          { value: 'ANY', label: 'Any transaction, WITHOUT LIMIT' },
        ]}
        onChange={(transactionType) => change({ transactionType })}
      />
      {draft.transactionType === 'TOKEN_TRANSFER' ? <TransferFields {...props} /> : null}
      {draft.transactionType === 'CONTRACT_INTERACTION' ? <RuleFields {...props} /> : null}
    </Part>
  );
}

/** Who initiates and who approves. */
export function DeciderFields({ draft, organization, errors, change }: FieldsProps) {
  return (
    <Part title="Initiator and approver">
      <PeopleSelect
        label="Initiator"
        nobody="any member"
        value={draft.initiator}
        organization={organization}
        error={errors.initiator}
        onChange={(initiator) => change({ initiator })}
      />
      <PeopleSelect
        label="Approver"
        nobody="nobody: the initiator's signature is enough"
        value={draft.approver}
        organization={organization}
        error={errors.approver}
        onChange={(approver) => change({ approver })}
      />
      {draft.approver.startsWith('grp_') ? (
        <TextField
          label="Threshold"
          inputMode="numeric"
          value={draft.threshold}
          error={errors.threshold}
          onChange={({ target }) => change({ threshold: target.value })}
        />
      ) : null}
      {draft.approver === '' ? null : (
        <CheckField
          label="Exclude the initiator from approving"
          checked={draft.excludeInitiator}
          onChange={({ target }) => change({ excludeInitiator: target.checked })}
        />
      )}
    </Part>
  );
}

/** How much within a window. */
export function BudgetFields({ draft, errors, change }: FieldsProps) {
  const apart = [
    ['perInitiator', 'initiator'],
    ['perAccount', 'account'],
    ['perDestination', 'destination (recipient or contract)'],
  ] as const;
  return (
    <Part title="Budget">
      <CheckField
        label="Limit what is permitted within a time window"
        hint="The amount threshold in total; one execution where there is none."
        checked={draft.hasBudget}
        onChange={({ target }) => change({ hasBudget: target.checked })}
      />
      {draft.hasBudget ? (
        <>
          <TextField
            label="Hours"
            hint="Length of the window, which moves with time."
            inputMode="numeric"
            value={draft.hours}
            error={errors.hours}
            onChange={({ target }) => change({ hours: target.value })}
          />
          {apart.map(([field, item]) => (
            <CheckField
              key={field}
              label={`Separate budget for each ${item}`}
              checked={draft[field]}
              onChange={({ target }) => change({ [field]: target.checked })}
            />
          ))}
        </>
      ) : null}
    </Part>
  );
}
