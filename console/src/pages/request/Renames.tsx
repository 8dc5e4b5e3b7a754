import type { Payloads } from '@orgwallet/client';
import { type Organization, useOrganization } from '../../api/useOrganization.ts';
import { quotedName } from '../../domain/quotedName.ts';
import { renamesIn } from '../../domain/renames.ts';
import { Notice } from '../../ui/Notice.tsx';

/** The present names of an id, address or chain id. */
function namesOf(
  subject: string,
  { members, groups, policies, accounts, networks }: Organization,
): readonly string[] {
  const address = subject.toLowerCase();
  return [
    ...[...members, ...groups, ...policies].filter(({ id }) => id === subject),
    ...accounts.filter((account) => account.address.toLowerCase() === address),
    ...networks.filter(({ id }) => String(id) === subject),
    ...members.filter(({ walletAddress }) => walletAddress.toLowerCase() === address),
  ].map(({ name }) => name);
}

/** Says that what is signed has names that were changed since: it cannot be executed any more. */
export function Renames({ payloads }: { readonly payloads: Payloads }) {
  const { organization } = useOrganization();
  const [first] = Object.values(payloads);
  const summary = first?.typedData.message.summary.join('\n');
  const renames =
    summary && organization ? renamesIn(summary, (subject) => namesOf(subject, organization)) : [];
  if (renames.length === 0) return null;
  return (
    <Notice tone="warning" title="It can no longer be executed: a name in it has changed">
      <ul>
        {renames.map(({ before, after }) => (
          <li key={`${before}/${after}`}>
            <bdi>{quotedName(before)}</bdi> is now <bdi>{quotedName(after)}</bdi>.
          </li>
        ))}
      </ul>
      <p>The signatures are for the old name. Reject this request, then create it again.</p>
    </Notice>
  );
}
