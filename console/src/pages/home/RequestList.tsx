import type { Approval } from '@orgwallet/client';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Organization } from '../../api/useOrganization.ts';
import { Headline } from '../../ui/Headline.tsx';
import homeStyles from './home.module.css';

/** Requests in short: each row leads to its page. */
export function RequestList({
  requests,
  organization,
  aside,
  facts,
}: {
  readonly requests: readonly Approval[];
  readonly organization: Organization;
  /** What stands at the end of a row, such as what there is to do. */
  readonly aside: (request: Approval) => ReactNode;
  readonly facts: (request: Approval) => ReactNode;
}) {
  return (
    <ul className={`card ${homeStyles.requestList}`}>
      {requests.map((request) => (
        <li key={request.id} className={homeStyles.requestRow}>
          <Link to="/requests/$id" params={{ id: request.id }} className={homeStyles.requestTitle}>
            <Headline request={request} organization={organization} />
          </Link>
          <p className={`${homeStyles.requestFacts} small muted`}>{facts(request)}</p>
          {aside(request)}
        </li>
      ))}
    </ul>
  );
}
