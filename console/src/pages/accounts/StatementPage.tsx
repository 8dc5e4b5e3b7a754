import type { Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import {
  MOST_OF_PERIOD,
  type StatementRows,
  statementQuery,
  statementRowsQuery,
} from '../../api/movements.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { monthOf, monthsBetween, periodOfMonth } from '../../domain/movementMonths.ts';
import { usePrinting } from '../../state/printing.ts';
import { movementColumns, statementColumns } from '../../text/movementColumns.ts';
import { dateTime, monthName, timeZone } from '../../text/time.ts';
import { Address } from '../../ui/Address.tsx';
import { Button } from '../../ui/Button.tsx';
import { Export } from '../../ui/Export.tsx';
import { SelectField } from '../../ui/Field.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Page, Section } from '../../ui/Page.tsx';
import { Pager, usePages } from '../../ui/Pager.tsx';
import { RecordNotFound } from '../../ui/RecordNotFound.tsx';
import { Empty, Loading } from '../../ui/States.tsx';
import { Table } from '../../ui/Table.tsx';
import { WithOrganization } from '../../ui/WithOrganization.tsx';
import { movementTable } from '../movements/columns.tsx';
import { StatementError } from './StatementError.tsx';
import { StatementTotals } from './StatementTotals.tsx';
import styles from './statement.module.css';

interface Props {
  readonly account: Schema['Account'];
  readonly organization: Organization;
}

/** The movements of a statement that were read: page by page, and all of them on paper. */
function Rows({
  of: { rows, isWhole },
  organization,
}: {
  readonly of: StatementRows;
  readonly organization: Organization;
}) {
  const { shown, pages } = usePages(rows, '', { narrow: 3, wide: 20 });
  const isPrinted = usePrinting();
  if (rows.length === 0) return <Empty title="Nothing moved" />;
  return (
    <div className="stack">
      <Table
        caption="Movements of the period, newest first"
        columns={movementTable(organization, 'account')}
        rows={isPrinted ? rows : shown}
        rowKey={({ id }) => id}
      />
      {rows.length > pages.size ? <Pager what="movements" pages={pages} /> : null}
      {isWhole ? null : (
        <p className="small muted">
          The newest {MOST_OF_PERIOD}. The totals have all of them, and so has the file of the account.
        </p>
      )}
    </div>
  );
}

/** The movements of a statement, read once it was. */
function Movements({
  statement,
  organization,
  month,
}: {
  readonly statement: Schema['Statement'];
  readonly organization: Organization;
  readonly month: string;
}) {
  const { data, error, refetch } = useQuery(statementRowsQuery(statement));
  return (
    <Section
      title="Movements"
      id="movements"
      aside={
        data && data.rows.length > 0 ? (
          <Export
            what="movements"
            fileName={`movements-${statement.accountId}-${month}.csv`}
            columns={movementColumns(organization)}
            read={() => each(data.rows)}
          />
        ) : null
      }
    >
      {error ? (
        <StatementError error={error} retry={() => void refetch()} />
      ) : data ? (
        <Rows key={statement.accountId} of={data} organization={organization} />
      ) : (
        <Loading what="the movements" />
      )}
    </Section>
  );
}

function Statement({ account, organization, month }: Props & { readonly month: string }) {
  const [now] = useState(() => Date.now());
  const period = periodOfMonth(month, now);
  const { data, error, refetch, isFetching } = useQuery({
    ...statementQuery(account.id, period ?? {}),
    enabled: period !== undefined,
  });
  if (!period) {
    return (
      <Notice tone="warning" title="No such month">
        <p>Choose one of the list.</p>
      </Notice>
    );
  }
  if (error) return <StatementError error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="the statement" />;
  return (
    <>
      <Section
        title="Totals"
        id="totals"
        aside={
          <div className="row">
            <Button look="quiet" className="small" busy={isFetching} onClick={() => void refetch()}>
              Read again
            </Button>
            <Export
              what="totals"
              fileName={`statement-${account.id}-${month}.csv`}
              columns={statementColumns(organization)}
              read={() => each(data.assets)}
            />
          </div>
        }
      >
        <div className="stack-small">
          <StatementTotals statement={data} organization={organization} />
          <p className="small muted">
            Gas is paid by relayers, not by the account:{' '}
            <Link to="/fees" search={{ accountId: account.id }}>
              what they paid
            </Link>
            .
          </p>
        </div>
      </Section>
      <Movements statement={data} organization={organization} month={month} />
    </>
  );
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

function Months({ account, organization, month: asked }: Props & { readonly month: string | undefined }) {
  const navigate = useNavigate();
  const [now] = useState(() => Date.now());
  const { id, name, address, createdAt } = account;
  const month = asked ?? monthOf(now);
  const months = monthsBetween(Date.parse(createdAt), now);
  return (
    <Page
      title={`Statement of ${name}`}
      lead={
        <>
          <p>
            {monthName(month)}
            {month === monthOf(now) ? ', so far' : ''} (UTC), compared with the balances on chain.
          </p>
          <p>
            <Link to="/accounts/$id" params={{ id }} search={{ view: 'movements' }}>
              {name}
            </Link>
          </p>
          <div className={styles.printed}>
            <Address address={address} copy={false} />
            <p>
              {organization.networks
                .filter((one) => account.networks.some((network) => network.id === one.id))
                .map((one) => one.name)
                .join(', ')}
              . Printed {dateTime(new Date(now).toISOString())}, times in {timeZone()}.
            </p>
          </div>
        </>
      }
      actions={
        <Button look="primary" onClick={() => print()}>
          Print
        </Button>
      }
    >
      <div className="stack">
        <div className={styles.choice}>
          <SelectField
            label="Month"
            value={month}
            onChange={({ target }) =>
              void navigate({
                to: '/accounts/$id/statement',
                params: { id },
                search: { month: target.value },
                resetScroll: false,
              })
            }
          >
            {months.includes(month) ? null : <option value={month}>{monthName(month)}</option>}
            {months.map((one) => (
              <option key={one} value={one}>
                {monthName(one)}
              </option>
            ))}
          </SelectField>
        </div>
        <div>
          <Statement key={month} account={account} organization={organization} month={month} />
        </div>
      </div>
    </Page>
  );
}

/** What moved in a month of an account: opening, movements, closing, and what no movement explains. */
export function StatementPage() {
  const { id } = useParams({ from: '/accounts/$id/statement' });
  const { month } = useSearch({ from: '/accounts/$id/statement' });
  return (
    <WithOrganization what="the statement">
      {(organization) => {
        const account = organization.accounts.find((one) => one.id === id);
        if (!account) return <RecordNotFound what="account" id={id} />;
        return <Months account={account} organization={organization} month={month} />;
      }}
    </WithOrganization>
  );
}
