import type { Approval, Transaction } from '@orgwallet/client';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Organization } from '../../api/useOrganization.ts';
import { OPEN_TABS, type RequestTab } from '../../domain/requestTab.ts';
import { sentAsset } from '../../domain/sentAsset.ts';
import { failureTitle } from '../../text/failures.ts';
import { stateOf, tallyText } from '../../text/labels.ts';
import {
  actionLine,
  missingOf,
  missingText,
  recipientAddressOf,
  recipientLine,
  signedText,
  sourceLine,
} from '../../text/requestRow.ts';
import { dateTimeZone, duration } from '../../text/time.ts';
import { AddressIcon } from '../../ui/AddressIcon.tsx';
import { Amount } from '../../ui/Amount.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { TimeLeft } from '../../ui/TimeLeft.tsx';
import requestsStyles from './requests.module.css';

/** Everything that a row needs to know besides its request. */
export interface RowContext {
  readonly organization: Organization;
  readonly admins: Organization['members'];
  readonly tab: RequestTab;
  readonly now: number;
}

/** What is moved, first: nobody looks for anything else. */
function What({
  approval,
  organization,
}: {
  readonly approval: Approval;
  readonly organization: Organization;
}) {
  if ('resourceType' in approval || approval.type !== 'TOKEN_TRANSFER') {
    return <>{actionLine(approval, organization)}</>;
  }
  return <Amount raw={approval.data.rawAmount} asset={sentAsset(approval)} />;
}

function Transfer({
  transaction,
  organization,
}: {
  readonly transaction: Transaction;
  readonly organization: Organization;
}) {
  const { description, initiator } = transaction;
  const preposition = transaction.type === 'TOKEN_TRANSFER' ? 'to' : 'of';
  return (
    <>
      <span>
        {preposition} <AddressIcon address={recipientAddressOf(transaction)} />{' '}
        <bdi>{recipientLine(transaction, organization)}</bdi>
        {description ? (
          <>
            {' · '}
            <bdi className={requestsStyles.requestRowFor}>{description}</bdi>
          </>
        ) : null}
      </span>
      <span className="muted">
        from <bdi>{sourceLine(transaction, organization)}</bdi>, by <bdi>{initiator.name}</bdi>
      </span>
    </>
  );
}

/** What is wrong, or who has signed and who is missing. */
function Signed({ approval, organization, admins, tab }: { readonly approval: Approval } & RowContext) {
  const missing = missingOf(approval, organization, admins);
  return (
    <>
      {OPEN_TABS.includes(tab) ? <span className="muted">{tallyText(approval)}</span> : null}
      <span>
        <span className="muted">Signed:</span> {signedText(approval)}
      </span>
      {missing ? (
        <span>
          <span className="muted">Missing:</span> {missingText(missing)}
        </span>
      ) : null}
    </>
  );
}

function Age({ at, now }: { readonly at: string; readonly now: number }): ReactNode {
  const [largest = ''] = /^\d+ \w+/.exec(duration(now - Date.parse(at))) ?? [];
  return (
    <time dateTime={at} title={dateTimeZone(at)} className="muted">
      {largest} ago
    </time>
  );
}

/** One request of a list; the whole row leads to it. */
export function RequestRow({ approval, ...context }: { readonly approval: Approval } & RowContext) {
  const { organization, tab, now } = context;
  const { id, failure, createdAt, expiresAt, executionStatus } = approval;
  const { text, tone } = stateOf(approval, now);
  const isOpen = approval.signingPayloads !== undefined && executionStatus === null && tab !== 'expired';
  return (
    <li className={requestsStyles.requestRow}>
      <div className={requestsStyles.requestRowWhat}>
        <Link
          to="/requests/$id"
          params={{ id }}
          search={tab === 'you' ? { review: '1' } : {}}
          data-row
          className={requestsStyles.requestRowLink}
        >
          <What approval={approval} organization={organization} />
        </Link>
        {'resourceType' in approval ? null : <Transfer transaction={approval} organization={organization} />}
      </div>
      <div className={`${requestsStyles.requestRowSigned} small`}>
        <Signed approval={approval} {...context} />
      </div>
      <div className={`${requestsStyles.requestRowWhen} small`}>
        <Badge tone={tone}>{text}</Badge>
        <Age at={createdAt} now={now} />
        {isOpen ? <TimeLeft until={expiresAt} /> : null}
      </div>
      {failure && tab === 'failed' ? (
        <p className={`${requestsStyles.requestRowFailure} small`}>
          <b>{failureTitle(failure.code)}</b>: {failure.message}
        </p>
      ) : null}
    </li>
  );
}
