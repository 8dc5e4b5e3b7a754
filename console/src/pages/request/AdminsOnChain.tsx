import type { Change, Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { adminsQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { shortAddress } from '../../domain/address.ts';
import { type AdminSet, formerOwners, isLate, type SafeOnNetwork } from '../../domain/adminsSafe.ts';
import { plainName } from '../../domain/quotedName.ts';
import { SAFE_STATES } from '../../text/adminsSafe.ts';
import { AdminSetWarnings } from '../../ui/AdminSetWarnings.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Section } from '../../ui/Page.tsx';
import { Loaded } from '../../ui/States.tsx';
import { type Columns, Table } from '../../ui/Table.tsx';
import { useNow } from '../../ui/TimeLeft.tsx';

/** The admins as they would be. */
interface Proposed extends AdminSet {
  readonly onChain?: boolean;
}

/** A network with an account, and the admins' Safe there once the signer has looked. */
interface Row {
  readonly networkId: number;
  readonly safe: SafeOnNetwork | undefined;
}

const names = (count: number, all: readonly string[]) =>
  `${count} of ${all.length}: ${all.map(plainName).join(', ')}`;

/** Who owns the Safe there afterwards. */
function AfterText({ members, threshold }: Proposed) {
  const contracts = members.filter(({ walletKind }) => walletKind === 'contract');
  return (
    <>
      {names(
        threshold,
        members.map(({ name }) => name),
      )}
      {contracts.length > 0 ? (
        <p className="small muted">
          {contracts.map(({ name }) => plainName(name)).join(', ')} only where this service verifies contract
          wallets
        </p>
      ) : null}
    </>
  );
}

function Networks({
  admins,
  proposed,
  organization,
}: {
  readonly admins: Schema['Admins'];
  readonly proposed: Proposed;
  readonly organization: Organization;
}) {
  const now = useNow(Number.POSITIVE_INFINITY);
  const ids = new Set(organization.accounts.flatMap(({ networks }) => networks.map(({ id }) => id)));
  const rows: readonly Row[] = [...ids]
    .sort((one, other) => one - other)
    .map((networkId) => ({
      networkId,
      safe: admins.onChain.networks.find((one) => one.networkId === networkId),
    }));
  const ownerName = (owner: string) => organization.owner(owner) ?? shortAddress(owner);
  const columns: Columns<Row> = [
    { name: 'Network', cell: ({ networkId }) => organization.network(networkId) ?? `network ${networkId}` },
    {
      name: 'Owners now',
      cell: ({ safe }) => (safe?.owners ? names(safe.threshold ?? 0, safe.owners.map(ownerName)) : 'nobody'),
    },
    { name: 'Owners after', cell: () => <AfterText {...proposed} /> },
    {
      name: 'Now',
      cell: ({ safe }) => {
        const { text, tone } = SAFE_STATES[safe?.status ?? 'missing'];
        return <Badge tone={safe && isLate(safe, now) ? 'danger' : tone}>{text}</Badge>;
      },
    },
  ];
  const former = rows.filter(({ safe }) => safe && formerOwners(safe, admins).length > 0);
  return (
    <div className="stack-small">
      <Table
        caption="Who owns the admins' Safe on each network"
        columns={columns}
        rows={rows}
        rowKey={({ networkId }) => String(networkId)}
      />
      {former.length > 0 ? (
        <Notice tone="warning" title="An earlier change has not reached every network">
          <p>
            Former admins still own the Safe on{' '}
            {former
              .map(({ networkId }) => organization.network(networkId) ?? `network ${networkId}`)
              .join(', ')}
            . This change is written there in one step with the earlier one.
          </p>
        </Notice>
      ) : null}
      <p className="small muted">
        It takes effect on a network once it is in a block there. Until then the current owners can take the
        accounts over.
      </p>
    </div>
  );
}

/** Of a proposal about the admins: who will own what on which network. Nothing, where their Safe is and stays off. */
export function AdminsOnChain({
  change,
  organization,
}: {
  readonly change: Pick<Change, 'data'>;
  readonly organization: Organization;
}) {
  const query = useQuery(adminsQuery);
  const proposed = change.data as Proposed;
  return (
    <Loaded query={query} what="who owns the admins' Safe">
      {(admins) =>
        proposed.onChain ? (
          <Section title="Without this service" id="on-chain">
            <div className="stack-small">
              <AdminSetWarnings admins={proposed} />
              <Networks admins={admins} proposed={proposed} organization={organization} />
            </div>
          </Section>
        ) : admins.onChain.enabled ? (
          <Notice tone="danger" title="The admins' Safe is switched off">
            <p>It stays as it is on each network, and no later change of the admins reaches it.</p>
          </Notice>
        ) : null
      }
    </Loaded>
  );
}
