import type { Schema } from '@orgwallet/client';
import { Link, useParams } from '@tanstack/react-router';
import type { Organization } from '../../api/useOrganization.ts';
import { membersNamedBy } from '../../domain/eligibility.ts';
import { policyAspects } from '../../text/policySentences.ts';
import { Facts } from '../../ui/Facts.tsx';
import { MemberTable } from '../../ui/MemberTable.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Page, Section } from '../../ui/Page.tsx';
import { ProposeLink } from '../../ui/ProposeLink.tsx';
import { RecordNotFound } from '../../ui/RecordNotFound.tsx';
import { recordFacts } from '../../ui/recordFacts.tsx';
import { Sentence } from '../../ui/Sentence.tsx';
import { WithOrganization } from '../../ui/WithOrganization.tsx';

type Policy = Schema['Policy'];

interface Props {
  readonly policy: Policy;
  readonly organization: Organization;
}

function People({ policy, organization }: Props) {
  const { initiatorSetting, approverSetting } = policy;
  const named = (setting: NonNullable<Policy['initiatorSetting'] | Policy['approverSetting']>) =>
    membersNamedBy<Schema['MemberSummary']>(setting, organization);
  const initiators: readonly Schema['MemberSummary'][] = initiatorSetting
    ? named(initiatorSetting)
    : organization.members;
  const approvers = approverSetting ? named(approverSetting) : [];
  const needed = approverSetting?.type === 'group' ? approverSetting.threshold : 1;
  const isDead = initiators.length === 0 || (approverSetting && approvers.length < needed);
  return (
    <>
      {isDead ? (
        <Notice tone="warning" title="This policy permits nothing now">
          <p>
            Too few of the initiators or approvers that it names are members. An admin can propose to change
            it.
          </p>
        </Notice>
      ) : null}
      <Section title="Initiators" id="initiators">
        <MemberTable caption="Members who may initiate" members={initiators} />
      </Section>
      {approverSetting ? (
        <Section title="Approvers" id="approvers">
          <MemberTable caption="Members who may approve" members={approvers} />
        </Section>
      ) : null}
    </>
  );
}

function About({ policy, organization }: Props) {
  return (
    <div className="card">
      <Facts
        rows={[
          ...policyAspects(policy, organization).map(
            ({ name: aspect, text }) => [aspect, <Sentence key={aspect} text={text} />] as const,
          ),
          ...recordFacts('policy', policy),
        ]}
      />
    </div>
  );
}

/** One policy as sentences, and whom it means. */
export function PolicyPage() {
  const { id } = useParams({ from: '/policies/$id' });
  return (
    <WithOrganization what="the policy">
      {(organization) => {
        const policy = organization.policies.find((one) => one.id === id);
        if (!policy) return <RecordNotFound what="policy" id={id} />;
        return (
          <Page
            title={policy.name}
            lead={<Link to="/policies">All policies</Link>}
            actions={<ProposeLink to="/new/policies" id={id} name={policy.name} look="plain" />}
          >
            <Section title="Policy" id="policy">
              <About policy={policy} organization={organization} />
            </Section>
            <People policy={policy} organization={organization} />
          </Page>
        );
      }}
    </WithOrganization>
  );
}
