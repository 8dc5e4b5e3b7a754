import type { Schema } from '@orgwallet/client';
import type { Organization } from '../api/useOrganization.ts';
import { addressDifference } from '../domain/addressDifference.ts';
import { counted } from '../text/counted.ts';
import { knownText } from '../text/recipient.ts';
import { AddressIcon } from './AddressIcon.tsx';
import styles from './look-alikes.module.css';
import { Notice } from './Notice.tsx';

function Compared({ address, other }: { readonly address: string; readonly other: string }) {
  return (
    <span className={styles.compared}>
      <AddressIcon address={address} />
      <code>
        {addressDifference(address, other).map(({ text, differs }, i) => {
          const key = `${i} ${text}`;
          return differs ? <mark key={key}>{text}</mark> : <span key={key}>{text}</span>;
        })}
      </code>
    </span>
  );
}

/** Calls out known addresses that an address looks like: it may have been made to be mistaken for one of them. */
export function LookAlikes({
  recipient: { address, known, count, lookAlikes },
  organization,
}: {
  readonly recipient: Schema['Recipient'];
  readonly organization: Organization;
}) {
  if (lookAlikes.length === 0) return null;
  const isKnown = known.length > 0 || count > 0;
  return (
    <Notice
      tone={isKnown ? 'warning' : 'danger'}
      title={
        isKnown
          ? 'Another address that you know looks like this one'
          : 'This address looks like one that you know, and is another one'
      }
    >
      <p>Compare every digit. The ones that differ are marked.</p>
      <dl className={styles.lookAlikes}>
        <div>
          <dt>This address</dt>
          <dd>
            <Compared address={address} other={lookAlikes[0]?.address ?? ''} />
          </dd>
        </div>
        {lookAlikes.map((one) => (
          <div key={one.address}>
            <dt>
              {knownText(one.known, organization.network) ??
                `paid before: ${counted(one.count, 'completed transaction')}`}
            </dt>
            <dd>
              <Compared address={one.address} other={address} />
            </dd>
          </div>
        ))}
      </dl>
    </Notice>
  );
}
