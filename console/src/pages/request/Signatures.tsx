import type { Approval, Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { adminsQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { counted } from '../../text/counted.ts';
import { undecided } from '../../text/requestRow.ts';
import { ShortAddress } from '../../ui/Address.tsx';
import { Badge } from '../../ui/Badge.tsx';
import requestStyles from './request.module.css';

type Person = Pick<Schema['MemberSummary'], 'id' | 'name' | 'walletAddress'>;

function Person({
  person,
  state,
  tone,
}: {
  person: Person;
  state: string;
  tone: 'good' | 'danger' | 'plain';
}) {
  return (
    <li className={requestStyles.signature}>
      <span>
        {person.name} <ShortAddress address={person.walletAddress} />
      </span>
      <Badge tone={tone}>{state}</Badge>
    </li>
  );
}

/** Who has signed, and who can still. */
export function Signatures({
  approval,
  organization,
}: {
  readonly approval: Approval;
  readonly organization: Organization;
}) {
  const { data: admins } = useQuery(adminsQuery);
  const { approvals, rejections, threshold, signingPayloads } = approval;
  const isProposal = 'resourceType' in approval;
  const missing = signingPayloads ? undecided(approval, organization, admins?.members ?? []) : [];
  const isUnsigned = approval.signatureStatus === 'pendingInitiatorSignature';
  return (
    <div className="stack-small">
      <p>
        {threshold === 0
          ? "No approval needed: the initiator's signature is enough."
          : `${approvals.length} of ${threshold} approvals, ${counted(rejections.length, 'rejection')}.`}
      </p>
      <ul className={requestStyles.signatures}>
        {isProposal ? null : (
          <Person
            person={approval.initiator}
            state={isUnsigned ? 'initiator, not signed' : 'initiator, signed'}
            tone={isUnsigned ? 'plain' : 'good'}
          />
        )}
        {approvals.map((person) => (
          <Person key={`a${person.id}`} person={person} state="approved" tone="good" />
        ))}
        {rejections.map((person) => (
          <Person key={`r${person.id}`} person={person} state="rejected" tone="danger" />
        ))}
        {missing.map((person) => (
          <Person key={person.id} person={person} state="not signed" tone="plain" />
        ))}
      </ul>
    </div>
  );
}
