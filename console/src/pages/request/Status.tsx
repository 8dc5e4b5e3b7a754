import type { Approval } from '@orgwallet/client';
import type { Organization } from '../../api/useOrganization.ts';
import type { Missing } from '../../text/requestRow.ts';
import { requestStatus } from '../../text/requestStatus.ts';
import { dateTime } from '../../text/time.ts';
import { Notice } from '../../ui/Notice.tsx';
import { RepeatButton } from './RepeatButton.tsx';

/** Where the request is, and what is to be done about it: the first thing on its page. */
export function Status({
  approval,
  organization,
  ...seen
}: {
  readonly approval: Approval;
  readonly organization: Organization;
  readonly isExpired: boolean;
  readonly needsViewer: boolean;
  readonly missing: Missing | undefined;
}) {
  const { title, text, tone } = requestStatus(approval, seen);
  const { failure, executionStatus } = approval;
  const hasFailed = failure && (executionStatus === 'failed' || executionStatus === 'blocked');
  return (
    <div data-status>
      <Notice tone={tone} title={title}>
        {text ? <p role={executionStatus === 'processing' ? 'status' : undefined}>{text}</p> : null}
        {hasFailed ? (
          <p className="small muted">
            Attempt {failure.attempt}, {dateTime(failure.at)}
          </p>
        ) : null}
        {hasFailed && failure.retryable === false && !('resourceType' in approval) ? (
          <RepeatButton transaction={approval} replaces />
        ) : null}
      </Notice>
    </div>
  );
}
