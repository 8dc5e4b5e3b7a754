import type { Organization } from '../../api/useOrganization.ts';
import { useSession } from '../../api/useSession.ts';
import { Page } from '../../ui/Page.tsx';
import { WithOrganization } from '../../ui/WithOrganization.tsx';
import { Activity } from './Activity.tsx';
import { FirstSteps } from './FirstSteps.tsx';
import styles from './home.module.css';
import { NeedsYou } from './NeedsYou.tsx';
import { ProblemsSection } from './ProblemsSection.tsx';
import { TotalsSection } from './TotalsSection.tsx';
import { useTotals } from './useTotals.ts';

function Home({ organization }: { readonly organization: Organization }) {
  const totals = useTotals(organization);
  const both = { organization, totals };
  return (
    <>
      <FirstSteps {...both} />
      <ProblemsSection organization={organization} unavailable={totals.unavailable} />
      <div className={styles.home}>
        <NeedsYou organization={organization} />
        <TotalsSection {...both} />
        <Activity organization={organization} />
      </div>
    </>
  );
}

/** The first page: what needs the member, what the organization holds, what happened last and what is wrong. */
export function HomePage() {
  const { organization } = useSession();
  return (
    <Page title="Home" lead={organization.name}>
      <WithOrganization what="the organization">{(lists) => <Home organization={lists} />}</WithOrganization>
    </Page>
  );
}
