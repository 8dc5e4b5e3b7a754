import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { RequestTab } from '../../domain/requestTab.ts';
import type { RequestsSearch } from '../../domain/search.ts';
import tabsStyles from '../../ui/tabs.module.css';
import requestsStyles from './requests.module.css';

const TABS: readonly (readonly [tab: RequestTab, name: string])[] = [
  ['you', 'Needs you'],
  ['ready', 'Ready to execute'],
  ['progress', 'In progress'],
  ['failed', 'Failed or blocked'],
  ['done', 'Done'],
  ['expired', 'Expired'],
];

/** The tab of an address: the first one for any that there is not. */
export const readTab = (text: string | undefined): RequestTab =>
  TABS.find(([tab]) => tab === text)?.[0] ?? 'you';

/** The name of a tab. */
export const tabName = (tab: RequestTab): string => TABS.find(([one]) => one === tab)?.[1] ?? '';

/** Leads to the requests in each state, with how many there are where that is known. */
export function RequestTabs({
  current,
  search,
  counts,
}: {
  readonly current: RequestTab;
  readonly search: RequestsSearch;
  readonly counts: Partial<Record<RequestTab, number>>;
}) {
  const { after: _, ...kept } = search;
  const tabs = useRef<HTMLUListElement>(null);
  // A phone shows only some of them.
  useEffect(() => {
    const shown = tabs.current?.querySelector(`[data-tab="${current}"]`);
    shown?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [current]);
  return (
    <nav aria-label="Requests by state" className={tabsStyles.tabs}>
      <ul ref={tabs}>
        {TABS.map(([tab, name]) => (
          <li key={tab} data-tab={tab}>
            <Link
              to="/requests"
              search={{ ...kept, tab }}
              aria-current={tab === current ? 'page' : undefined}
              // Its own state is decided above: the search of an address says more than the tab.
              activeOptions={{ exact: true, includeSearch: true }}
              activeProps={{}}
            >
              {name}
              {counts[tab] ? <span className={requestsStyles.requestCount}>{counts[tab]}</span> : null}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
