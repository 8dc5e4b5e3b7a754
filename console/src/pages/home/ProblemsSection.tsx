import type { Approval } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { latestProposalsQuery, latestTransactionsQuery } from '../../api/queries.ts';
import { useOpenRequests } from '../../api/useOpenRequests.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { problemsOf } from '../../domain/problems.ts';
import { counted } from '../../text/counted.ts';
import { failureTitle } from '../../text/failures.ts';
import { headline } from '../../text/headline.ts';
import { Notice } from '../../ui/Notice.tsx';
import { TimeLeft, useNow } from '../../ui/TimeLeft.tsx';

/** So many requests are named of each problem. */
const NAMED = 3;
const NEVER = Number.POSITIVE_INFINITY;

function Problem({
  title,
  tone = 'danger',
  requests = [],
  organization,
  about,
  children,
}: {
  readonly title: string;
  readonly tone?: 'danger' | 'warning';
  readonly requests?: readonly Approval[];
  readonly organization: Organization;
  readonly about?: (request: Approval) => ReactNode;
  readonly children?: ReactNode;
}) {
  return (
    <Notice tone={tone} title={title}>
      {children}
      {requests.length > 0 ? (
        <ul className="stack-small">
          {requests.slice(0, NAMED).map((request) => (
            <li key={request.id}>
              <Link to="/requests/$id" params={{ id: request.id }}>
                {headline(request, organization)}
              </Link>
              {about ? <span className="muted"> · {about(request)}</span> : null}
            </li>
          ))}
        </ul>
      ) : null}
      {requests.length > NAMED ? <Link to="/requests">All requests</Link> : null}
    </Notice>
  );
}

/** Requests to look through: the open ones, and the last ones in whatever state. */
function useRequests(): readonly Approval[] {
  const { data } = useOpenRequests();
  const { data: proposals = [] } = useQuery(latestProposalsQuery);
  const { data: transactions = [] } = useQuery(latestTransactionsQuery);
  const all = [...(data?.open ?? []), ...proposals, ...transactions];
  return [...new Map(all.map((one) => [one.id, one])).values()];
}

/** What is wrong now. Nothing, where nothing is. */
export function ProblemsSection({
  organization,
  unavailable,
}: {
  readonly organization: Organization;
  /** Networks that did not answer when the balances were read. */
  readonly unavailable: readonly number[];
}) {
  const now = useNow(NEVER);
  const { failed, relayerFunds, silent, expiring } = problemsOf(useRequests(), now);
  const isWrong =
    failed.length + relayerFunds.length + silent.length + expiring.length + unavailable.length > 0;
  if (!isWrong) return null;
  const both = { organization };
  const names = unavailable.map((id) => organization.network(id) ?? `Network ${id}`).join(', ');
  return (
    <section className="section stack-small" aria-label="Problems">
      {unavailable.length > 0 ? (
        <Problem {...both} tone="warning" title={`${names}: no answer`}>
          <p>Balances there are not in the totals, and payments there wait. Tell your operator.</p>
        </Problem>
      ) : null}
      {relayerFunds.length > 0 ? (
        <Problem {...both} title="A relayer has too little for gas" requests={relayerFunds}>
          <p>{relayerFunds[0]?.failure?.message}. Send this to your operator: payments wait for it.</p>
        </Problem>
      ) : null}
      {silent.length > 0 ? (
        <Problem
          {...both}
          tone="warning"
          title={`${counted(silent.length, 'request')} not sent for more than 2 minutes`}
          requests={silent}
        >
          <p>The signer or the network may not answer. They continue by themselves: do not ask again.</p>
        </Problem>
      ) : null}
      {failed.length > 0 ? (
        <Problem
          {...both}
          title={`${counted(failed.length, 'request')} failed or blocked`}
          requests={failed}
          about={({ failure }) => (failure ? failureTitle(failure.code) : null)}
        />
      ) : null}
      {expiring.length > 0 ? (
        <Problem
          {...both}
          tone="warning"
          title={`${counted(expiring.length, 'request')} expiring within a day`}
          requests={expiring}
          about={({ expiresAt }) => <TimeLeft until={expiresAt} />}
        />
      ) : null}
    </section>
  );
}
