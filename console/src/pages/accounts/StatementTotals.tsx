import type { Schema } from '@orgwallet/client';
import type { Organization } from '../../api/useOrganization.ts';
import { NATIVE_CURRENCY } from '../../domain/assets.ts';
import { signedText, UNPROVED } from '../../text/movements.ts';
import { Amount } from '../../ui/Amount.tsx';
import { AssetIcon } from '../../ui/AssetIcon.tsx';
import { ShortText } from '../../ui/ShortText.tsx';
import { Empty } from '../../ui/States.tsx';
import { type Columns, Table } from '../../ui/Table.tsx';

type Stated = Schema['AssetStatement'];

/** Nothing was held, and nothing moved. */
const isNothing = ({ opening, closing, difference, movements }: Stated) =>
  movements === 0 && opening === '0' && closing === '0' && difference === '0';

function Difference({ asset, difference, unexplained, unproved }: Stated) {
  if (unproved) return <span className="muted">not compared: {UNPROVED[unproved]}</span>;
  if (difference === null) return <span className="muted">not compared</span>;
  if (difference === '0') return '0';
  return (
    <div className="stack-small">
      <b>{signedText(difference, asset)} unexplained</b>
      <ul className="small">
        {unexplained.map(({ fromBlock, toBlock, amount }) => (
          <li key={fromBlock}>
            {signedText(amount, asset)} in{' '}
            {fromBlock === toBlock ? `block ${fromBlock}` : `blocks ${fromBlock} to ${toBlock}`}
          </li>
        ))}
      </ul>
    </div>
  );
}

const columnsOf = (organization: Organization): Columns<Stated> => {
  const amount = (name: string, of: (one: Stated) => string | null) => ({
    name,
    align: 'end' as const,
    cell: (one: Stated) => {
      const raw = of(one);
      return raw === null ? <span className="muted">not known</span> : <Amount raw={raw} asset={one.asset} />;
    },
  });
  return [
    {
      name: 'Asset',
      cell: ({ networkId, asset, fromBlock, toBlock }) => (
        <>
          <AssetIcon networkId={networkId} asset={asset} />{' '}
          <bdi>{asset.symbol || 'A token without a symbol'}</bdi>{' '}
          <span className="muted">{organization.network(networkId) ?? `network ${networkId}`}</span>
          {asset.tokenAddress === NATIVE_CURRENCY ? null : (
            <div className="small">
              <ShortText
                text={asset.tokenAddress}
                of={`address of the token ${asset.symbol}`}
                head={6}
                tail={4}
              />
            </div>
          )}
          <p className="small muted">
            {toBlock < fromBlock ? 'no block in the period' : `blocks ${fromBlock} to ${toBlock}`}
          </p>
        </>
      ),
    },
    amount('Opening', ({ opening }) => opening),
    amount('In', (one) => one.in),
    amount('Out', ({ out }) => out),
    amount('Fees', ({ fees }) => fees),
    { name: 'Difference', align: 'end', cell: Difference },
    amount('Closing', ({ closing }) => closing),
  ];
};

/** Each asset of a statement: opening + in − out − fees + difference = closing. */
export function StatementTotals({
  statement: { assets },
  organization,
}: {
  readonly statement: Schema['Statement'];
  readonly organization: Organization;
}) {
  const rows = assets.filter((one) => !isNothing(one));
  if (rows.length === 0) return <Empty title="Nothing was held, and nothing moved" />;
  return (
    <Table
      caption="Totals of each asset: opening + in − out − fees + difference = closing"
      columns={columnsOf(organization)}
      rows={rows}
      rowKey={({ asset }) => asset.id}
    />
  );
}
