import type { Schema } from '@orgwallet/client';
import type { Organization } from '../../api/useOrganization.ts';
import { formerOwners, isLate, isOutOfReach, weaknessesOf } from '../../domain/adminsSafe.ts';
import { SAFE_STATES } from '../../text/adminsSafe.ts';
import { duration } from '../../text/time.ts';
import { Address } from '../../ui/Address.tsx';
import { AdminSetWarnings } from '../../ui/AdminSetWarnings.tsx';
import { classes } from '../../ui/classes.ts';
import { Notice } from '../../ui/Notice.tsx';
import pageStyles from '../../ui/page.module.css';
import { useNow } from '../../ui/TimeLeft.tsx';

/** What is wrong with the admins' Safe, most urgent first. Nothing, where nothing is. */
export function AdminsSafeWarnings({
  admins,
  organization,
}: {
  readonly admins: Schema['Admins'];
  readonly organization: Organization;
}) {
  const now = useNow(Number.POSITIVE_INFINITY);
  const late = admins.onChain.networks.filter((one) => isLate(one, now));
  if (late.length === 0 && weaknessesOf(admins).length === 0 && !isOutOfReach(admins)) return null;
  return (
    <section className={classes(pageStyles.section, 'stack-small')} aria-label="Warnings">
      {late.map((safe) => {
        const former = formerOwners(safe, admins);
        const name = organization.network(safe.networkId) ?? `Network ${safe.networkId}`;
        return (
          <Notice
            key={safe.networkId}
            tone="danger"
            title={`${name}: behind for ${duration(now - Date.parse(safe.since))}`}
          >
            <p>{safe.reason ?? SAFE_STATES[safe.status].meaning} Tell your operator.</p>
            {former.length > 0 ? (
              <>
                <p>
                  Former admins who still own the Safe there; {safe.threshold} of its{' '}
                  {safe.owners?.length ?? 0} owners can take the accounts over:
                </p>
                <ul className="stack-small">
                  {former.map((owner) => (
                    <li key={owner}>
                      <Address address={owner} /> {organization.owner(owner)}
                    </li>
                  ))}
                </ul>
              </>
            ) : null}
          </Notice>
        );
      })}
      <AdminSetWarnings admins={admins} />
    </section>
  );
}
