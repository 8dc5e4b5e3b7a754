import { useInfiniteQuery } from '@tanstack/react-query';
import { movementPagesQuery } from '../../api/movements.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { type MovementFilter, movementFilter } from '../../domain/movementFilter.ts';
import type { MovementsSearch } from '../../domain/search.ts';
import type { PageSizes } from '../../state/narrow.ts';
import { PagedTable } from '../../ui/PagedTable.tsx';
import { usePages } from '../../ui/Pager.tsx';
import { Empty } from '../../ui/States.tsx';
import { movementTable } from './columns.tsx';
import { MovementFilters } from './MovementFilters.tsx';

interface Props {
  readonly organization: Organization;
  readonly search: MovementsSearch;
  readonly onChange: (search: MovementsSearch) => void;
  /** Only those of this account. */
  readonly accountId?: string;
  readonly caption: string;
  readonly sizes: PageSizes;
}

/** What is asked for: unverified tokens only where somebody wants them. */
export const movementsAsked = (search: MovementsSearch, accountId: string | undefined): MovementFilter =>
  movementFilter(accountId === undefined ? search : { ...search, accountId });

/** Movements, newest first, with their filters. */
export function MovementList({ organization, search, onChange, accountId, caption, sizes }: Props) {
  const asked = movementsAsked(search, accountId);
  const query = useInfiniteQuery(movementPagesQuery(asked));
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? [];
  const { shown, pages } = usePages(rows, JSON.stringify(asked), sizes);
  const isFiltered = Object.keys(search).length > 0;
  const moved = rows.map(({ networkId, asset, verified }) => ({
    id: asset.id,
    name: `${asset.symbol || asset.tokenAddress} on ${organization.network(networkId) ?? networkId}${
      verified ? '' : ` (unverified, ${asset.tokenAddress.slice(0, 8)}…)`
    }`,
  }));
  return (
    <div className="stack">
      <MovementFilters
        search={search}
        organization={organization}
        accountId={accountId}
        moved={moved}
        onChange={onChange}
      />
      <PagedTable
        query={query}
        loading="the movements"
        what="movements"
        caption={caption}
        columns={movementTable(organization, accountId === undefined ? 'all' : 'account')}
        rows={shown}
        rowKey={({ id }) => id}
        pages={pages}
        empty={
          isFiltered ? (
            <Empty title="No movement matches the filters">
              <p>Choose other filters.</p>
            </Empty>
          ) : (
            <Empty title="No movements yet">
              <p>What comes in and goes out appears here as soon as it is in a block.</p>
            </Empty>
          )
        }
      />
    </div>
  );
}
