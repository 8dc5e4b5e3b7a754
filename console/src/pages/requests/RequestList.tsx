import type { Approval } from '@orgwallet/client';
import type { KeyboardEvent } from 'react';
import { RequestRow, type RowContext } from './RequestRow.tsx';
import requestsStyles from './requests.module.css';

/** Moves the focus to the next or the previous row. */
function move(event: KeyboardEvent<HTMLUListElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('a[data-row]')];
  const index = links.indexOf(document.activeElement as HTMLElement);
  if (index < 0) return;
  event.preventDefault();
  links[index + step]?.focus();
}

/** Requests, one below the other; the arrow keys lead from one to the next. */
export function RequestList({
  approvals,
  label,
  ...context
}: { readonly approvals: readonly Approval[]; readonly label: string } & RowContext) {
  return (
    <ul className={`card ${requestsStyles.requestList}`} aria-label={label} onKeyDown={move}>
      {approvals.map((approval) => (
        <RequestRow key={approval.id} approval={approval} {...context} />
      ))}
    </ul>
  );
}
