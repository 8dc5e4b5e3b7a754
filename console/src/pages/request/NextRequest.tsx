import type { Approval } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { queryClient } from '../../api/client.ts';
import { approvalQuery } from '../../api/queries.ts';
import { openRequestsQuery } from '../../api/requests.ts';
import type { Organization } from '../../api/useOrganization.ts';
import type { Viewer } from '../../domain/eligibility.ts';
import { requestFilter } from '../../domain/requestFilter.ts';
import { byDeadline, tabOf } from '../../domain/requestTab.ts';
import { counted } from '../../text/counted.ts';
import buttonStyles from '../../ui/button.module.css';
import { Headline } from '../../ui/Headline.tsx';

/** Leads from one request that somebody has decided to the next that needs them: Enter is enough. */
export function NextRequest({
  id,
  viewer,
  organization,
}: {
  readonly id: string;
  readonly viewer: Viewer;
  readonly organization: Organization;
}) {
  const { data } = useQuery(openRequestsQuery(requestFilter({})));
  const link = useRef<HTMLAnchorElement>(null);
  const isWaiting = (one: Approval) => tabOf(one, viewer, Date.now()) === 'you';
  // What was decided on a page a moment ago may not be in the list yet.
  const decided = (one: Approval) =>
    queryClient.getQueryData<Approval>(approvalQuery(one.id).queryKey) ?? one;
  const waiting = (data ?? [])
    .filter((one) => one.id !== id && isWaiting(one) && isWaiting(decided(one)))
    .sort(byDeadline);
  const [next] = waiting;
  const isRead = data !== undefined;
  useEffect(() => {
    if (isRead) link.current?.focus();
  }, [isRead]);
  if (!isRead) return null;
  return (
    <p className="row">
      {next ? (
        <>
          <Link
            ref={link}
            className={`${buttonStyles.button} ${buttonStyles.primary}`}
            to="/requests/$id"
            params={{ id: next.id }}
            search={{ review: '1' }}
          >
            Next: <Headline request={next} organization={organization} />
          </Link>
          <span className="muted">{counted(waiting.length, 'request')} left</span>
        </>
      ) : (
        <Link ref={link} className={buttonStyles.button} to="/requests" search={{ tab: 'you' }}>
          Nothing else needs you: back to the requests
        </Link>
      )}
    </p>
  );
}
