import { Link } from '@tanstack/react-router';
import tabsStyles from '../../ui/tabs.module.css';

/** Leads from the transactions of an account to its movements, and back. */
export function HistoryTabs({
  accountId,
  current,
}: {
  readonly accountId: string;
  readonly current: 'transactions' | 'movements';
}) {
  return (
    <nav aria-label="History of the account" className={tabsStyles.tabs}>
      <ul>
        {(['transactions', 'movements'] as const).map((view) => (
          <li key={view}>
            <Link
              to="/accounts/$id"
              params={{ id: accountId }}
              search={view === 'movements' ? { view } : {}}
              aria-current={view === current ? 'page' : undefined}
              activeOptions={{ exact: true, includeSearch: true }}
              activeProps={{}}
              replace
              resetScroll={false}
            >
              {view === 'movements' ? 'Movements' : 'Transactions'}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
