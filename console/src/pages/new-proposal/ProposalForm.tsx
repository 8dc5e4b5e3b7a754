import type { ReactNode } from 'react';
import { useSession } from '../../api/useSession.ts';
import { reasonOf, submits } from '../../state/useForm.ts';
import { Button } from '../../ui/Button.tsx';
import formStyles from '../../ui/form.module.css';
import { Notice } from '../../ui/Notice.tsx';
import { ErrorNotice } from '../../ui/States.tsx';
import type { useProposalForm } from './useProposalForm.ts';

type Form = Pick<
  ReturnType<typeof useProposalForm>,
  'missing' | 'faults' | 'isChosen' | 'intent' | 'isSending' | 'error' | 'propose'
>;

/** Why nothing can be proposed now; empty where it can. */
function reasonFor(isAdmin: boolean, form: Form): string {
  if (!isAdmin) return 'Only admins can create proposals.';
  return reasonOf(form) || (form.isChosen ? '' : 'Nothing is chosen or changed yet.');
}

/** A change that is typed. */
export function ProposalForm({ form, children }: { readonly form: Form; readonly children: ReactNode }) {
  const { isAdmin } = useSession();
  const { intent, isSending, error, propose } = form;
  const reason = reasonFor(isAdmin, form);
  return (
    <form
      className={`card stack ${formStyles.form}`}
      noValidate
      onSubmit={submits(() => {
        if (intent) void propose(intent);
      })}
    >
      {isAdmin ? null : (
        <Notice tone="warning" title="Only admins can create proposals">
          <p>Ask an admin to create it.</p>
        </Notice>
      )}
      {children}
      {error === undefined ? null : <ErrorNotice error={error} />}
      <div className="stack-small">
        <Button type="submit" look="primary" busy={isSending} disabled={reason !== ''}>
          Create proposal
        </Button>
        <p className="small" role="status">
          {reason}
        </p>
        <p className="small muted">
          Nothing changes until the admins approve it. The next page shows what it changes, field by field.
        </p>
      </div>
    </form>
  );
}
