import type { Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { balancesQuery } from '../../api/queries.ts';
import { amountText } from '../../domain/amounts.ts';

/** What an account holds, in one cell: networks that do not answer are named on its own page. */
export function AccountFunds({ account }: { readonly account: Schema['Account'] }) {
  const { id, networks } = account;
  const networkName = (networkId: number) => networks.find((one) => one.id === networkId)?.name;
  const { data, error } = useQuery(balancesQuery(id));
  if (!data) return <span className="muted">{error ? 'unavailable' : '…'}</span>;
  const held = data.filter(({ rawAmount }) => rawAmount !== null && rawAmount !== '0');
  const isOnSeveral = new Set(data.map(({ networkId }) => networkId)).size > 1;
  const isIncomplete = data.some(({ unavailable }) => unavailable);
  return (
    <ul>
      {held.map(({ networkId, asset, rawAmount }) => (
        <li key={`${networkId}:${asset.id}`}>
          {amountText(rawAmount ?? '0', asset.decimals)} {asset.symbol || 'tokens'}
          {isOnSeveral ? (
            <span className="small muted"> on {networkName(networkId) ?? `network ${networkId}`}</span>
          ) : null}
        </li>
      ))}
      {isIncomplete ? <li className="muted">a network is unavailable</li> : null}
      {held.length === 0 && !isIncomplete ? <li className="muted">none</li> : null}
    </ul>
  );
}
