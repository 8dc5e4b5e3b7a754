import type { Schema } from '@orgwallet/client';
import { Link } from '@tanstack/react-router';
import type { Organization } from '../../api/useOrganization.ts';
import { policyAspects } from '../../text/policySentences.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Page } from '../../ui/Page.tsx';
import { Sentence } from '../../ui/Sentence.tsx';
import { Empty } from '../../ui/States.tsx';
import { WithOrganization } from '../../ui/WithOrganization.tsx';
import './policies.css';

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
  return (
    <Page
      title="Policies"
      lead="Which transactions are permitted, and who approves them. One policy that permits a transaction is enough; a stricter one does not restrict another."
    >
      <WithOrganization what="the policies">
        {(organization) =>
          organization.policies.length === 0 ? (
            <Empty title="No policies">
              <p>No transaction is permitted until an admin proposes a policy and the admins approve it.</p>
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
