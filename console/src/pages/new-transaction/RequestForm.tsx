import type { FormEvent, ReactNode } from 'react';
import type { Organization } from '../../api/useOrganization.ts';
import { Button } from '../../ui/Button.tsx';
import { Section } from '../../ui/Page.tsx';
import { ErrorNotice } from '../../ui/States.tsx';
import { DryRun } from './DryRun.tsx';
import styles from './new-transaction.module.css';
import type { useRequest } from './useRequest.ts';

/** Why it cannot be created now; empty where it can. */
function reasonOf(missing: readonly string[], { policyId, isEvaluated }: ReturnType<typeof useRequest>) {
  if (missing.length > 0) return `To fill in: ${missing.join(', ')}.`;
  if (policyId !== undefined) return '';
  return isEvaluated ? 'No policy permits it: see the dry run.' : 'The policies are being evaluated.';
}

/** A transaction that is typed, beside what the policies say of it. */
export function RequestForm({
  request,
  organization,
  missing,
  children,
}: {
  readonly request: ReturnType<typeof useRequest>;
  readonly organization: Organization;
  /** What has to be filled in yet, or corrected. */
  readonly missing: readonly string[];
  readonly children: ReactNode;
}) {
  const { asked, policyId, choosePolicy, isSending, error, send } = request;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void send();
  };
  return (
    <div className={styles.newTransaction}>
      <form className="card stack" onSubmit={submit}>
        {children}
        {error === undefined ? null : <ErrorNotice error={error} />}
        <div className="stack-small">
          <Button
            type="submit"
            look="primary"
            busy={isSending}
            disabled={missing.length > 0 || policyId === undefined}
          >
            Create transaction
          </Button>
          <p className="small" role="status">
            {reasonOf(missing, request)}
          </p>
          <p className="small muted">
            Nothing is sent yet: you sign it on the next page, where it is compared with what you typed.
          </p>
        </div>
      </form>
      <Section title="Dry run" id="dry-run">
        <div className="card">
          {asked ? (
            <DryRun asked={asked} policyId={policyId} organization={organization} onChoice={choosePolicy} />
          ) : (
            <p className="muted">Fill in every field to see which policies permit it.</p>
          )}
        </div>
      </Section>
    </div>
  );
}
