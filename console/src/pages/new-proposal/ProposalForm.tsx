import type { OperationIntent } from '@orgwallet/client';
import type { FormEvent, ReactNode } from 'react';
import { useSession } from '../../api/useSession.ts';
import { Button } from '../../ui/Button.tsx';
import formStyles from '../../ui/form.module.css';
import { Notice } from '../../ui/Notice.tsx';
import { ErrorNotice } from '../../ui/States.tsx';
import type { useProposal } from './useProposal.ts';

/** Why nothing can be proposed now; empty where it can. */
function reasonOf(isAdmin: boolean, missing: readonly string[], intent: OperationIntent | undefined): string {
  if (!isAdmin) return 'Only admins can create proposals.';
  if (missing.length > 0) return `To fill in: ${missing.join(', ')}.`;
  return intent ? '' : 'Nothing is chosen or changed yet.';
}

/** A change that is typed. `intent` is undefined while something is missing. */
export function ProposalForm({
  proposal,
  intent,
  missing = [],
  children,
}: {
  readonly proposal: ReturnType<typeof useProposal>;
  readonly intent: OperationIntent | undefined;
  /** What has to be filled in yet. */
  readonly missing?: readonly string[];
  readonly children: ReactNode;
}) {
  const { isAdmin } = useSession();
  const { propose, isSending, error } = proposal;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (intent) void propose(intent);
  };
  return (
    <form className={`card stack ${formStyles.proposalForm}`} onSubmit={submit}>
      {isAdmin ? null : (
        <Notice tone="warning" title="Only admins can create proposals">
          <p>Ask an admin to create it.</p>
        </Notice>
      )}
      {children}
      {error === undefined ? null : <ErrorNotice error={error} />}
      <div className="stack-small">
        <Button type="submit" look="primary" busy={isSending} disabled={!intent || !isAdmin}>
          Create proposal
        </Button>
        <p className="small" role="status">
          {reasonOf(isAdmin, missing, intent)}
        </p>
        <p className="small muted">
          Nothing changes until the admins approve it. The next page shows what it changes, field by field.
        </p>
      </div>
    </form>
  );
}
