import type { Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { evaluationQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { RECIPIENT_CODES } from '../../text/recipient.ts';
import { Evaluation } from '../../ui/Evaluation.tsx';
import { NextStep } from '../../ui/NextStep.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { ErrorNotice, Loading } from '../../ui/States.tsx';
import newTransactionStyles from './new-transaction.module.css';

/** The evaluations that permit it, the ones with the fewest approvals first. */
export function permitting(evaluations: readonly Schema['Evaluation'][]): readonly Schema['Evaluation'][] {
  return evaluations.filter(({ allowed }) => allowed).sort((one, two) => one.threshold - two.threshold);
}

/** What the policies would say of a transaction that does not exist yet. */
export function DryRun({
  asked,
  policyId,
  organization,
  onChoice,
}: {
  readonly asked: Schema['EvaluatePoliciesRequest'];
  readonly policyId: string | undefined;
  readonly organization: Organization;
  readonly onChoice: (policyId: string) => void;
}) {
  const { data: evaluations, error, refetch } = useQuery(evaluationQuery(asked));
  if (error) return <ErrorNotice error={error} retry={() => void refetch()} />;
  if (!evaluations) return <Loading what="the policy evaluation" />;
  const permits = permitting(evaluations);
  const others = evaluations.filter(({ allowed }) => !allowed);
  // The same of each policy.
  const recipientCode = evaluations[0]?.recipientCode;
  return (
    <div className="stack" aria-live="polite">
      {recipientCode ? (
        <Notice tone="warning" title="Check the recipient">
          <p>{RECIPIENT_CODES[recipientCode]}</p>
        </Notice>
      ) : null}
      {permits.length === 0 ? (
        <Notice tone="warning" title="No policy permits this">
          <p>The conditions that are not met are below, by policy.</p>
          <NextStep place={{ to: '/new/policies' }} name="Add a policy" look="plain" />
        </Notice>
      ) : (
        <fieldset className="stack">
          <legend className="hidden-visually">Policy of the transaction</legend>
          {permits.map((evaluation) => (
            <label key={evaluation.policy.id} className={newTransactionStyles.dryRunChoice}>
              <input
                type="radio"
                name="policy"
                checked={policyId === evaluation.policy.id}
                onChange={() => onChoice(evaluation.policy.id)}
              />
              <Evaluation evaluation={evaluation} policies={organization.policies} />
            </label>
          ))}
        </fieldset>
      )}
      {others.length > 0 ? (
        <details open={permits.length === 0}>
          <summary>
            {others.length} {others.length === 1 ? 'policy does' : 'policies do'} not permit it
          </summary>
          <div className={`stack ${newTransactionStyles.dryRunOthers}`}>
            {others.map((evaluation) => (
              <Evaluation
                key={evaluation.policy.id}
                evaluation={evaluation}
                policies={organization.policies}
              />
            ))}
          </div>
        </details>
      ) : null}
    </div>
  );
}
