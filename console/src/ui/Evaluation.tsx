import type { Schema } from '@orgwallet/client';
import { Check, X } from 'lucide-react';
import { plainName } from '../domain/quotedName.ts';
import { conditionsOf, remainingText, usedBudget } from '../text/conditions.ts';
import { counted } from '../text/counted.ts';
import { dateTime } from '../text/time.ts';
import { Badge } from './Badge.tsx';
import { BudgetBar } from './BudgetBar.tsx';
import { classes } from './classes.ts';
import styles from './evaluation.module.css';

/** What one policy says of a transaction, condition by condition. */
export function Evaluation({
  evaluation,
  policies,
}: {
  readonly evaluation: Schema['Evaluation'];
  readonly policies: readonly Schema['Policy'][];
}) {
  const { allowed, threshold, approvers, remaining } = evaluation;
  const policy = policies.find(({ id }) => id === evaluation.policy.id);
  const left = remainingText(remaining, policy);
  const budget = usedBudget(remaining, policy);
  const who = approvers.map(({ name }) => plainName(name)).join(', ');
  return (
    <div className="stack-small">
      <p className="row">
        <b>{evaluation.policy.name}</b>
        <Badge tone={allowed ? 'good' : 'danger'}>{allowed ? 'permits it' : 'does not permit it'}</Badge>
        {allowed ? (
          <span className="muted">
            {threshold === 0 ? 'no approval needed' : `${counted(threshold, 'approval')} needed from ${who}`}
          </span>
        ) : null}
      </p>
      <ul className={styles.conditions}>
        {conditionsOf(evaluation, policy).map(({ condition, isMet, text }) => (
          <li key={condition} className={classes(styles.condition, !isMet && styles.unmet)}>
            {isMet ? (
              <Check className="icon" aria-hidden="true" />
            ) : (
              <X className="icon" aria-hidden="true" />
            )}
            <span>
              {condition}: {text}
            </span>
          </li>
        ))}
      </ul>
      {left && remaining ? (
        <div className="stack-small">
          <p className="small muted">
            Budget: {left} until {dateTime(remaining.until)}
          </p>
          {budget ? <BudgetBar {...budget} /> : null}
        </div>
      ) : null}
    </div>
  );
}
