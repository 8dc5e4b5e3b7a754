import type { Schema } from '@orgwallet/client';
import { Link } from '@tanstack/react-router';
import { impactText, refusalsText } from '../text/impact.ts';
import { dateTime } from '../text/time.ts';
import styles from './impact.module.css';
import { Sentence } from './Sentence.tsx';

/** How many transactions are listed one by one. */
const LISTED = 10;

function Changed({ policy }: { readonly policy: Schema['ImpactOfPolicy'] }) {
  const { changed, id, newlyPermitted, noLongerPermitted } = policy;
  const all = newlyPermitted + noLongerPermitted;
  if (all === 0) return null;
  return (
    <details>
      <summary>{id === null ? 'What it would have permitted' : 'What it decides otherwise'}</summary>
      <ul className={styles.changed}>
        {changed.slice(0, LISTED).map(({ transactionId, createdAt, summary, description, permitted }) => (
          <li key={transactionId}>
            <Link to="/requests/$id" params={{ id: transactionId }}>
              {description || dateTime(createdAt)}
            </Link>
            {id === null ? null : <b> {permitted ? 'permitted' : 'refused'}</b>}
            <span className="muted">
              {' '}
              <Sentence text={summary} />
            </span>
          </li>
        ))}
      </ul>
      {all > LISTED ? <p className="small muted">and {all - LISTED} more, which are older</p> : null}
    </details>
  );
}

/** Which of the last transactions changed policies would have permitted. */
export function Impact({ impact }: { readonly impact: Schema['PolicyImpact'] }) {
  const { policies, transactions, since } = impact;
  return (
    <div className="stack">
      {policies.map((policy) => (
        <div key={`${policy.id} ${policy.name}`} className="stack-small">
          {policies.length > 1 ? <h3>{policy.name}</h3> : null}
          <p>{impactText(policy, transactions)}</p>
          {policy.conditions.length > 0 ? (
            <p className="small muted">Not met: {refusalsText(policy)}</p>
          ) : null}
          <Changed policy={policy} />
        </div>
      ))}
      {since === null ? null : (
        <p className="small muted">
          Since {dateTime(since)}, with the current members and groups. A budget is used by what the policy
          would have permitted.
        </p>
      )}
    </div>
  );
}
