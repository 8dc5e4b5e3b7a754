import type { Schema } from '@orgwallet/client';
import { AddressIcon } from './AddressIcon.tsx';
import { ShortText } from './ShortText.tsx';
import { Empty } from './States.tsx';
import { type Column, Table } from './Table.tsx';

interface Props<Member> {
  readonly caption: string;
  readonly members: readonly Member[];
  readonly more?: readonly Column<Member>[];
}

/** Members with their wallets. */
export function MemberTable<Member extends Schema['MemberSummary']>({
  caption,
  members,
  more = [],
}: Props<Member>) {
  if (members.length === 0) return <Empty title="No members" />;
  return (
    <Table
      caption={caption}
      columns={[
        {
          name: 'Name',
          cell: ({ name, walletAddress }) => (
            <span className="with-icon">
              <AddressIcon address={walletAddress} />
              {name}
            </span>
          ),
        },
        { name: 'Type', cell: ({ type }) => (type === 'user' ? 'person' : 'bot') },
        {
          name: 'Wallet',
          cell: ({ name, walletAddress, walletKind }) => (
            <>
              <ShortText text={walletAddress} of={`wallet of ${name}`} />
              {walletKind === 'contract' ? <span className="muted small"> contract</span> : null}
            </>
          ),
        },
        ...more,
      ]}
      rows={members}
      rowKey={({ id }) => id}
    />
  );
}
