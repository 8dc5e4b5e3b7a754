import type { Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { balancesQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { amountText } from '../../domain/amounts.ts';
import { NATIVE_CURRENCY } from '../../domain/assets.ts';
import { timeOfDay } from '../../text/time.ts';
import { AssetIcon, ChainIcon } from '../../ui/AssetIcon.tsx';
import { Button } from '../../ui/Button.tsx';
import { NextStep } from '../../ui/NextStep.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { ShortText } from '../../ui/ShortText.tsx';
import { Empty, Loaded } from '../../ui/States.tsx';
import { type Columns, Table } from '../../ui/Table.tsx';

type Balance = Schema['Balance'];

function Asset({ networkId, asset }: Pick<Balance, 'networkId' | 'asset'>) {
  const { symbol, name, tokenAddress } = asset;
  return (
    <>
      <AssetIcon networkId={networkId} asset={asset} /> {symbol || name || 'A token without a symbol'}
      {name && symbol ? <span className="muted"> {name}</span> : null}
      {tokenAddress === NATIVE_CURRENCY ? null : (
        <div className="small">
          <ShortText text={tokenAddress} of={`address of the token ${symbol}`} />
        </div>
      )}
    </>
  );
}

function NetworkName({ id, organization }: { readonly id: number; readonly organization: Organization }) {
  const network = organization.networks.find((one) => one.id === id);
  if (!network) return `network ${id}`;
  return (
    <span>
      <ChainIcon network={network} /> {network.name}
    </span>
  );
}

/** When the balances were read, and reads them again. */
export function RefreshBalances({ accountId }: { readonly accountId: string }) {
  const { dataUpdatedAt, isFetching, refetch } = useQuery(balancesQuery(accountId));
  return (
    <div className="row small">
      {dataUpdatedAt > 0 ? <span className="muted">read at {timeOfDay(dataUpdatedAt)}</span> : null}
      <Button look="quiet" className="small" busy={isFetching} onClick={() => void refetch()}>
        Refresh
      </Button>
    </div>
  );
}

/** What an account holds, of every asset on every network. */
export function Balances({
  accountId,
  organization,
}: {
  readonly accountId: string;
  readonly organization: Organization;
}) {
  const query = useQuery(balancesQuery(accountId));
  const networkName = (id: number) => organization.network(id) ?? `network ${id}`;
  const columns: Columns<Balance> = [
    { name: 'Asset', cell: ({ networkId, asset }) => <Asset networkId={networkId} asset={asset} /> },
    { name: 'Network', cell: ({ networkId }) => <NetworkName id={networkId} organization={organization} /> },
    {
      name: 'Amount',
      align: 'end',
      cell: ({ rawAmount, asset }) =>
        rawAmount === null ? (
          <span className="muted">unavailable</span>
        ) : (
          amountText(rawAmount, asset.decimals)
        ),
    },
  ];
  return (
    <Loaded query={query} what="the balances">
      {(balances) => {
        const unavailable = [
          ...new Set(balances.filter((one) => one.unavailable).map((one) => one.networkId)),
        ];
        return (
          <div className="stack">
            {unavailable.length > 0 ? (
              <Notice tone="warning" title={`${unavailable.map(networkName).join(', ')} unavailable`}>
                <p>The balances there are shown again once the network answers.</p>
              </Notice>
            ) : null}
            {balances.length === 0 ? (
              <Empty title="This account is on no network yet">
                <NextStep place={{ to: '/new/accounts', id: accountId }} name="Add it to a network" />
              </Empty>
            ) : (
              <Table
                caption="Balances"
                columns={columns}
                rows={balances}
                rowKey={({ networkId, asset }) => `${networkId}:${asset.id}`}
              />
            )}
          </div>
        );
      }}
    </Loaded>
  );
}
