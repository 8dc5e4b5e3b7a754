import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { latestMovementsQuery } from '../../api/movements.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { useNarrow } from '../../state/narrow.ts';
import { dateTime } from '../../text/time.ts';
import { Section } from '../../ui/Page.tsx';
import { ErrorNotice, Loading } from '../../ui/States.tsx';
import { Counterparty, Marks, Moved, MovementStatus } from '../movements/cells.tsx';
import styles from '../movements/movements.module.css';

const SHOWN = { narrow: 3, wide: 6 };

/** What came in and went out last, of all accounts; nothing where nothing has. */
export function LastMovements({ organization }: { readonly organization: Organization }) {
  const { data, error, refetch } = useQuery(latestMovementsQuery);
  const size = useNarrow() ? SHOWN.narrow : SHOWN.wide;
  if (data?.length === 0 && !error) return null;
  return (
    <Section title="Last movements" id="movements" aside={<Link to="/movements">All movements</Link>}>
      {error ? <ErrorNotice error={error} retry={() => void refetch()} /> : null}
      {data || error ? null : <Loading what="the last movements" />}
      {data && data.length > 0 ? (
        <ul className={`card ${styles.list}`}>
          {data.slice(0, size).map((movement) => {
            const { id, accountId, blockAt, direction, networkId } = movement;
            return (
              <li key={id} className={styles.row}>
                <Moved movement={movement} />
                <MovementStatus status={movement.status} />
                <p>
                  <span className="muted">{direction === 'in' ? 'from' : 'to'}</span>{' '}
                  <Counterparty movement={movement} />
                </p>
                <Marks movement={movement} />
                <p className={`${styles.facts} small muted`}>
                  <Link to="/accounts/$id" params={{ id: accountId }} search={{ view: 'movements' }}>
                    {organization.account(accountId) ?? accountId}
                  </Link>
                  <span>{organization.network(networkId) ?? `network ${networkId}`}</span>
                  <time dateTime={blockAt}>{dateTime(blockAt)}</time>
                </p>
              </li>
            );
          })}
        </ul>
      ) : null}
    </Section>
  );
}
