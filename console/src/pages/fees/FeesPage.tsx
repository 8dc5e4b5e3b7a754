import type { Schema } from '@orgwallet/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { orgwallet } from '../../api/client.ts';
import { feesQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { type FeesSearch, feesSearch, networkFilter } from '../../domain/search.ts';
import { feeColumns } from '../../text/feeColumns.ts';
import { FEE_KINDS } from '../../text/labels.ts';
import { Amount } from '../../ui/Amount.tsx';
import { Export } from '../../ui/Export.tsx';
import { RecordField } from '../../ui/Field.tsx';
import { filterFields } from '../../ui/filterFields.ts';
import filtersStyles from '../../ui/filters.module.css';
import { Page, Section } from '../../ui/Page.tsx';
import { PagedTable } from '../../ui/PagedTable.tsx';
import { usePages } from '../../ui/Pager.tsx';
import { Empty } from '../../ui/States.tsx';
import type { Columns } from '../../ui/Table.tsx';
import { WithOrganization } from '../../ui/WithOrganization.tsx';

type Fee = Schema['Fee'];

const filterOf = ({ accountId, policyId, networkId }: FeesSearch) => ({
  ...(accountId ? { accountId } : {}),
  ...(policyId ? { policyId } : {}),
  ...networkFilter(networkId),
});

const keyOf = ({ month, networkId, accountId, policyId, kind }: Fee) =>
  [month, networkId, accountId, policyId, kind].join();

const columnsOf = ({ account, network, policies }: Organization): Columns<Fee> => [
  { name: 'Month', cell: ({ month }) => month },
  {
    name: 'Account',
    cell: ({ accountId }) =>
      accountId === null ? null : (
        <Link to="/accounts/$id" params={{ id: accountId }}>
          {account(accountId) ?? accountId}
        </Link>
      ),
  },
  { name: 'Network', cell: ({ networkId }) => network(networkId) ?? networkId },
  { name: 'Policy', cell: ({ policyId }) => policies.find(({ id }) => id === policyId)?.name ?? policyId },
  { name: 'For', cell: ({ kind, chainTransactions }) => `${chainTransactions} × ${FEE_KINDS[kind]}` },
  {
    name: 'Paid',
    align: 'end',
    cell: ({ paid, asset, unknown }) => (
      <>
        <Amount raw={paid} asset={asset ?? undefined} />
        {unknown > 0 ? <p className="small muted">and {unknown} not known</p> : null}
      </>
    ),
  },
];

function Fees({ organization }: { readonly organization: Organization }) {
  const search = useSearch({ from: '/fees' });
  const navigate = useNavigate();
  const filter = filterOf(search);
  const query = useInfiniteQuery(feesQuery(filter));
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? [];
  const { shown, pages } = usePages(rows, JSON.stringify(filter), { narrow: 4, wide: 20 });
  const { choice } = filterFields(
    search,
    (fields: Partial<FeesSearch>) =>
      void navigate({ to: '/fees', search: feesSearch({ ...search, ...fields }), resetScroll: false }),
  );
  const { accounts, policies, networks } = organization;
  return (
    <Section
      title="By month"
      id="by-month"
      aside={
        <Export
          what="fees"
          fileName="fees.csv"
          columns={feeColumns(organization)}
          read={(signal) => orgwallet.each('listFees', filter, { signal })}
        />
      }
    >
      <div className="stack">
        <fieldset className={filtersStyles.filters}>
          <legend className="hidden-visually">Which fees</legend>
          <RecordField label="Account" records={accounts} {...choice('accountId')} />
          <RecordField label="Policy" records={policies} {...choice('policyId')} />
          <RecordField label="Network" records={networks} {...choice('networkId')} />
        </fieldset>
        <PagedTable
          query={query}
          loading="the fees"
          what="fees"
          caption="Fees, the newest month first"
          columns={columnsOf(organization)}
          rows={shown}
          rowKey={keyOf}
          pages={pages}
          empty={
            <Empty title="No fees">
              <p>What relayers pay appears here once a chain transaction has its confirmations.</p>
            </Empty>
          }
        />
      </div>
    </Section>
  );
}

/** What the relayers have paid for the organization. */
export function FeesPage() {
  return (
    <Page
      title="Fees"
      lead="What the relayers have paid for chain transactions of the organization, including those that reverted."
    >
      <WithOrganization what="the fees">
        {(organization) => <Fees organization={organization} />}
      </WithOrganization>
    </Page>
  );
}
