import type { Approval } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { latestProposalsQuery, latestTransactionsQuery, partsQuery } from '../../api/queries.ts';
import { useOpenRequests } from '../../api/useOpenRequests.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { problemsOf } from '../../domain/problems.ts';
import { useNarrow } from '../../state/narrow.ts';
import { counted } from '../../text/counted.ts';
import { failureTitle } from '../../text/failures.ts';
import { partText, partTitle } from '../../text/parts.ts';
import { Headline } from '../../ui/Headline.tsx';
import { Notice } from '../../ui/Notice.tsx';
import pageStyles from '../../ui/page.module.css';
import { TimeLeft, useNow } from '../../ui/TimeLeft.tsx';

/** So many requests are named of each problem: on a phone, what needs the member is on the first screen too. */
const NAMED = { narrow: 1, wide: 3 };
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
  const named = useNarrow() ? NAMED.narrow : NAMED.wide;
  return (
    <Notice tone={tone} title={title}>
      {children}
      {requests.length > 0 ? (
        <ul className="stack-small">
          {requests.slice(0, named).map((request) => (
            <li key={request.id}>
              <Link to="/requests/$id" params={{ id: request.id }}>
                <Headline request={request} organization={organization} />
              </Link>
              {about ? <span className="muted"> · {about(request)}</span> : null}
            </li>
          ))}
        </ul>
      ) : null}
      {requests.length > named ? <Link to="/requests">All requests</Link> : null}
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
  const { data: parts = [] } = useQuery(partsQuery);
  const { down, failed, relayerFunds, unsent, expiring } = problemsOf(useRequests(), parts, now);
  const isKnown = (id: number) => down.some(({ part }) => part.part === 'network' && part.networkId === id);
  const others = unavailable.filter((id) => !isKnown(id));
  const all = [down, failed, relayerFunds, unsent, expiring, others];
  if (all.every(({ length }) => length === 0)) return null;
  const both = { organization };
  const networkName = (id: number) => organization.network(id) ?? `Network ${id}`;
  return (
    <section className={`${pageStyles.section} stack-small`} aria-label="Problems">
      {down.map(({ part, waiting }) => (
        <Problem
          {...both}
          key={`${part.part}:${part.networkId}`}
          tone={part.part === 'network' ? 'warning' : 'danger'}
          title={partTitle(part, part.networkId === null ? undefined : networkName(part.networkId))}
          requests={waiting}
        >
          <p>{partText(part)}</p>
        </Problem>
      ))}
      {others.length > 0 ? (
        <Problem {...both} tone="warning" title={`${others.map(networkName).join(', ')}: no answer`}>
          <p>Balances there are not in the totals, and payments there wait. Tell your operator.</p>
        </Problem>
      ) : null}
      {relayerFunds.length > 0 ? (
        <Problem {...both} title="A relayer has too little for gas" requests={relayerFunds}>
          <p>{relayerFunds[0]?.failure?.message}. Send this to your operator: payments wait for it.</p>
        </Problem>
      ) : null}
      {unsent.length > 0 ? (
        <Problem
          {...both}
          tone="warning"
          title={`${counted(unsent.length, 'request')} not sent for more than 2 minutes`}
          requests={unsent}
        >
          <p>They continue by themselves: do not request them again. Ask your operator what they wait for.</p>
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
