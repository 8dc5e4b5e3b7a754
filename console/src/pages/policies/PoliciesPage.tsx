import type { Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { policiesQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { policyAspects } from '../../text/policySentences.ts';
import { Badge } from '../../ui/Badge.tsx';
import { FormLink, NextStep } from '../../ui/NextStep.tsx';
import { Page } from '../../ui/Page.tsx';
import { Sentence } from '../../ui/Sentence.tsx';
import { Empty } from '../../ui/States.tsx';
import { WithOrganization } from '../../ui/WithOrganization.tsx';
import './policies.css';

const ADD = { to: '/new/policies' } as const;

function PolicyCard({
  policy,
  organization,
}: {
  readonly policy: Schema['Policy'];
  readonly organization: Organization;
}) {
  const { id, name, approverSetting } = policy;
  return (
    <li className="card policy-card">
      <div className="policy-head">
        <h2>
          <Link to="/policies/$id" params={{ id }}>
            {name}
          </Link>
        </h2>
        <Badge>{approverSetting ? 'needs approval' : 'no approval needed'}</Badge>
      </div>
      <dl className="policy-aspects">
        {policyAspects(policy, organization).map(({ name: aspect, text }) => (
          <div key={aspect}>
            <dt>{aspect}</dt>
            <dd>
              <Sentence text={text} />
            </dd>
          </div>
        ))}
      </dl>
    </li>
  );
}

/** Which transactions are permitted, and who approves them. */
export function PoliciesPage() {
  const { data: policies = [] } = useQuery(policiesQuery);
  return (
    <Page
      title="Policies"
      actions={policies.length > 0 ? <FormLink place={ADD} name="New policy" /> : null}
      lead="Which transactions are permitted, and who approves them. One policy that permits a transaction is enough; a stricter one does not restrict another."
    >
      <WithOrganization what="the policies">
        {(organization) =>
          organization.policies.length === 0 ? (
            <Empty title="No policies">
              <p>No transaction is permitted until the admins have approved one.</p>
              <NextStep place={ADD} name="Add a policy" />
            </Empty>
          ) : (
            <ul className="policy-list">
              {organization.policies.map((policy) => (
                <PolicyCard key={policy.id} policy={policy} organization={organization} />
              ))}
            </ul>
          )
        }
      </WithOrganization>
    </Page>
  );
}
