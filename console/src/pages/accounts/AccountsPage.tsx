import type { Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { accountsQuery } from '../../api/queries.ts';
import { AddressIcon } from '../../ui/AddressIcon.tsx';
import { FormLink, NextStep } from '../../ui/NextStep.tsx';
import { Page } from '../../ui/Page.tsx';
import { ShortText } from '../../ui/ShortText.tsx';
import { Empty, Loaded } from '../../ui/States.tsx';
import { type Column, type Columns, Table } from '../../ui/Table.tsx';
import { AccountFunds } from './AccountFunds.tsx';

const CREATE = { to: '/new/accounts' } as const;
/** Balances are read from the chains, account by account: of more accounts they are only on their own pages. */
const MOST_WITH_FUNDS = 25;

const columns: Columns<Schema['Account']> = [
  {
    name: 'Account',
    cell: ({ id, name, address }) => (
      <span className="with-icon">
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
  { name: 'Networks', cell: ({ networks }) => networks.map(({ name }) => name).join(', ') },
];
const funds: Column<Schema['Account']> = {
  name: 'Balance',
  cell: (account) => <AccountFunds account={account} />,
  align: 'end',
};

/** The shared wallets of the organization. */
export function AccountsPage() {
  const query = useQuery(accountsQuery);
  return (
    <Page
      title="Accounts"
      lead="Shared wallets. Each has one address, the same on all its networks."
      actions={query.data?.length ? <FormLink place={CREATE} name="New account" /> : null}
    >
      <Loaded query={query} what="the accounts">
        {(accounts) =>
          accounts.length === 0 ? (
            <Empty title="No accounts">
              <p>An account is created once the admins have approved it.</p>
              <NextStep place={CREATE} name="Create an account" />
            </Empty>
          ) : (
            <Table
              caption="Accounts"
              columns={accounts.length > MOST_WITH_FUNDS ? columns : [...columns, funds]}
              rows={accounts}
              rowKey={({ id }) => id}
            />
          )
        }
      </Loaded>
    </Page>
  );
}
