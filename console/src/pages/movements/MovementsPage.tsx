import { useNavigate, useSearch } from '@tanstack/react-router';
import { orgwallet } from '../../api/client.ts';
import { movementColumns } from '../../text/movementColumns.ts';
import { Export } from '../../ui/Export.tsx';
import { Page, Section } from '../../ui/Page.tsx';
import { WithOrganization } from '../../ui/WithOrganization.tsx';
import { MovementList, movementsAsked } from './MovementList.tsx';

/** What came in and went out of all accounts. */
export function MovementsPage() {
  const search = useSearch({ from: '/movements' });
  const navigate = useNavigate();
  return (
    <Page
      title="Movements"
      lead="What came in and went out of all accounts, as the logs of the networks show it."
    >
      <WithOrganization what="the movements">
        {(organization) => (
          <Section
            title="In and out"
            id="in-and-out"
            aside={
              <Export
                what="movements"
                fileName="movements.csv"
                columns={movementColumns(organization)}
                read={(signal) =>
                  orgwallet.each('listMovements', movementsAsked(search, undefined), { signal })
                }
              />
            }
          >
            <MovementList
              organization={organization}
              search={search}
              caption="Movements of all accounts, newest first"
              sizes={{ narrow: 4, wide: 20 }}
              onChange={(next) =>
                void navigate({ to: '/movements', search: next, replace: true, resetScroll: false })
              }
            />
          </Section>
        )}
      </WithOrganization>
    </Page>
  );
}
