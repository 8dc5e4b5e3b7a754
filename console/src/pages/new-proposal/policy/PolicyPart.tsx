import type { ReactNode } from 'react';
import type { Organization } from '../../../api/useOrganization.ts';
import type { PolicyProposalDraft } from '../../../domain/policyIntent.ts';
import type { Bound } from '../../../state/useForm.ts';
import formStyles from '../../../ui/form.module.css';

export interface FieldsProps {
  readonly form: Bound<PolicyProposalDraft> & {
    readonly change: (fields: Partial<PolicyProposalDraft>) => void;
  };
  readonly draft: PolicyProposalDraft;
  readonly organization: Organization;
}

/** A part of the form. */
export function PolicyPart({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <fieldset className={formStyles.formItem}>
      <legend>{title}</legend>
      {children}
    </fieldset>
  );
}
