import type { Approval } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { adminsQuery } from '../../api/queries.ts';
import {
  everyRequest,
  openRequestsQuery,
  pageSize,
  placesAfter,
  requestPageQuery,
} from '../../api/requests.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { useSession } from '../../api/useSession.ts';
import type { Viewer } from '../../domain/eligibility.ts';
import { countFilters, type RequestFilter, requestFilter } from '../../domain/requestFilter.ts';
import { placesText, readPlaces } from '../../domain/requestPages.ts';
import { byDeadline, OPEN_TABS, type RequestTab, tabOf } from '../../domain/requestTab.ts';
import { type RequestsSearch, requestsSearch } from '../../domain/search.ts';
import { requestColumns } from '../../text/requestColumns.ts';
import { Button } from '../../ui/Button.tsx';
import { Export } from '../../ui/Export.tsx';
import { Page } from '../../ui/Page.tsx';
import { Empty, ErrorNotice, Loaded, Loading } from '../../ui/States.tsx';
import { useNow } from '../../ui/TimeLeft.tsx';
import { WithOrganization } from '../../ui/WithOrganization.tsx';
import { RequestFilters } from './RequestFilters.tsx';
import { RequestList } from './RequestList.tsx';
import { RequestTabs, readTab, tabName } from './RequestTabs.tsx';

const route = getRouteApi('/requests');

type ListedTab = 'done' | 'failed' | 'expired';
const isOpenTab = (tab: RequestTab): tab is Exclude<RequestTab, ListedTab> => OPEN_TABS.includes(tab);

interface Tab {
  readonly tab: RequestTab;
  readonly search: RequestsSearch;
  readonly filter: RequestFilter;
  readonly organization: Organization;
  readonly now: number;
}

const NOTHING: { readonly [T in RequestTab]: string } = {
  you: 'Nothing needs you',
  ready: 'Nothing is ready to execute',
  progress: 'Nothing is in progress',
  failed: 'Nothing has failed',
  done: 'Nothing is done yet',
  expired: 'Nothing has expired',
};

function Nothing({ tab, search }: { readonly tab: RequestTab; readonly search: RequestsSearch }) {
  if (search.text || countFilters(search) > 0) {
    return (
      <Empty title="No request matches">
        <p>Search for something else, or clear the filters. Each tab is searched on its own.</p>
      </Empty>
    );
  }
  return (
    <Empty title={NOTHING[tab]}>
      {tab === 'you' ? (
        <p>
          Requests that you can sign appear here as soon as they are created.{' '}
          <Link to="/new/transfer">Create a transfer</Link>
        </p>
      ) : null}
    </Empty>
  );
}

function Rows({ approvals, tab, search, ...context }: Tab & { readonly approvals: readonly Approval[] }) {
  const { data: admins } = useQuery(adminsQuery);
  if (approvals.length === 0) return <Nothing tab={tab} search={search} />;
  const known = context.organization.members.filter(({ id }) => admins?.members.some((one) => one.id === id));
  return <RequestList approvals={approvals} label={tabName(tab)} tab={tab} admins={known} {...context} />;
}

/** The next and the first page. */
function Turning({
  isFirst,
  hasMore,
  onFirst,
  onNext,
}: {
  readonly isFirst: boolean;
  readonly hasMore: boolean;
  readonly onFirst: () => void;
  readonly onNext: () => Promise<void> | void;
}) {
  const [state, setState] = useState<{ isReading: boolean; error?: unknown }>({ isReading: false });
  const next = async () => {
    setState({ isReading: true });
    try {
      await onNext();
      setState({ isReading: false });
      scrollTo({ top: 0 });
    } catch (error) {
      setState({ isReading: false, error });
    }
  };
  if (isFirst && !hasMore) return null;
  return (
    <div className="stack-small">
      {state.error === undefined ? null : <ErrorNotice error={state.error} />}
      <nav className="row" aria-label="Pages">
        {isFirst ? null : <Button onClick={onFirst}>Newest</Button>}
        {hasMore ? (
          <Button busy={state.isReading} onClick={() => void next()}>
            Older
          </Button>
        ) : (
          <p className="small muted">There are no more.</p>
        )}
      </nav>
    </div>
  );
}

