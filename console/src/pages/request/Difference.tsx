import type { Proposal, Change as ProposedChange, Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { pastQuery } from '../../api/past.ts';
import { adminsQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { type Change, differenceOf } from '../../text/difference.ts';
import { Badge } from '../../ui/Badge.tsx';
import { classes } from '../../ui/classes.ts';
import { Loaded } from '../../ui/States.tsx';
import styles from './difference.module.css';

const TONES = { added: 'good', removed: 'danger', changed: 'warning' } as const;
const ABSENT = '—';

function ChangeTable({ change }: { readonly change: Change }) {
  return (
    <div className={classes(styles.difference, styles[change.kind])}>
      <h3 className="row">
        {change.title} <Badge tone={TONES[change.kind]}>{change.kind}</Badge>
      </h3>
      {change.fields.length === 0 ? (
        <p className="muted">
          The service lists it with these values already. The lines that are signed say what changes.
        </p>
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
                  <td data-title="Before" className={styles.before}>
                    {before ?? ABSENT}
                  </td>
                )}
                {change.kind === 'removed' ? null : (
                  <td data-title="After" className={styles.after}>
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

function Changes({ changes }: { readonly changes: readonly Change[] }) {
  return (
    <div className="stack">
      {changes.map((one) => (
        <ChangeTable key={one.id} change={one} />
      ))}
    </div>
  );
}

interface Props {
  readonly proposal: Proposal;
  /** As it is signed; of a closed proposal, as the service recorded it. */
  readonly change: ProposedChange;
  readonly organization: Organization;
}

/** What a proposal that is not open any more changed, or would have changed: beside what there was then. */
function PastDifference({
  proposal,
  change,
  organization,
  admins,
}: Props & { readonly admins: Schema['Admins'] }) {
  const past = useQuery(pastQuery(proposal, organization, admins));
  return (
    <Loaded query={past} what="what was there before">
      {(then) => <Changes changes={differenceOf(change, then)} />}
    </Loaded>
  );
}

/** What a proposal changes, field by field. */
export function Difference({ proposal, change, organization }: Props) {
  const query = useQuery(adminsQuery);
  return (
    <Loaded query={query} what="what changes">
      {(admins) =>
        proposal.signingPayloads ? (
          <Changes changes={differenceOf(change, { ...organization, admins })} />
        ) : (
          <PastDifference {...{ proposal, change, organization, admins }} />
        )
      }
    </Loaded>
  );
}
