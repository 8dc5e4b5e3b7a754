import type { Organization } from '../../../api/useOrganization.ts';
import { ANYBODY, NOBODY } from '../../../domain/policyDraft.ts';
import { CheckField, SelectField, TextField } from '../../../ui/Field.tsx';
import { type FieldsProps, PolicyPart } from './PolicyPart.tsx';

function PeopleSelect({
  label,
  none,
  other,
  value,
  organization,
  error,
  onChange,
}: {
  readonly label: string;
  /** What is shown while nothing is chosen. */
  readonly none: string;
  /** What else can be chosen. */
  readonly other: { readonly id: string; readonly name: string };
  readonly value: string;
  readonly organization: Organization;
  readonly error: string | undefined;
  readonly onChange: (id: string) => void;
}) {
  return (
    <SelectField label={label} value={value} error={error} onChange={({ target }) => onChange(target.value)}>
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
    </SelectField>
  );
}

/** Who initiates and who approves. */
export function SettingFields({ draft, organization, errors, change }: FieldsProps) {
  return (
    <PolicyPart title="Initiator and approver">
      <PeopleSelect
        label="Initiator"
        none="Choose who initiates"
        other={{ id: ANYBODY, name: 'any member' }}
        value={draft.initiator}
        organization={organization}
        error={errors.initiator}
        onChange={(initiator) => change({ initiator })}
      />
      <PeopleSelect
        label="Approver"
        none="Choose who approves"
        other={{ id: NOBODY, name: "nobody: the initiator's signature is enough" }}
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
      {draft.approver === '' || draft.approver === NOBODY ? null : (
        <CheckField
          label="Exclude the initiator from approving"
          checked={draft.excludeInitiator}
          onChange={({ target }) => change({ excludeInitiator: target.checked })}
        />
      )}
    </PolicyPart>
  );
}
