import type { Approval, Change } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { adminsQuery, approvalQuery } from '../../api/queries.ts';
import { type Organization, useOrganization } from '../../api/useOrganization.ts';
import { useSession } from '../../api/useSession.ts';
import { outcomesOf, type Viewer } from '../../domain/eligibility.ts';
import { tabOf } from '../../domain/requestTab.ts';
import { headline } from '../../text/headline.ts';
import { stateOf } from '../../text/labels.ts';
import { missingOf } from '../../text/requestRow.ts';
import { dateTime } from '../../text/time.ts';
import { workflowLink } from '../../text/workflowLink.ts';
import { Badge } from '../../ui/Badge.tsx';
import { OutsideLink } from '../../ui/OutsideLink.tsx';
import { Page, Section } from '../../ui/Page.tsx';
import { ShortId } from '../../ui/ShortText.tsx';
import { ErrorNotice, Loading } from '../../ui/States.tsx';
import { TimeLeft, useNow } from '../../ui/TimeLeft.tsx';
import { AdminsOnChain } from './AdminsOnChain.tsx';
import { Decision } from './Decision.tsx';
import { Difference } from './Difference.tsx';
import { NextRequest } from './NextRequest.tsx';
import { hasOutcome, Outcome } from './Outcome.tsx';
import { PolicyEvaluations } from './PolicyEvaluations.tsx';
import { PolicyImpact } from './PolicyImpact.tsx';
import { References } from './References.tsx';
import { RepeatButton } from './RepeatButton.tsx';
import { RequestMismatch } from './RequestMismatch.tsx';
import styles from './request.module.css';
import { Signatures } from './Signatures.tsx';
import { Status } from './Status.tsx';
import { Timeline } from './Timeline.tsx';
import { TransactionDetails } from './TransactionDetails.tsx';
import { useReading } from './useReading.ts';

const route = getRouteApi('/requests/$id');

function Lead({
  approval,
  isExpired,
  state,
}: {
  readonly approval: Approval;
  readonly isExpired: boolean;
  readonly state: ReturnType<typeof stateOf>;
}) {
  const workflow = workflowLink(approval, useSession());
  return (
    <p className={styles.requestLead}>
      <Badge tone={state.tone}>{state.text}</Badge>
      {approval.signingPayloads || isExpired ? <TimeLeft until={approval.expiresAt} /> : null}
      <span>created {dateTime(approval.createdAt)}</span>
      <ShortId id={approval.id} of="the id" />
      {workflow ? <OutsideLink href={workflow}>Workflow in the Temporal UI</OutsideLink> : null}
    </p>
  );
}

/** What it asks for, and what the policies say of it. */
function About({
  approval,
  change,
  organization,
  isOpen,
}: {
  readonly approval: Approval;
  /** As it is signed; undefined: nothing of it can be signed. */
  readonly change: Change | undefined;
  readonly organization: Organization;
  readonly isOpen: boolean;
}) {
  if ('resourceType' in approval) {
    return (
      <>
        <Section title="What changes" id="changes">
          <div className="card">
            <Difference proposal={approval} change={change ?? approval} organization={organization} />
          </div>
        </Section>
        {isOpen && change && approval.resourceType === 'admins' ? (
          <AdminsOnChain change={change} organization={organization} />
        ) : null}
        {isOpen && approval.resourceType === 'policies' ? <PolicyImpact proposalId={approval.id} /> : null}
      </>
    );
  }
  return (
    <>
      <Section title="What it does" id="details">
        <div className="card">
          <TransactionDetails transaction={approval} organization={organization} />
        </div>
      </Section>
      <References transaction={approval} />
      {isOpen ? (
        <Section title="Policy evaluation" id="policies">
          <div className="card">
            <PolicyEvaluations transaction={approval} organization={organization} />
          </div>
        </Section>
      ) : null}
    </>
  );
}

function Content({
  approval,
  organization,
  viewer,
}: {
  readonly approval: Approval;
  readonly organization: Organization;
  readonly viewer: Viewer;
}) {
  const now = useNow(Date.parse(approval.expiresAt));
  const state = stateOf(approval, now);
  const isExpired = state.text === 'Expired';
  const outcomes = outcomesOf(approval);
  const isOpen = approval.signingPayloads !== undefined && !isExpired;
  const { payloads, problem, isChanged, onRead } = useReading(approval, organization);
  const { review } = route.useSearch();
  const { data: admins } = useQuery(adminsQuery);
  const needsViewer = tabOf(approval, viewer, now) === 'you';
  const missing = isExpired ? undefined : missingOf(approval, organization, admins?.members ?? []);
  // Nobody can sign what has expired, and it is not compared any more.
  if (problem && !isExpired) {
    return (
      <Page title={`Request ${approval.id}`}>
        <RequestMismatch problem={problem} />
      </Page>
    );
  }
  return (
    <Page
      title={headline(approval, organization)}
      lead={<Lead approval={approval} isExpired={isExpired} state={state} />}
      actions={'resourceType' in approval ? null : <RepeatButton transaction={approval} />}
    >
      <div className={`stack ${styles.requestTop}`}>
        <Status {...{ approval, organization, isExpired, needsViewer, missing }} />
        {review && !needsViewer ? (
          <NextRequest id={approval.id} viewer={viewer} organization={organization} />
        ) : null}
      </div>
      <div className={styles.request}>
        <div>
          <About
            approval={approval}
            change={Object.values(payloads)[0]?.change}
            organization={organization}
            isOpen={isOpen}
          />
          {hasOutcome(approval) ? (
            <Section title="What happened" id="outcome">
              <div className="card">
                <Outcome approval={approval} organization={organization} />
              </div>
            </Section>
          ) : null}
          <Timeline id={approval.id} />
        </div>
        <div className={styles.requestSide}>
          {approval.signingPayloads || outcomes.approve || outcomes.reject ? (
            <Section title={isExpired ? 'Expired' : 'What you sign'} id="decide">
              <div className="card">
                <Decision
                  approval={approval}
                  organization={organization}
                  viewer={viewer}
                  payloads={payloads}
                  isExpired={isExpired}
                  isChanged={isChanged}
                  isReview={review !== undefined && needsViewer}
                  onRead={onRead}
                />
              </div>
            </Section>
          ) : null}
          <Section title="Signatures" id="signatures">
            <div className="card">
              <Signatures approval={approval} organization={organization} />
            </div>
          </Section>
        </div>
      </div>
    </Page>
  );
}

/** A proposal or a transaction: what it does, what is signed, and what became of it. */
export function RequestPage() {
  const { id } = route.useParams();
  const { member, isAdmin } = useSession();
  const { data: approval, error, refetch } = useQuery(approvalQuery(id));
  const { organization, error: organizationError, refetch: again } = useOrganization();
  const failure = (approval ? undefined : error) ?? (organization ? undefined : organizationError);
  if (failure) {
    return (
      <Page title="Request">
        <ErrorNotice
          error={failure}
          retry={() => {
            void refetch();
            again();
          }}
        />
      </Page>
    );
  }
  if (!approval || !organization) {
    return (
      <Page title="Request">
        <Loading what="the request" />
      </Page>
    );
  }
  const { policies, groups } = organization;
  return (
    <Content
      key={id}
      approval={approval}
      organization={organization}
      viewer={{ memberId: member.id, isAdmin, policies, groups }}
    />
  );
}
