import type { Schema } from '@orgwallet/client';
import { AddressIcon } from './AddressIcon.tsx';
import iconsStyles from './icons.module.css';
import { List } from './List.tsx';
import { ShortText } from './ShortText.tsx';
import { Empty } from './States.tsx';
import type { Columns } from './Table.tsx';

type Member = Schema['MemberSummary'];

const COLUMNS: Columns<Member> = [
  {
    name: 'Name',
    sortBy: ({ name }) => name,
    cell: ({ name, walletAddress }) => (
      <span className={iconsStyles.withIcon}>
        <AddressIcon address={walletAddress} />
        {name}
      </span>
    ),
  },
  { name: 'Type', cell: ({ type }) => (type === 'user' ? 'person' : 'bot') },
  {
    name: 'Wallet',
    cell: ({ name, walletAddress, walletKind }) => (
      <span>
        <ShortText text={walletAddress} of={`wallet of ${name}`} />
        {walletKind === 'contract' ? <span className="muted small"> contract</span> : null}
      </span>
    ),
  },
];

/** Members with their wallets. */
export function MemberTable({
  caption,
  members,
}: {
  readonly caption: string;
  readonly members: readonly Member[];
}) {
  if (members.length === 0) return <Empty title="No members" />;
  return (
    <List
      what="members"
      caption={caption}
      columns={COLUMNS}
      rows={members}
      rowKey={({ id }) => id}
      textOf={({ id, name, walletAddress }) => `${name} ${walletAddress} ${id}`}
      searchLabel="Search by name, address or id"
    />
  );
}
