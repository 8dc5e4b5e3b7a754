import type { Schema, Transaction } from '@orgwallet/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { orgwallet } from '../../api/client.ts';
import { transactionPagesQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { type HistorySearch, networkFilter } from '../../domain/search.ts';
import { TRANSACTION_COLUMNS } from '../../text/csvColumns.ts';
import { stateOf } from '../../text/labels.ts';
import { dateTime } from '../../text/time.ts';
import { Badge } from '../../ui/Badge.tsx';
import { ExplorerLink } from '../../ui/ExplorerLink.tsx';
import { Export } from '../../ui/Export.tsx';
import { Headline } from '../../ui/Headline.tsx';
import { NextStep } from '../../ui/NextStep.tsx';
import { Section } from '../../ui/Page.tsx';
import { PagedTable } from '../../ui/PagedTable.tsx';
import { usePages } from '../../ui/Pager.tsx';
import { ShortText } from '../../ui/ShortText.tsx';
import { Empty } from '../../ui/States.tsx';
import type { Columns } from '../../ui/Table.tsx';
import { HistoryFilters } from './HistoryFilters.tsx';
import { HistoryTabs } from './HistoryTabs.tsx';

const STATUSES: readonly string[] = ['queued', 'executed'] satisfies Schema['TransactionFilter'][];
const TYPES: readonly string[] = ['TOKEN_TRANSFER', 'CONTRACT_INTERACTION'] satisfies Transaction['type'][];

/** What the service looks for; what it does not know is left out. */
function filterOf(accountId: string, { status = '', networkId, type = '' }: HistorySearch) {
  return {
    accountId,
    ...networkFilter(networkId),
    ...(STATUSES.includes(status) ? { status: status as Schema['TransactionFilter'] } : {}),
    ...(TYPES.includes(type) ? { type: type as Transaction['type'] } : {}),
  };
}

function ChainLink({ of, organization }: { readonly of: Transaction; readonly organization: Organization }) {
  const hash = of.result?.transactionHash ?? of.chain?.transactionHash;
  if (hash === undefined) return null;
  const network = organization.networks.find(({ id }) => id === of.networkId);
  return (
    <div className="row">
      <ShortText text={hash} of="transaction hash" />
      <ExplorerLink network={network} kind="tx" value={hash} of={`transaction ${hash.slice(0, 8)}`} />
    </div>
  );
}

const columnsOf = (organization: Organization): Columns<Transaction> => [
  {
    name: 'Transaction',
    cell: (transaction) => (
      <>
        <Link to="/requests/$id" params={{ id: transaction.id }}>
          <Headline request={transaction} organization={organization} />
        </Link>
        {transaction.description ? <p className="small muted">{transaction.description}</p> : null}
      </>
    ),
  },
  { name: 'Initiator', cell: ({ initiator }) => initiator.name },
  { name: 'Created', cell: ({ createdAt }) => <time dateTime={createdAt}>{dateTime(createdAt)}</time> },
  {
    name: 'State',
    cell: (transaction) => {
      const { text, tone } = stateOf(transaction, Date.now());
      return <Badge tone={tone}>{text}</Badge>;
    },
  },
  {
    name: 'Transaction hash',
    cell: (transaction) => <ChainLink of={transaction} organization={organization} />,
  },
];

function NothingFound({
  isFiltered,
  accountId,
}: {
  readonly isFiltered: boolean;
  readonly accountId: string;
}) {
  return isFiltered ? (
    <Empty title="No transaction matches the filters">
      <p>Choose other filters.</p>
    </Empty>
  ) : (
    <Empty title="No transactions yet">
      <p>A transaction appears here as soon as it is created.</p>
      <NextStep place={{ to: '/new/transfer', accountId }} name="New transfer" />
    </Empty>
  );
}

/** The transactions of an account, newest first. */
export function History({
  account,
  search,
  organization,
}: {
  readonly account: Schema['Account'];
  readonly search: HistorySearch;
  readonly organization: Organization;
}) {
  const navigate = useNavigate();
  const filter = filterOf(account.id, search);
  const query = useInfiniteQuery(transactionPagesQuery(filter));
  const read = query.data?.pages.flatMap(({ data }) => data) ?? [];
  const { shown, pages } = usePages(read, JSON.stringify(search), { narrow: 3, wide: 20 });
  const isFiltered = Object.values(search).some(Boolean);
  return (
    <Section
      title="History"
      id="history"
      aside={
        <Export
          what="transactions"
          fileName={`transactions-${account.id}.csv`}
          columns={TRANSACTION_COLUMNS}
          read={(signal) => orgwallet.each('listTransactions', filter, { signal })}
        />
      }
    >
      <div className="stack">
        <HistoryTabs accountId={account.id} current="transactions" />
        <HistoryFilters
          search={search}
          networks={organization.networks.filter(({ id }) => account.networks.some((one) => one.id === id))}
          onChange={(next) =>
            void navigate({
              to: '/accounts/$id',
              params: { id: account.id },
              search: next,
              replace: true,
              resetScroll: false,
            })
          }
        />
        <PagedTable
          query={query}
          loading="the history"
          what="transactions"
          caption={`Transactions of ${account.name}, newest first`}
          columns={columnsOf(organization)}
          rows={shown}
          rowKey={({ id }) => id}
          pages={pages}
          empty={<NothingFound isFiltered={isFiltered} accountId={account.id} />}
        />
      </div>
    </Section>
  );
}
