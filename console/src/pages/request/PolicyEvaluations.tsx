import type { Transaction } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { evaluationQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { Evaluation } from '../../ui/Evaluation.tsx';
import { Loaded } from '../../ui/States.tsx';
import { evaluated } from './evaluated.ts';

/** What the policies say of an open transaction now. */
export function PolicyEvaluations({
  transaction,
  organization,
}: {
  readonly transaction: Transaction;
  readonly organization: Organization;
}) {
  const query = useQuery(evaluationQuery(evaluated(transaction)));
  return (
    <Loaded query={query} what="the policy evaluation">
      {(evaluations) => {
        const own = evaluations.find(({ policy }) => policy.id === transaction.policy.id);
        const others = evaluations.filter((one) => one !== own);
        return (
          <div className="stack">
            {own ? (
              <Evaluation evaluation={own} policies={organization.policies} />
            ) : (
              <p>Its policy was removed: it can only be rejected.</p>
            )}
            {others.length > 0 ? (
              <details>
                <summary>
                  {others.length} other {others.length === 1 ? 'policy' : 'policies'}
                </summary>
                <div className="stack">
                  {others.map((one) => (
                    <Evaluation key={one.policy.id} evaluation={one} policies={organization.policies} />
                  ))}
                </div>
              </details>
            ) : null}
          </div>
        );
      }}
    </Loaded>
  );
}
