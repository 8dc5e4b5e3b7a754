import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { paidSinceQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { assetText, shortAmountText } from '../../domain/amounts.ts';
import { type PaidAsset, paidPerDay, startOfDay } from '../../domain/paidPerDay.ts';
import { day } from '../../text/time.ts';
import { Amount } from '../../ui/Amount.tsx';
import { DayBars } from '../../ui/DayBars.tsx';
import { Section } from '../../ui/Page.tsx';
import { ErrorNotice, Loading } from '../../ui/States.tsx';
import homeStyles from './home.module.css';

const DAYS = 30;
/** Assets with a chart: the others are on the page of requests. */
const SHOWN = 3;

/** What a chart shows, in words. */
function wordsOf({ asset, days }: PaidAsset, now: number): string {
  const most = days.reduce((one, two, index) => (two > (days[one] ?? 0n) ? index : one), 0);
  const amount = assetText(days[most] ?? 0n, asset, shortAmountText);
  return `Paid day by day: most on ${day(startOfDay(now, DAYS - 1 - most))}, ${amount}`;
}

function Row({ paid, now, organization }: { paid: PaidAsset; now: number; organization: Organization }) {
  const { networkId, asset, total } = paid;
  return (
    <li className={homeStyles.total}>
      <p className={homeStyles.paid}>
        <b>
          <Amount raw={String(total)} asset={asset} />
        </b>
        <span className="small muted">{organization.network(networkId) ?? `network ${networkId}`}</span>
      </p>
      <DayBars days={paid.days} of={wordsOf(paid, now)} />
      <p className={`${homeStyles.paid} small muted`} aria-hidden="true">
        <span>{day(startOfDay(now, DAYS - 1))}</span>
        <span>today</span>
      </p>
    </li>
  );
}

/** What was paid in the last days, as bars; nothing where nothing was. */
export function PaidSection({ organization }: { readonly organization: Organization }) {
  const [now] = useState(() => Date.now());
  // What was asked for before and paid since is in it as well.
  const from = new Date(startOfDay(now, 2 * DAYS)).toISOString();
  const { data, error, refetch } = useQuery(paidSinceQuery(from));
  const assets = data ? paidPerDay(data.paid, now, DAYS).slice(0, SHOWN) : [];
  if (data && assets.length === 0) return null;
  return (
    <Section
      title={`Paid in ${DAYS} days`}
      id="paid"
      aside={
        <Link to="/requests" search={{ tab: 'done' }}>
          All payments
        </Link>
      }
    >
      {error ? <ErrorNotice error={error} retry={() => void refetch()} /> : null}
      {data || error ? null : <Loading what="the last payments" />}
      {assets.length > 0 ? (
        <ul className={`card ${homeStyles.totals}`}>
          {assets.map((paid) => (
            <Row
              key={`${paid.networkId}:${paid.asset.id}`}
              paid={paid}
              now={now}
              organization={organization}
            />
          ))}
        </ul>
      ) : null}
      {data && !data.isWhole ? <p className="small muted">Of the last {data.paid.length} payments.</p> : null}
    </Section>
  );
}
