import { type Founder, type VerifiedGenesis, visible } from '@orgwallet/client';
import { Address } from '../../ui/Address.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { Section } from '../../ui/Page.tsx';
import { Table } from '../../ui/Table.tsx';

/** The members, the admins first, with their wallets in full: people read them to each other. */
function Members({ genesis: { state, admins } }: { readonly genesis: VerifiedGenesis }) {
  const others = Object.values(state.members).filter((member) => !admins.includes(member));
  const isAdmin = (member: Founder) => admins.includes(member);
  return (
    <Table
      caption="Members"
      columns={[
        { name: 'Name', cell: ({ name }) => <bdi>{visible(name)}</bdi> },
        {
          name: 'Role',
          cell: (member) => (isAdmin(member) ? <Badge tone="accent">admin</Badge> : 'member'),
        },
        { name: 'Type', cell: ({ type }) => (type === 'user' ? 'person' : 'bot') },
        {
          name: 'Wallet',
          cell: ({ walletAddress, walletKind }) => (
            <span>
              <Address address={walletAddress} copy={false} />
              {walletKind === 'contract' ? <span className="muted"> contract</span> : null}
            </span>
          ),
        },
      ]}
      rows={[...admins, ...others]}
      rowKey={({ id }) => id}
    />
  );
}

/** What a genesis founds, read from its bytes. */
export function Founded({ genesis }: { readonly genesis: VerifiedGenesis }) {
  const { state, admins, description } = genesis;
  return (
    <Section title="What it founds" id="founds">
      <div className="stack">
        <div className="card">
          <Facts
            rows={[
              ['Name', <bdi key="name">{visible(state.name)}</bdi>],
              ['Threshold', `${state.admins.threshold} of ${admins.length} admins sign each change`],
              ['Organization', <code key="id">{state.id}</code>],
              ['Owner of its accounts', <Address key="owner" address={state.signingKey} copy={false} />],
              ['Seals its decisions', <Address key="seal" address={state.sealKey} copy={false} />],
              ['Salt', <code key="salt">{state.domainSalt}</code>],
              ['Groups, policies, accounts', 'none: the admins decide on them later'],
            ]}
          />
        </div>
        <Members genesis={genesis} />
        <details>
          <summary>All fields, decoded from the payload</summary>
          <pre>{description}</pre>
        </details>
      </div>
    </Section>
  );
}
