import type { ReactNode } from 'react';
import type { Organization } from '../../api/useOrganization.ts';
import { type checked, reasonOf, submits } from '../../state/useForm.ts';
import { Button } from '../../ui/Button.tsx';
import { Section } from '../../ui/Page.tsx';
import { ErrorNotice } from '../../ui/States.tsx';
import { DryRun } from './DryRun.tsx';
import styles from './new-transaction.module.css';
import type { useRequest } from './useRequest.ts';

type Form = Pick<ReturnType<typeof checked>, 'missing' | 'faults'>;

/** Why it cannot be created now; empty where it can. */
function reasonFor(form: Form, { policyId, isEvaluated }: ReturnType<typeof useRequest>) {
  const reason = reasonOf(form);
  if (reason !== '' || policyId !== undefined) return reason;
  return isEvaluated ? 'No policy permits it: see the dry run.' : 'The policies are being evaluated.';
}

/** A transaction that is typed, beside what the policies say of it. */
export function RequestForm({
  form,
  request,
  organization,
  children,
}: {
  readonly form: Form;
  readonly request: ReturnType<typeof useRequest>;
  readonly organization: Organization;
  readonly children: ReactNode;
}) {
  const { asked, policyId, choosePolicy, isSending, error, send } = request;
  const reason = reasonFor(form, request);
  return (
    <div className={styles.newTransaction}>
      <form className="card stack" noValidate onSubmit={submits(send)}>
        {children}
        {error === undefined ? null : <ErrorNotice error={error} />}
        <div className="stack-small">
          <Button type="submit" look="primary" busy={isSending} disabled={reason !== ''}>
            Create transaction
          </Button>
          <p className="small" role="status">
            {reason}
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
