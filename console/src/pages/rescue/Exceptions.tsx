import { Link } from '@tanstack/react-router';
import type { Organization } from '../../api/useOrganization.ts';
import { type AccountOnNetwork, accountsOnNetworks } from '../../domain/adminsSafe.ts';
import { RESCUE_STATES } from '../../text/adminsSafe.ts';
import { counted } from '../../text/counted.ts';
import { Badge } from '../../ui/Badge.tsx';
import { List } from '../../ui/List.tsx';
import { Empty } from '../../ui/States.tsx';
import type { Columns } from '../../ui/Table.tsx';

const COLUMNS: Columns<AccountOnNetwork> = [
  {
    name: 'Account',
    sortBy: ({ account }) => account.name,
    cell: ({ account: { id, name } }) => (
      <Link to="/accounts/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  { name: 'Network', sortBy: ({ network }) => network.name, cell: ({ network }) => network.name },
  {
    name: 'State',
    cell: ({ network: { rescue } }) => (
      <Badge tone={RESCUE_STATES[rescue].tone}>{RESCUE_STATES[rescue].text}</Badge>
    ),
  },
];

/** The accounts that the admins could not take over now, or have. */
export function Exceptions({ organization }: { readonly organization: Organization }) {
  const { accounts } = organization;
  if (accounts.length === 0) return <Empty title="No accounts" />;
  const rows = accountsOnNetworks(accounts).filter(({ network }) => network.rescue !== 'ready');
  if (rows.length === 0) {
    return (
      <p className="card row">
        <Badge tone="good">Ready</Badge>
        <span>
          {counted(accounts.length, 'account')} can be taken over, on{' '}
          {accounts.length === 1 ? 'its' : 'their'} networks.
        </span>
      </p>
    );
  }
  return (
    <List
      what="accounts"
      caption="Accounts that cannot be taken over now"
      columns={COLUMNS}
      rows={rows}
      rowKey={({ account, network }) => `${account.id}/${network.id}`}
      textOf={({ account: { name, address, id } }) => `${name} ${address} ${id}`}
      searchLabel="Search by name, address or id"
    />
  );
}
