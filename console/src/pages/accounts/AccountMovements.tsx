import type { Schema } from '@orgwallet/client';
import { Link, useNavigate } from '@tanstack/react-router';
import { orgwallet } from '../../api/client.ts';
import type { Organization } from '../../api/useOrganization.ts';
import type { MovementsSearch } from '../../domain/search.ts';
import { movementColumns } from '../../text/movementColumns.ts';
import { Export } from '../../ui/Export.tsx';
import { Section } from '../../ui/Page.tsx';
import { MovementList, movementsAsked } from '../movements/MovementList.tsx';
import { HistoryTabs } from './HistoryTabs.tsx';

/** What came in and went out of an account, newest first. */
export function AccountMovements({
  account: { id, name },
  search,
  organization,
}: {
  readonly account: Schema['Account'];
  readonly search: MovementsSearch;
  readonly organization: Organization;
}) {
  const navigate = useNavigate();
  return (
    <Section
      title="History"
      id="history"
      aside={
        <div className="row">
          <Link to="/accounts/$id/statement" params={{ id }}>
            Statement of a month
          </Link>
          <Export
            what="movements"
            fileName={`movements-${id}.csv`}
            columns={movementColumns(organization)}
            read={(signal) => orgwallet.each('listMovements', movementsAsked(search, id), { signal })}
          />
        </div>
      }
    >
      <div className="stack">
        <HistoryTabs accountId={id} current="movements" />
        <MovementList
          organization={organization}
          accountId={id}
          search={search}
          caption={`Movements of ${name}, newest first`}
          sizes={{ narrow: 3, wide: 20 }}
          onChange={(next) =>
            void navigate({
              to: '/accounts/$id',
              params: { id },
              search: { ...next, view: 'movements' },
              replace: true,
              resetScroll: false,
            })
          }
        />
      </div>
    </Section>
  );
}
