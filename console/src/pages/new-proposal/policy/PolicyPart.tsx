import type { ReactNode } from 'react';
import type { Organization } from '../../../api/useOrganization.ts';
import type { PolicyDraft } from '../../../domain/policyDraft.ts';
import formStyles from '../../../ui/form.module.css';

export interface FieldsProps {
  readonly draft: PolicyDraft;
  readonly organization: Organization;
  /** What is wrong, by the field of the draft. */
  readonly errors: { readonly [field: string]: string };
  readonly change: (fields: Partial<PolicyDraft>) => void;
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
