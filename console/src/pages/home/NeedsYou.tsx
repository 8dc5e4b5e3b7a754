import type { Approval } from '@orgwallet/client';
import { Link } from '@tanstack/react-router';
import { useOpenRequests, useViewer, useWaitingRequests, waitingFor } from '../../api/useOpenRequests.ts';
import type { Organization } from '../../api/useOrganization.ts';
import type { Viewer } from '../../domain/eligibility.ts';
import { tabOf } from '../../domain/requestTab.ts';
import { counted } from '../../text/counted.ts';
import { tallyText, taskOf } from '../../text/labels.ts';
import { Badge } from '../../ui/Badge.tsx';
import { FormLink } from '../../ui/NextStep.tsx';
import { Section } from '../../ui/Page.tsx';
import { Empty, ErrorNotice, Loading } from '../../ui/States.tsx';
import { TimeLeft } from '../../ui/TimeLeft.tsx';
import { RequestList } from './RequestList.tsx';

/** So many are here; the others are on the page of all. */
const SHOWN = 5;

function Waiting({
  waiting,
  viewer,
  hasMore,
  ready,
  organization,
}: {
  readonly waiting: readonly Approval[];
  /** How many can be executed, by anybody. */
  readonly ready: number;
  readonly viewer: Viewer;
  readonly hasMore: boolean;
  readonly organization: Organization;
}) {
  const canSend = organization.accounts.length > 0 && organization.policies.length > 0;
  if (waiting.length === 0) {
    return (
      <Empty title={hasMore ? 'None of the newest requests needs you' : 'Nothing waits for you'}>
        {hasMore ? (
          <p>
            <Link to="/requests">Look through all open requests</Link>
          </p>
        ) : (
          <p>Requests that you can sign appear here as soon as they are created.</p>
        )}
        {ready > 0 ? <ReadyLink ready={ready} /> : null}
        {canSend ? <FormLink place={{ to: '/new/transfer' }} name="New transfer" /> : null}
      </Empty>
    );
  }
  return (
    <div className="stack-small">
      <RequestList
        requests={waiting.slice(0, SHOWN)}
        organization={organization}
        facts={(request) => (
          <>
            <span>{tallyText(request)}</span>
            <TimeLeft until={request.expiresAt} />
          </>
        )}
        aside={(request) => <Badge tone="accent">{taskOf(request, viewer)}</Badge>}
      />
      {waiting.length > SHOWN || hasMore ? (
        <p>
          <Link to="/requests">All requests that need you</Link>
        </p>
      ) : null}
      {ready > 0 ? (
        <p>
          <ReadyLink ready={ready} />
        </p>
      ) : null}
    </div>
  );
}

const ReadyLink = ({ ready }: { readonly ready: number }) => (
  <Link to="/requests" search={{ tab: 'ready' }}>
    {counted(ready, 'request')} ready to execute
  </Link>
);

/** What the member can sign now. */
export function NeedsYou({ organization }: { readonly organization: Organization }) {
  const viewer = useViewer();
  const { data, error, refetch } = useWaitingRequests();
  const { data: all } = useOpenRequests();
  const waiting = viewer && data ? waitingFor(viewer, data.open) : undefined;
  const hasMore = data?.hasMore ?? false;
  const ready = viewer && all ? all.open.filter((one) => tabOf(one, viewer, Date.now()) === 'ready') : [];
  return (
    <Section
      title="Needs you"
      id="needs-you"
      aside={waiting?.length ? <Badge tone="accent">{`${waiting.length}${hasMore ? '+' : ''}`}</Badge> : null}
    >
      {error ? <ErrorNotice error={error} retry={refetch} /> : null}
      {viewer && waiting ? (
        <Waiting
          waiting={waiting}
          viewer={viewer}
          hasMore={hasMore}
          ready={ready.length}
          organization={organization}
        />
      ) : error ? null : (
        <Loading what="what needs you" />
      )}
    </Section>
  );
}
