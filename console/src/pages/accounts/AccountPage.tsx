import { Link, useParams, useSearch } from '@tanstack/react-router';
import type { Organization } from '../../api/useOrganization.ts';
import { historySearch, type MovementsSearch, movementsSearch } from '../../domain/search.ts';
import { RESCUE_STATES } from '../../text/adminsSafe.ts';
import { Address } from '../../ui/Address.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { ExplorerLink } from '../../ui/ExplorerLink.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { FormLink, NextStep } from '../../ui/NextStep.tsx';
import { Page, Section } from '../../ui/Page.tsx';
import { Pager, usePages } from '../../ui/Pager.tsx';
import { ProposeLink } from '../../ui/ProposeLink.tsx';
import { RecordNotFound } from '../../ui/RecordNotFound.tsx';
import { ShortId } from '../../ui/ShortText.tsx';
import { Empty } from '../../ui/States.tsx';
import { Times } from '../../ui/Times.tsx';
import { WithOrganization } from '../../ui/WithOrganization.tsx';
import { AccountMovements } from './AccountMovements.tsx';
import { BalanceOverTime } from './BalanceOverTime.tsx';
import { Balances, RefreshBalances } from './Balances.tsx';
import { Deposit } from './Deposit.tsx';
import { History } from './History.tsx';

type Account = Organization['accounts'][number];
interface Props {
  readonly account: Account;
  readonly organization: Organization;
}

function About({ account, organization }: Props) {
  const { id, name, address, networks, createdAt, updatedAt } = account;
  return (
    <div className="card">
      <Facts
        rows={[
          ['Address', <Address key="address" address={address} />],
          [
            'Networks',
            networks.length === 0 ? (
              'none yet'
            ) : (
              <ul key="networks">
                {networks.map((network) => (
                  <li key={network.id} className="row">
                    {network.name} <span className="muted small">chain {network.id}</span>
                    <Badge tone={RESCUE_STATES[network.rescue].tone}>
                      {RESCUE_STATES[network.rescue].text}
                    </Badge>
                    <ExplorerLink
                      network={organization.networks.find((one) => one.id === network.id)}
                      kind="address"
                      value={address}
                      of={name}
                    />
                  </li>
                ))}
              </ul>
            ),
          ],
          ['Id', <ShortId key="id" id={id} of={`id of ${name}`} />],
          ['Created', <Times key="times" createdAt={createdAt} updatedAt={updatedAt} />],
        ]}
      />
    </div>
  );
}

function Permitted({ account, organization }: Props) {
  const networkIds = new Set(account.networks.map(({ id }) => id));
  const policies = organization.policies.filter(
    ({ accountIds, networkId }) =>
      networkIds.has(networkId) && (accountIds === null || accountIds.includes(account.id)),
  );
  const { shown, pages } = usePages(policies, account.id, { narrow: 3, wide: 10 });
  if (policies.length === 0) {
    return (
      <Empty title="No policy covers this account">
        <p>No transaction of it is permitted until the admins have approved one.</p>
        <NextStep place={{ to: '/new/policies' }} name="Add a policy" />
      </Empty>
    );
  }
  return (
    <div className="card stack-small">
      <ul className="stack-small">
        {shown.map(({ id, name, networkId, type }) => (
          <li key={id} className="row">
            <Link to="/policies/$id" params={{ id }}>
              {name}
            </Link>
            <span className="muted">on {organization.network(networkId) ?? `network ${networkId}`}</span>
            <Badge>{type === 'AUTO_APPROVAL' ? 'no approval needed' : 'needs approval'}</Badge>
          </li>
        ))}
      </ul>
      {policies.length > pages.size ? <Pager pages={pages} what="policies" /> : null}
    </div>
  );
}

/** The filters of its movements: the account is fixed here. */
function movementsOf(search: MovementsSearch): MovementsSearch {
  const { accountId: _, ...kept } = movementsSearch(search);
  return kept;
}

/** One account: where it is, its balances, the policies that cover it, its transactions and movements. */
export function AccountPage() {
  const { id } = useParams({ from: '/accounts/$id' });
  const search = useSearch({ from: '/accounts/$id' });
  return (
    <WithOrganization what="the account">
      {(organization) => {
        const account = organization.accounts.find((one) => one.id === id);
        if (!account) return <RecordNotFound what="account" id={id} />;
        const both = { account, organization };
        return (
          <Page
            title={account.name}
            lead={<Link to="/accounts">All accounts</Link>}
            actions={
              <>
                <FormLink look="primary" place={{ to: '/new/transfer', accountId: id }} name="New transfer" />
                <ProposeLink to="/new/accounts" id={id} name={account.name} look="plain" />
              </>
            }
          >
            <Section title="Account" id="account">
              <About {...both} />
            </Section>
            <Section title="Balances" id="balances" aside={<RefreshBalances accountId={id} />}>
              <div className="stack">
                <Balances accountId={id} organization={organization} />
                {account.networks.length > 0 ? (
                  <>
                    <BalanceOverTime {...both} />
                    <details className="card">
                      <summary>Deposit</summary>
                      <Deposit {...both} />
                    </details>
                  </>
                ) : null}
              </div>
            </Section>
            <Section title="Policies" id="policies">
              <Permitted {...both} />
            </Section>
            {search.view === 'movements' ? (
              <AccountMovements {...both} search={movementsOf(search)} />
            ) : (
              <History {...both} search={historySearch(search)} />
            )}
          </Page>
        );
      }}
    </WithOrganization>
  );
}
