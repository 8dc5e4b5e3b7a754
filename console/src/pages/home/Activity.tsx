import { useQueries } from '@tanstack/react-query';
import { latestProposalsQuery, latestTransactionsQuery } from '../../api/queries.ts';
import { useViewer, useWaitingRequests, waitingFor } from '../../api/useOpenRequests.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { stateOf } from '../../text/labels.ts';
import { dateTime } from '../../text/time.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Section } from '../../ui/Page.tsx';
import { Empty, ErrorNotice, Loading } from '../../ui/States.tsx';
import { RequestList } from './RequestList.tsx';

const SHOWN = 6;

/** The last requests of both kinds, newest first, without those that are shown as needing the member. */
export function Activity({ organization }: { readonly organization: Organization }) {
  const viewer = useViewer();
  const { data } = useWaitingRequests();
  const elsewhere = new Set(viewer && data ? waitingFor(viewer, data.open).map(({ id }) => id) : []);
  const { read, error, refetch } = useQueries({
    queries: [latestProposalsQuery, latestTransactionsQuery],
    combine: ([proposals, transactions]) => ({
      read: proposals.data && transactions.data ? [...proposals.data, ...transactions.data] : undefined,
      error: proposals.error ?? transactions.error,
      refetch: () => {
        for (const query of [proposals, transactions]) if (query.error) void query.refetch();
      },
    }),
  });
  const latest = read
    ?.filter(({ id }) => !elsewhere.has(id))
    .sort((one, two) => Date.parse(two.createdAt) - Date.parse(one.createdAt))
    .slice(0, SHOWN);
  return (
    <Section title="Last activity" id="activity">
      {error ? <ErrorNotice error={error} retry={refetch} /> : null}
      {latest && latest.length > 0 ? (
        <RequestList
          requests={latest}
          organization={organization}
          facts={(request) => (
            <>
              {'initiator' in request ? <span>by {request.initiator.name}</span> : <span>proposal</span>}
              <time dateTime={request.createdAt}>{dateTime(request.createdAt)}</time>
            </>
          )}
          aside={(request) => {
            const { text, tone } = stateOf(request, Date.now());
            return <Badge tone={tone}>{text}</Badge>;
          }}
        />
      ) : null}
      {latest?.length === 0 ? (
        <Empty title="Nothing else yet">
          <p>Payments and changes appear here as soon as somebody requests them.</p>
        </Empty>
      ) : null}
      {latest || error ? null : <Loading what="the last activity" />}
    </Section>
  );
}
