import { type AdminSet, isOutOfReach, keyWallets, weaknessesOf } from '../domain/adminsSafe.ts';
import { WEAKNESSES } from '../text/adminsSafe.ts';
import { Notice } from './Notice.tsx';

/** What is weak in who could take the accounts over. Nothing, where nothing is. */
export function AdminSetWarnings({ admins }: { readonly admins: AdminSet }) {
  const keys = keyWallets(admins).length;
  return (
    <>
      {weaknessesOf(admins).map((one) => (
        <Notice key={one} tone="warning" title={WEAKNESSES[one].title}>
          <p>{WEAKNESSES[one].text}</p>
        </Notice>
      ))}
      {isOutOfReach(admins) ? (
        <Notice tone="danger" title="Too few admins with a wallet that is a key">
          <p>
            {keys} of them have one, and {admins.threshold} must sign. A contract wallet counts on one network
            only, where this service verifies its signatures. On every other network nobody could take the
            accounts over.
          </p>
        </Notice>
      ) : null}
    </>
  );
}
