import type { Proposal, Change as ProposedChange } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { adminsQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { type Change, differenceOf } from '../../text/difference.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Loaded } from '../../ui/States.tsx';
import './difference.css';

const TONES = { added: 'good', removed: 'danger', changed: 'warning' } as const;
const ABSENT = '—';

function ChangeTable({ change }: { readonly change: Change }) {
  return (
    <div className={`difference ${change.kind}`}>
      <h3 className="row">
        {change.title} <Badge tone={TONES[change.kind]}>{change.kind}</Badge>
      </h3>
      {change.fields.length === 0 ? (
        <p className="muted">No change: it has these values already.</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">Field</th>
              {change.kind === 'added' ? null : <th scope="col">Before</th>}
              {change.kind === 'removed' ? null : <th scope="col">After</th>}
            </tr>
          </thead>
          <tbody>
            {change.fields.map(({ field, before, after }) => (
              <tr key={field}>
                <th scope="row">{field}</th>
                {change.kind === 'added' ? null : (
                  <td data-title="Before" className="before">
                    {before ?? ABSENT}
                  </td>
                )}
                {change.kind === 'removed' ? null : (
                  <td data-title="After" className="after">
                    {after ?? ABSENT}
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

/** What a proposal changes, field by field. */
export function Difference({
  proposal,
  change,
  organization,
}: {
  readonly proposal: Proposal;
  /** As it is signed; of a closed proposal, as the service recorded it. */
  readonly change: ProposedChange;
  readonly organization: Organization;
}) {
  const admins = useQuery(adminsQuery);
  const isOpen = proposal.signingPayloads !== undefined || proposal.executionStatus === null;
  return (
    <Loaded query={admins} what="what changes">
      {(data) => (
        <div className="stack">
          {isOpen ? null : (
            <p className="muted">This proposal is closed: “Before” shows the current values.</p>
          )}
          {differenceOf(change, { ...organization, admins: data }).map((one) => (
            <ChangeTable key={one.id} change={one} />
          ))}
        </div>
      )}
    </Loaded>
  );
}
