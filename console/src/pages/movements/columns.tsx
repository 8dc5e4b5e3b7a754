import type { Schema } from '@orgwallet/client';
import { Link } from '@tanstack/react-router';
import type { Organization } from '../../api/useOrganization.ts';
import { dateTime } from '../../text/time.ts';
import { ExplorerLink } from '../../ui/ExplorerLink.tsx';
import type { Column, Columns } from '../../ui/Table.tsx';
import { Counterparty, Marks, Moved, MovementStatus } from './cells.tsx';

type Movement = Schema['Movement'];

/** Movements in a table: the amount first. Those of one account do not repeat it. */
export function movementTable(organization: Organization, of: 'account' | 'all'): Columns<Movement> {
  const account: Column<Movement> = {
    name: 'Account',
    cell: ({ accountId }) => (
      <Link to="/accounts/$id" params={{ id: accountId }}>
        {organization.account(accountId) ?? accountId}
      </Link>
    ),
  };
  return [
    {
      name: 'Amount',
      cell: (movement) => (
        <div className="stack-small">
          <Moved movement={movement} />
          <Marks movement={movement} />
        </div>
      ),
    },
    { name: 'From or to', cell: (movement) => <Counterparty movement={movement} /> },
    ...(of === 'all' ? [account] : []),
    {
      name: 'Time',
      cell: ({ blockAt, blockNumber, networkId }) => (
        <span title={`block ${blockNumber}`}>
          <time dateTime={blockAt}>{dateTime(blockAt)}</time>{' '}
          <span className="small muted">{organization.network(networkId) ?? `network ${networkId}`}</span>
        </span>
      ),
    },
    { name: 'Status', cell: ({ status }) => <MovementStatus status={status} /> },
    {
      name: 'Transaction',
      cell: ({ transactionId, transactionHash, networkId }) => (
        <span className="row">
          {transactionId ? (
            <Link to="/requests/$id" params={{ id: transactionId }}>
              Request<span className="hidden-visually"> {transactionId}</span>
            </Link>
          ) : null}
          <ExplorerLink
            network={organization.networks.find(({ id }) => id === networkId)}
            kind="tx"
            value={transactionHash}
            of={`transaction ${transactionHash.slice(0, 8)}`}
          />
        </span>
      ),
    },
  ];
}
