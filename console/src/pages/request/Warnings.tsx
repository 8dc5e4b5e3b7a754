import type { Transaction } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { evaluationQuery, recipientQuery, simulationQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { conditionsOf } from '../../text/conditions.ts';
import { recipientAddressOf } from '../../text/requestRow.ts';
import { LookAlikes } from '../../ui/LookAlikes.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { evaluated } from './evaluated.ts';

/** What speaks against an open transaction now, beside the button that would sign it: its policy, or its simulation. */
export function Warnings({
  transaction,
  organization,
}: {
  readonly transaction: Transaction;
  readonly organization: Organization;
}) {
  const { data: evaluations } = useQuery(evaluationQuery(evaluated(transaction)));
  const { data: simulation } = useQuery(simulationQuery(transaction.id));
  const { data: recipient } = useQuery(recipientQuery(recipientAddressOf(transaction)));
  const own = evaluations?.find(({ policy }) => policy.id === transaction.policy.id);
  const policy = organization.policies.find(({ id }) => id === transaction.policy.id);
  const unmet = own && !own.allowed ? conditionsOf(own, policy).filter(({ isMet }) => !isMet) : [];
  return (
    <>
      {recipient ? <LookAlikes recipient={recipient} organization={organization} /> : null}
      {evaluations && !own ? (
        <Notice tone="danger" title="Its policy was removed: it can only be rejected" />
      ) : null}
      {unmet.length > 0 ? (
        <Notice tone="danger" title="Its policy does not permit it now">
          <ul>
            {unmet.map(({ condition, text }) => (
              <li key={condition}>
                {condition}: {text}
              </li>
            ))}
          </ul>
        </Notice>
      ) : null}
      {simulation?.status === 'fails' ? (
        <Notice tone="danger" title="The simulation fails now">
          <p>{simulation.reason}</p>
        </Notice>
      ) : null}
    </>
  );
}
