import type { Transaction } from '@orgwallet/client';
import { useNavigate } from '@tanstack/react-router';
import { repeated } from '../../domain/repeated.ts';
import { keepDraft } from '../../state/drafts.ts';
import { Button } from '../../ui/Button.tsx';

/** Leads to a form with the same transaction in it: to create it again, or in place of one that has failed for good. */
export function RepeatButton({
  transaction,
  replaces,
}: {
  readonly transaction: Transaction;
  readonly replaces?: true;
}) {
  const navigate = useNavigate();
  const again = repeated(transaction, replaces ? { replaces: transaction.id } : {});
  if (!again) return null;
  const { form, draft } = again;
  const open = () => {
    keepDraft(form, draft);
    void navigate({ to: form === 'transfer' ? '/new/transfer' : '/new/call' });
  };
  return <Button onClick={open}>{replaces ? 'Create a replacement' : 'Repeat'}</Button>;
}
