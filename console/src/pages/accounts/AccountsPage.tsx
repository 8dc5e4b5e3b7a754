import type { Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { accountsQuery } from '../../api/queries.ts';
import { AddressIcon } from '../../ui/AddressIcon.tsx';
import iconsStyles from '../../ui/icons.module.css';
import { List, type ListFilter } from '../../ui/List.tsx';
import { FormLink, NextStep } from '../../ui/NextStep.tsx';
import { Page } from '../../ui/Page.tsx';
import { ShortText } from '../../ui/ShortText.tsx';
import { Empty, Loaded } from '../../ui/States.tsx';
import type { Column, Columns } from '../../ui/Table.tsx';
import { AccountFunds } from './AccountFunds.tsx';

const CREATE = { to: '/new/accounts' } as const;
/** Balances are read from the chains, account by account: of more accounts they are only on their own pages. */
const MOST_WITH_FUNDS = 25;

const networkNames = ({ networks }: Schema['Account']) => networks.map(({ name }) => name).join(', ');

const columns: Columns<Schema['Account']> = [
  {
    name: 'Account',
    sortBy: ({ name }) => name,
    cell: ({ id, name, address }) => (
      <span className={iconsStyles.withIcon}>
        <AddressIcon address={address} />
        <Link to="/accounts/$id" params={{ id }}>
          {name}
        </Link>
      </span>
    ),
  },
  {
    name: 'Address',
    cell: ({ address, name }) => <ShortText text={address} of={`address of ${name}`} />,
  },
  {
    name: 'Networks',
    sortBy: networkNames,
    cell: networkNames,
  },
];
const funds: Column<Schema['Account']> = {
  name: 'Balance',
  cell: (account) => <AccountFunds account={account} />,
  align: 'end',
};
const withFunds: Columns<Schema['Account']> = [...columns, funds];

/** One for each network that accounts are on. */
const filtersOf = (accounts: readonly Schema['Account'][]): readonly ListFilter<Schema['Account']>[] => {
  const networks = new Map(accounts.flatMap((one) => one.networks.map(({ id, name }) => [String(id), name])));
  return [
    {
      label: 'Network',
      options: [...networks].map(([value, name]) => ({ value, name })),
      has: (account, value) => account.networks.some(({ id }) => String(id) === value),
    },
  ];
};

/** The shared wallets of the organization. */
export function AccountsPage() {
  const query = useQuery(accountsQuery);
  return (
    <Page
      title="Accounts"
      lead="Shared wallets. Each has one address, the same on all its networks."
      actions={
        query.data?.length ? (
          <>
            <Link to="/movements">Movements</Link>
            <Link to="/fees">Fees</Link>
            <FormLink place={CREATE} name="New account" />
          </>
        ) : null
      }
    >
      <Loaded query={query} what="the accounts">
        {(accounts) =>
          accounts.length === 0 ? (
            <Empty title="No accounts">
              <p>An account is created once the admins have approved it.</p>
              <NextStep place={CREATE} name="Create an account" />
            </Empty>
          ) : (
            <List
              what="accounts"
              caption="Accounts"
              columns={accounts.length > MOST_WITH_FUNDS ? columns : withFunds}
              rows={accounts}
              rowKey={({ id }) => id}
              textOf={({ id, name, address }) => `${name} ${address} ${id}`}
              searchLabel="Search by name, address or id"
              filters={filtersOf(accounts)}
            />
          )
        }
      </Loaded>
    </Page>
  );
}
