import type { Organization } from '../../../api/useOrganization.ts';
import { ANYBODY, NOBODY } from '../../../domain/policyDraft.ts';
import { FormCheck, FormSelect, FormText } from '../../../ui/formFields.tsx';
import { type FieldsProps, PolicyPart } from './PolicyPart.tsx';

function PeopleSelect({
  form,
  name,
  label,
  none,
  other,
  organization,
}: Pick<FieldsProps, 'form'> & {
  readonly name: 'initiator' | 'approver';
  readonly label: string;
  /** What is shown while nothing is chosen. */
  readonly none: string;
  /** What else can be chosen. */
  readonly other: { readonly id: string; readonly name: string };
  readonly organization: Organization;
}) {
  return (
    <FormSelect form={form} name={name} label={label}>
      <option value="">{none}</option>
      <option value={other.id}>{other.name}</option>
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
    </FormSelect>
  );
}

/** Who initiates and who approves. */
export function SettingFields({ form, draft, organization }: FieldsProps) {
  const people = { form, organization };
  return (
    <PolicyPart title="Initiator and approver">
      <PeopleSelect
        {...people}
        name="initiator"
        label="Initiator"
        none="Choose who initiates"
        other={{ id: ANYBODY, name: 'any member' }}
      />
      <PeopleSelect
        {...people}
        name="approver"
        label="Approver"
        none="Choose who approves"
        other={{ id: NOBODY, name: "nobody: the initiator's signature is enough" }}
      />
      {draft.approver.startsWith('grp_') ? (
        <FormText form={form} name="threshold" label="Threshold" inputMode="numeric" />
      ) : null}
      {draft.approver === '' || draft.approver === NOBODY ? null : (
        <FormCheck form={form} name="excludeInitiator" label="Exclude the initiator from approving" />
      )}
    </PolicyPart>
  );
}