/** What is open in a tab: sorted by what expires first. */
function OpenRows({ found, ...tab }: Tab & { readonly found: readonly Approval[] }) {
  const navigate = route.useNavigate();
  const first = Number(tab.search.after ?? 0) || 0;
  const size = pageSize();
  const turn = (after: number) =>
    void navigate({ search: requestsSearch({ ...tab.search, after: after === 0 ? '' : String(after) }) });
  return (
    <>
      <Rows {...tab} approvals={found.slice(first, first + size)} />
      <Turning
        isFirst={first === 0}
        hasMore={found.length > first + size}
        onFirst={() => turn(0)}
        onNext={() => turn(first + size)}
      />
    </>
  );
}

/** A page of what is not open. A change reads this page again, and no other. */
function ListedRows({ status, ...tab }: Tab & { readonly status: ListedTab }) {
  const navigate = route.useNavigate();
  const { after } = tab.search;
  const places = useMemo(() => readPlaces(after), [after]);
  const query = useQuery(requestPageQuery(tab.filter, status, places));
  return (
    <Loaded query={query} what="the requests">
      {(page) => (
        <>
          <Rows {...tab} approvals={page.rows} />
          <Turning
            isFirst={!after}
            hasMore={page.hasMore}
            onFirst={() => void navigate({ search: requestsSearch({ ...tab.search, after: '' }) })}
            onNext={async () => {
              const next = placesText(await placesAfter(page, tab.filter, status));
              await navigate({ search: { ...tab.search, after: next } });
            }}
          />
        </>
      )}
    </Loaded>
  );
}

async function* within(tab: RequestTab, filter: RequestFilter, viewer: Viewer, signal: AbortSignal) {
  const status = isOpenTab(tab) ? undefined : tab;
  for await (const one of everyRequest(filter, status, { signal }))
    if (status !== undefined || tabOf(one, viewer, Date.now()) === tab) yield one;
}

function Content({ organization }: { readonly organization: Organization }) {
  const { member, isAdmin } = useSession();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const tab = readTab(search.tab);
  const filter = useMemo(() => requestFilter(search), [search]);
  const open = useQuery(openRequestsQuery(filter));
  const now = useNow(Number.POSITIVE_INFINITY);
  const { policies, groups } = organization;
  const viewer = { memberId: member.id, isAdmin, policies, groups };
  const ofTab = (one: RequestTab) =>
    (open.data ?? []).filter((approval) => tabOf(approval, viewer, now) === one);
  const counts = Object.fromEntries(OPEN_TABS.map((one) => [one, ofTab(one).length]));
  const shown = { tab, search, filter, organization, now };
  return (
    <div className="stack">
      <RequestTabs current={tab} search={search} counts={counts} />
      <RequestFilters
        search={search}
        organization={organization}
        onChange={(next) => void navigate({ search: next, replace: true, resetScroll: false })}
      />
      {open.error ? <ErrorNotice error={open.error} retry={() => void open.refetch()} /> : null}
      {!isOpenTab(tab) ? (
        <ListedRows {...shown} status={tab} />
      ) : open.data ? (
        <OpenRows {...shown} found={ofTab(tab).sort(byDeadline)} />
      ) : open.error ? null : (
        <Loading what="the requests" />
      )}
      <Export
        what={`requests: ${tabName(tab)}`}
        fileName={`requests-${tab}.csv`}
        columns={requestColumns(organization)}
        read={(signal) => within(tab, filter, viewer, signal)}
      />
    </div>
  );
}

/** Transactions and proposals, by what is to be done about them. */
export function RequestsPage() {
  return (
    <Page title="Requests" lead="Transactions and proposals. Open ones that expire soonest are at the top.">
      <WithOrganization what="the requests">
        {(organization) => <Content organization={organization} />}
      </WithOrganization>
    </Page>
  );
}
