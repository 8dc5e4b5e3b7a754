import type { Schema } from '@orgwallet/client';
import { Link } from '@tanstack/react-router';
import type { Organization } from '../../api/useOrganization.ts';
import { NATIVE_CURRENCY } from '../../domain/assets.ts';
import { counted } from '../../text/counted.ts';
import { dateTime, dateTimeZone } from '../../text/time.ts';
import { valueText } from '../../text/values.ts';
import { Amount } from '../../ui/Amount.tsx';
import { AssetIcon } from '../../ui/AssetIcon.tsx';
import { NextStep } from '../../ui/NextStep.tsx';
import { Section } from '../../ui/Page.tsx';
import { ShortText } from '../../ui/ShortText.tsx';
import { Empty, ErrorNotice, Loading } from '../../ui/States.tsx';
import homeStyles from './home.module.css';
import type { Totals } from './useTotals.ts';

function Row({
  total,
  currency,
  organization,
}: {
  readonly total: Schema['Total'];
  readonly currency: string | null;
  readonly organization: Organization;
}) {
  const { networkId, asset, rawAmount, accounts, blockNumber, blockAt, value } = total;
  return (
    <li className={homeStyles.total}>
      <p className={homeStyles.totalAmount}>
        <AssetIcon networkId={networkId} asset={asset} /> <Amount raw={rawAmount} asset={asset} />
      </p>
      <p className={`small muted ${homeStyles.totalPlace}`}>
        <span>{organization.network(networkId) ?? `network ${networkId}`}</span>
        <span>in {counted(accounts, 'account')}</span>
        <span title={`${dateTime(blockAt)}, block ${blockNumber}`}>at block {blockNumber}</span>
        {value && currency ? (
          <span title={`${value.amount} ${currency}, at ${value.price} ${currency} of ${dateTime(value.at)}`}>
            ≈ {valueText(value.amount, currency)}
          </span>
        ) : null}
        {asset.tokenAddress === NATIVE_CURRENCY ? null : (
          <ShortText
            text={asset.tokenAddress}
            of={`address of the token ${asset.symbol}`}
            head={6}
            tail={4}
          />
        )}
      </p>
    </li>
  );
}

const LACKING = {
  failed: 'a balance cannot be read, and is not in it',
  limit: 'there are more accounts or tokens than are added up',
};

/** What is held altogether, where there are prices, and their time; why not, where they cannot be used. */
function Worth({
  prices: { status, currency, at, problem, value },
  totals,
}: {
  readonly prices: NonNullable<Totals['prices']>;
  readonly totals: Totals['totals'];
}) {
  const unpriced = totals.filter((total) => total.value === null).length;
  const time = at === null ? null : `prices of ${dateTimeZone(at)}`;
  return (
    <div className={`small ${homeStyles.worth}`}>
      {status === 'current' && value !== null && currency !== null ? (
        <p>
          <strong title={`${value} ${currency}`}>≈ {valueText(value, currency)}</strong>{' '}
          <span className="muted">
            {time}
            {unpriced > 0
              ? `, without ${counted(unpriced, 'asset')} that ${unpriced === 1 ? 'has' : 'have'} no price`
              : ''}
          </span>
        </p>
      ) : (
        <p className="muted">No values{time === null ? '' : ` (${time})`}.</p>
      )}
      {problem === null ? null : <p className="muted">{problem}.</p>}
    </div>
  );
}

/** What all accounts hold together, asset by asset. */
export function TotalsSection({
  organization,
  totals: { totals, lacking, prices, isReading, error, refetch },
}: {
  readonly organization: Organization;
  readonly totals: Totals;
}) {
  const { accounts } = organization;
  const isEmpty = totals.length === 0 && !isReading && !error;
  return (
    <Section title="Balances" id="totals" aside={<Link to="/accounts">All accounts</Link>}>
      <div className="stack-small">
        {error ? <ErrorNotice error={error} retry={refetch} /> : null}
        {prices && totals.length > 0 ? <Worth prices={prices} totals={totals} /> : null}
        {totals.length > 0 ? (
          <ul className={`card ${homeStyles.totals}`}>
            {totals.map((total) => (
              <Row
                key={`${total.networkId}:${total.asset.id}`}
                total={total}
                currency={prices?.currency ?? null}
                organization={organization}
              />
            ))}
          </ul>
        ) : null}
        {isReading && totals.length === 0 ? <Loading what="the balances" /> : null}
        {accounts.length === 0 ? (
          <Empty title="No accounts">
            <p>Balances appear here once the admins have approved an account.</p>
            <NextStep place={{ to: '/new/accounts' }} name="Create an account" look="plain" />
          </Empty>
        ) : isEmpty ? (
          <Empty title="No account holds anything yet">
            <p>Send native currency or tokens to the address of an account.</p>
          </Empty>
        ) : null}
        {lacking.map(({ networkId, reason }) => (
          <p key={`${networkId}${reason}`} className="small muted">
            On {organization.network(networkId) ?? `network ${networkId}`} {LACKING[reason]}.
          </p>
        ))}
      </div>
    </Section>
  );
}
