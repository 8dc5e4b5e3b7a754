import type { Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { statementQuery, statementRowsQuery } from '../../api/movements.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { assetText, shortAmountText } from '../../domain/amounts.ts';
import {
  type BalanceOverTime as Balances,
  balanceOverTime,
  extremesOf,
} from '../../domain/balanceOverTime.ts';
import { startOfDay } from '../../domain/paidPerDay.ts';
import { counted } from '../../text/counted.ts';
import { UNPROVED } from '../../text/movements.ts';
import { dateTime } from '../../text/time.ts';
import { BalanceChart } from '../../ui/BalanceChart.tsx';
import { SelectField } from '../../ui/Field.tsx';
import { Loading } from '../../ui/States.tsx';
import { StatementError } from './StatementError.tsx';
import styles from './statement.module.css';

const DAYS = 90;

interface Props {
  readonly account: Schema['Account'];
  readonly organization: Organization;
}

/** What a chart shows, in words. */
function wordsOf({ before, points }: Balances, { asset, toBlock }: Schema['AssetStatement']): string {
  const text = (balance: bigint) => assetText(balance, asset, shortAmountText);
  const balances = [before, ...points.map(({ balance }) => balance)];
  const { least, most } = extremesOf(balances);
  const begin = new Date(points[0]?.at ?? 0).toISOString();
  const last = balances.at(-1) ?? 0n;
  return [
    `${text(before)} before ${dateTime(begin)}, ${text(last)} at block ${toBlock}`,
    `at least ${text(least)}, at most ${text(most)}`,
  ].join('; ');
}

/** Why there is no chart of an asset. */
function reasonOf({ difference, unproved }: Schema['AssetStatement'], count: number): string {
  if (unproved) return `The balance is not compared with the network: ${UNPROVED[unproved]}.`;
  if (difference !== '0') return 'A part of the balance is unexplained: its statement says in which blocks.';
  if (count === 0) return `Nothing moved in ${DAYS} days.`;
  return 'The movements do not lead from the first balance to the last: open it again later.';
}

/** The balance of one asset, after each movement. */
function OfAsset({
  statement,
  asset,
}: {
  readonly statement: Schema['Statement'];
  readonly asset: Schema['AssetStatement'];
}) {
  const isProved = asset.difference === '0';
  const query = useQuery({ ...statementRowsQuery(statement, asset.asset.id), enabled: isProved });
  const { data, error } = query;
  if (error) return <StatementError error={error} retry={() => void query.refetch()} />;
  if (isProved && !data) return <Loading what="the movements" />;
  const rows = data?.rows ?? [];
  const balances = data && balanceOverTime(asset, rows, data.isWhole);
  if (!balances || rows.length === 0) return <p className="muted">{reasonOf(asset, rows.length)}</p>;
  const words = wordsOf(balances, asset);
  return (
    <figure className="stack-small">
      <BalanceChart {...balances} of={words} />
      <figcaption className="small muted">
        {words}. From the balance on chain at block {asset.toBlock}, backwards through{' '}
        {data?.isWhole ? 'all' : 'the last'} {counted(rows.length, 'confirmed movement')} of {DAYS} days.
      </figcaption>
    </figure>
  );
}

function Chart({ account, organization }: Props) {
  const [from] = useState(() => new Date(startOfDay(Date.now(), DAYS)).toISOString());
  const [chosen, setChosen] = useState('');
  const { data, error, refetch } = useQuery(statementQuery(account.id, { from }));
  if (error) return <StatementError error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="the balance over time" />;
  const asset = data.assets.find((one) => one.asset.id === chosen) ?? data.assets[0];
  if (!asset) return <p className="muted">Nothing moved.</p>;
  return (
    <div className="stack-small">
      <div className={styles.choice}>
        <SelectField label="Asset" value={asset.asset.id} onChange={({ target }) => setChosen(target.value)}>
          {data.assets.map(({ asset: { id, symbol, tokenAddress }, networkId }) => (
            <option key={id} value={id}>
              {symbol || tokenAddress} on {organization.network(networkId) ?? networkId}
            </option>
          ))}
        </SelectField>
      </div>
      <OfAsset key={asset.asset.id} statement={data} asset={asset} />
    </div>
  );
}

/** What an account held of an asset in the last days; read once somebody asks for it, because networks are asked for balances of the past. */
export function BalanceOverTime(props: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="card" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Balance over {DAYS} days</summary>
      {isOpen ? (
        <div className={styles.over}>
          <Chart {...props} />
        </div>
      ) : null}
    </details>
  );
}
