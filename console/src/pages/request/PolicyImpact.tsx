import { useQuery } from '@tanstack/react-query';
import { policyImpactQuery } from '../../api/queries.ts';
import { Impact } from '../../ui/Impact.tsx';
import { Section } from '../../ui/Page.tsx';
import { Loaded } from '../../ui/States.tsx';

/** Which of the last transactions the policies of an open proposal would have permitted. */
export function PolicyImpact({ proposalId }: { readonly proposalId: string }) {
  const query = useQuery(policyImpactQuery(proposalId));
  return (
    <Section title="What it would have permitted" id="impact">
      <div className="card">
        <Loaded query={query} what="what it would have permitted">
          {(impact) => <Impact impact={impact} />}
        </Loaded>
      </div>
    </Section>
  );
}
