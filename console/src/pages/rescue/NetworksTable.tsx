import type { Schema } from '@orgwallet/client';
import type { Organization } from '../../api/useOrganization.ts';
import { accountsOnNetworks, isLate, type SafeOnNetwork } from '../../domain/adminsSafe.ts';
import { SAFE_STATES } from '../../text/adminsSafe.ts';
import { dateTime } from '../../text/time.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Empty } from '../../ui/States.tsx';
import { type Columns, Table } from '../../ui/Table.tsx';
import { useNow } from '../../ui/TimeLeft.tsx';

/** The admins' Safe on each network, and how many accounts it can take over there. */
export function NetworksTable({
  admins,
  organization,
}: {
  readonly admins: Schema['Admins'];
  readonly organization: Organization;
}) {
  const now = useNow(Number.POSITIVE_INFINITY);
  const { networks } = admins.onChain;
  const onNetworks = accountsOnNetworks(organization.accounts);
  if (networks.length === 0) {
    return (
      <Empty title="Not set up on any network yet">
        <p>The Safe is made on each network with the first account there.</p>
      </Empty>
    );
  }
  const columns: Columns<SafeOnNetwork> = [
    { name: 'Network', cell: ({ networkId }) => organization.network(networkId) ?? `network ${networkId}` },
    {
      name: 'Status',
      cell: (safe) => {
        const { text, tone, meaning } = SAFE_STATES[safe.status];
        return (
          <>
            <Badge tone={isLate(safe, now) ? 'danger' : tone}>{text}</Badge>
            {meaning ? <p className="small muted">{meaning}</p> : null}
          </>
        );
      },
    },
    {
      name: 'Owners',
      cell: ({ owners, threshold }) =>
        owners === null ? (
          <span className="muted">not read</span>
        ) : (
          `${threshold} of ${owners.length} must sign`
        ),
    },
    {
      name: 'Accounts',
      cell: ({ networkId }) => {
        const here = onNetworks.filter(({ network }) => network.id === networkId);
        const ready = here.filter(({ network }) => network.rescue === 'ready').length;
        return `${ready} of ${here.length} can be taken over`;
      },
    },
    { name: 'Since', cell: ({ since }) => <time dateTime={since}>{dateTime(since)}</time> },
  ];
  return (
    <Table
      caption="The admins' Safe on each network"
      columns={columns}
      rows={networks}
      rowKey={({ networkId }) => String(networkId)}
    />
  );
}
