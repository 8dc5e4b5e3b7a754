import { CheckList } from '../../../ui/Choices.tsx';
import { CheckField, RecordField, TextField } from '../../../ui/Field.tsx';
import { type FieldsProps, PolicyPart } from './PolicyPart.tsx';

/** Name, network, accounts. */
export function GeneralFields({ draft, organization, errors, change }: FieldsProps) {
  return (
    <PolicyPart title="Policy">
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
      <RecordField
        label="Network"
        none="Choose a network"
        records={organization.networks}
        value={draft.networkId}
        error={errors.networkId}
        onChange={(networkId) => change({ networkId })}
      />
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
    </PolicyPart>
  );
}
