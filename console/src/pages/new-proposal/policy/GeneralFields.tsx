import { FormCheck, FormCheckList, FormRecord, FormText } from '../../../ui/formFields.tsx';
import { type FieldsProps, PolicyPart } from './PolicyPart.tsx';

/** Name, network, accounts. */
export function GeneralFields({ form, draft, organization }: FieldsProps) {
  return (
    <PolicyPart title="Policy">
      <FormText form={form} name="name" label="Name" />
      <FormText form={form} name="description" label="Description (optional)" />
      <FormRecord
        form={form}
        name="networkId"
        label="Network"
        none="Choose a network"
        records={organization.networks}
      />
      <FormCheck form={form} name="anyAccount" label="Any account, including future ones" />
      {draft.anyAccount ? null : (
        <FormCheckList
          form={form}
          name="accountIds"
          label="Accounts"
          empty="There are no accounts."
          options={organization.accounts.map(({ id, name, address }) => ({ id, name, hint: address }))}
        />
      )}
    </PolicyPart>
  );
}
