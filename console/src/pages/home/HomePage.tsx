import { Link } from '@tanstack/react-router';
import type { Organization } from '../../api/useOrganization.ts';
import { useSession } from '../../api/useSession.ts';
import buttonStyles from '../../ui/button.module.css';
import { FormLink } from '../../ui/NextStep.tsx';
import { Page } from '../../ui/Page.tsx';
import { WithOrganization } from '../../ui/WithOrganization.tsx';
import { Activity } from './Activity.tsx';
import { FirstSteps } from './FirstSteps.tsx';
import styles from './home.module.css';
import { LastMovements } from './LastMovements.tsx';
import { NeedsYou } from './NeedsYou.tsx';
import { PaidSection } from './PaidSection.tsx';
import { ProblemsSection } from './ProblemsSection.tsx';
import { TotalsSection } from './TotalsSection.tsx';
import { useTotals } from './useTotals.ts';

function Home({ organization }: { readonly organization: Organization }) {
  const totals = useTotals();
  const both = { organization, totals };
  return (
    <>
      <FirstSteps {...both} />
      <ProblemsSection organization={organization} unavailable={totals.unavailable} />
      <div className={styles.home}>
        <div>
          <NeedsYou organization={organization} />
          <Activity organization={organization} />
          <LastMovements organization={organization} />
        </div>
        <div>
          <TotalsSection {...both} />
          <PaidSection organization={organization} />
        </div>
      </div>
    </>
  );
}

/** The first page: what needs the member, what the organization holds, what happened last and what is wrong. */
export function HomePage() {
  const { organization, isAdmin } = useSession();
  return (
    <Page
      title="Home"
      lead={`${organization.name}: what needs you, what it holds, and what happened last.`}
      actions={
        <>
          <FormLink place={{ to: '/new/transfer' }} name="New transfer" look="primary" />
          {isAdmin ? (
            <Link to="/new/proposal" className={buttonStyles.button}>
              New proposal
            </Link>
          ) : null}
        </>
      }
    >
      <WithOrganization what="the organization">{(lists) => <Home organization={lists} />}</WithOrganization>
    </Page>
  );
}
