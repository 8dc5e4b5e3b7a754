import type { Approval } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { openProposalsQuery, openTransactionsQuery } from '../../api/queries.ts';
import { type Organization, useOrganization } from '../../api/useOrganization.ts';
import { useSession } from '../../api/useSession.ts';
import type { Viewer } from '../../domain/eligibility.ts';
import { bySection, type WaitingSection } from '../../domain/waitingSections.ts';
import { headline } from '../../text/headline.ts';
import { tallyText, taskOf } from '../../text/labels.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Page, Section } from '../../ui/Page.tsx';
import { Empty, ErrorNotice, Loading } from '../../ui/States.tsx';
import { TimeLeft } from '../../ui/TimeLeft.tsx';
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

const SECTIONS: readonly { readonly section: WaitingSection; readonly title: string }[] = [
  { section: 'failed', title: 'Failed, can be executed again' },
  { section: 'processing', title: 'Processing' },
  { section: 'others', title: 'Waiting for others' },
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
  const sorted = bySection(approvals, viewer);
  const rows = (section: WaitingSection) => (
    <ul className="card waiting-list">
      {sorted[section].map((approval) => (
        <Row key={approval.id} approval={approval} viewer={viewer} organization={organization} />
      ))}
    </ul>
  );
  return (
    <>
      <Section
        title="For you to sign or execute"
        id="you"
        aside={<Badge tone="accent">{sorted.you.length}</Badge>}
      >
        {sorted.you.length > 0 ? (
          rows('you')
        ) : (
          <Empty title="Nothing waits for you">
            <p>Requests that you can sign or execute appear here as soon as they are created.</p>
          </Empty>
        )}
      </Section>
      {SECTIONS.filter(({ section }) => sorted[section].length > 0).map(({ section, title }) => (
        <Section key={section} title={title} id={section} aside={<Badge>{sorted[section].length}</Badge>}>
          {rows(section)}
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
    <Page
      title="Waiting for you"
      lead="Open requests: proposals and transactions. Those that expire first come first."
    >
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
