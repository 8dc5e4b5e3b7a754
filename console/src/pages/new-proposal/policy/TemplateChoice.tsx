import type { Organization } from '../../../api/useOrganization.ts';
import type { PolicyDraft } from '../../../domain/policyDraft.ts';
import { POLICY_TEMPLATES, templateDraft } from '../../../domain/policyTemplates.ts';
import { Button } from '../../../ui/Button.tsx';
import styles from './template-choice.module.css';

/** Policies to begin with: each fills in the form below, and everything in it can be changed. */
export function TemplateChoice({
  organization,
  onChoice,
}: {
  readonly organization: Organization;
  readonly onChoice: (draft: PolicyDraft) => void;
}) {
  return (
    <fieldset className={styles.templates}>
      <legend>Begin with</legend>
      <ul>
        {POLICY_TEMPLATES.map(({ id, name, about }) => (
          <li key={id}>
            <Button
              onClick={() => onChoice(templateDraft(id, organization))}
              aria-describedby={`template-${id}`}
            >
              {name}
            </Button>
            <span id={`template-${id}`} className="small muted">
              {about}
            </span>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}
