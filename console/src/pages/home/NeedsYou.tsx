import type { Approval } from '@orgwallet/client';
import { Link } from '@tanstack/react-router';
import { useOpenRequests, useViewer, waitingFor } from '../../api/useOpenRequests.ts';
import type { Organization } from '../../api/useOrganization.ts';
import type { Viewer } from '../../domain/eligibility.ts';
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
  organization,
}: {
  readonly waiting: readonly Approval[];
  readonly viewer: Viewer;
  readonly hasMore: boolean;
  readonly organization: Organization;
}) {
  const canSend = organization.accounts.length > 0 && organization.policies.length > 0;
  if (waiting.length === 0) {
    return (
      <Empty title="Nothing waits for you">
        <p>Requests that you can sign or execute appear here as soon as they are created.</p>
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
    </div>
  );
}

/** What the member can sign or execute now. */
export function NeedsYou({ organization }: { readonly organization: Organization }) {
  const viewer = useViewer();
  const { data, error, refetch } = useOpenRequests();
  const waiting = viewer && data ? waitingFor(viewer, data.open) : undefined;
  const hasMore = data?.hasMore ?? false;
  return (
    <Section
      title="Needs you"
      id="needs-you"
      aside={waiting?.length ? <Badge tone="accent">{`${waiting.length}${hasMore ? '+' : ''}`}</Badge> : null}
    >
      {error ? <ErrorNotice error={error} retry={refetch} /> : null}
      {viewer && waiting ? (
        <Waiting waiting={waiting} viewer={viewer} hasMore={hasMore} organization={organization} />
      ) : error ? null : (
        <Loading what="what needs you" />
      )}
    </Section>
  );
}
