import type { Approval } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { openProposalsQuery, openTransactionsQuery } from '../../queries.ts';
import { headline } from '../../text/headline.ts';
import { type Standing, sortedByStanding, tallyText, taskOf, type Viewer } from '../../text/standing.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Page, Section } from '../../ui/Page.tsx';
import { Empty, ErrorNotice, Loading } from '../../ui/States.tsx';
import { TimeLeft } from '../../ui/TimeLeft.tsx';
import { type Organization, useOrganization } from '../../useOrganization.ts';
import { useSession } from '../../useSession.ts';
import './waiting.css';

function Row({
  approval,
  viewer,
  organization,
}: {
  readonly approval: Approval;
  readonly viewer: Viewer;
  readonly organization: Organization;
}) {
  const { id, expiresAt, failure } = approval;
  return (
    <li className="waiting-row">
      <Link to="/requests/$id" params={{ id }} className="waiting-title">
        {headline(approval, organization)}
      </Link>
      <p className="waiting-facts small muted">
        <span>{'initiator' in approval ? `initiator ${approval.initiator.name}` : 'proposal'}</span>
        <span>{tallyText(approval)}</span>
        {approval.executionStatus === 'processing' ? null : <TimeLeft until={expiresAt} />}
      </p>
      <Badge tone={failure ? 'danger' : 'plain'}>
        {approval.executionStatus === 'processing' ? 'Processing' : taskOf(approval, viewer)}
      </Badge>
      {failure ? <p className="small waiting-failure">{failure.message}</p> : null}
    </li>
  );
}

const SECTIONS: readonly { readonly standing: Standing; readonly title: string }[] = [
  { standing: 'failed', title: 'Failed, can be executed again' },
  { standing: 'processing', title: 'Processing' },
  { standing: 'others', title: 'Waiting for others' },
];

function Lists({
  approvals,
  viewer,
  organization,
}: {
  readonly approvals: readonly Approval[];
  readonly viewer: Viewer;
  readonly organization: Organization;
}) {
  const sorted = sortedByStanding(approvals, viewer);
  const rows = (standing: Standing) => (
    <ul className="card waiting-list">
      {sorted[standing].map((approval) => (
        <Row key={approval.id} approval={approval} viewer={viewer} organization={organization} />
      ))}
    </ul>
  );
  return (
    <>
      <Section title="For you to sign or execute" id="you" aside={<Badge tone="accent">{sorted.you.length}</Badge>}>
        {sorted.you.length > 0 ? (
          rows('you')
        ) : (
          <Empty title="Nothing waits for you">
            <p>Requests that you can sign or execute appear here as soon as they are created.</p>
          </Empty>
        )}
      </Section>
      {SECTIONS.filter(({ standing }) => sorted[standing].length > 0).map(({ standing, title }) => (
        <Section key={standing} title={title} id={standing} aside={<Badge>{sorted[standing].length}</Badge>}>
          {rows(standing)}
        </Section>
      ))}
    </>
  );
}

/** What this member can sign or execute now, what waits for others, and what has failed. */
export function WaitingPage() {
  const { member, isAdmin } = useSession();
  const proposals = useQuery(openProposalsQuery);
  const transactions = useQuery(openTransactionsQuery);
  const { organization, error: organizationError, refetch } = useOrganization();
  const error = proposals.error ?? transactions.error ?? organizationError;
  const isRead = proposals.data && transactions.data && organization;
  const again = () => {
    if (proposals.error) void proposals.refetch();
    if (transactions.error) void transactions.refetch();
    refetch();
  };
  return (
    <Page title="Waiting for you" lead="Open requests: proposals and transactions. Those that expire first come first.">
      {error ? <ErrorNotice error={error} retry={again} /> : null}
      {isRead ? (
        <Lists
          approvals={[...proposals.data, ...transactions.data]}
          viewer={{
            memberId: member.id,
            isAdmin,
            policies: organization.policies,
            groups: organization.groups,
          }}
          organization={organization}
        />
      ) : error ? null : (
        <Loading what="what waits for you" />
      )}
    </Page>
  );
}
