import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Channel, channelsQuery } from '../../api/channels.ts';
import { channelState, KIND_NAMES, occasionsText } from '../../text/channels.ts';
import { Button } from '../../ui/Button.tsx';
import { Empty, Loaded } from '../../ui/States.tsx';
import { type Columns, Table } from '../../ui/Table.tsx';
import { ChannelDialog } from './ChannelDialog.tsx';
import { NewChannel } from './NewChannel.tsx';

function columnsOf(open: (channel: Channel) => void): Columns<Channel> {
  return [
    {
      name: 'Channel',
      cell: ({ kind, target, description }) => (
        <>
          {description || KIND_NAMES[kind]} <code className="small">{target}</code>
        </>
      ),
    },
    { name: 'Notifies about', cell: ({ occasions }) => occasionsText(occasions) },
    { name: 'State', cell: channelState },
    {
      name: 'Change',
      cell: (channel) => (
        <Button className="small" onClick={() => open(channel)}>
          Open<span className="hidden-visually"> {channel.description || channel.target}</span>
        </Button>
      ),
    },
  ];
}

/** Some channels, each with what can be changed. */
function ChannelTable({ caption, rows }: { readonly caption: string; readonly rows: readonly Channel[] }) {
  const [openId, setOpenId] = useState<string>();
  const opened = rows.find(({ id }) => id === openId);
  return (
    <>
      <Table
        caption={caption}
        columns={columnsOf(({ id }) => setOpenId(id))}
        rows={[...rows]}
        rowKey={({ id }) => id}
      />
      {opened ? <ChannelDialog of={opened} onClose={() => setOpenId(undefined)} /> : null}
    </>
  );
}

/** The channels of the organization, for admins. */
export function Channels() {
  const query = useQuery(channelsQuery);
  return (
    <Loaded query={query} what="the channels">
      {(all) => {
        const rows = all.filter(({ own }) => !own);
        if (rows.length === 0) {
          return (
            <Empty title="No channels">
              <p>A channel sends notices to a chat or by email. Add one below.</p>
            </Empty>
          );
        }
        return <ChannelTable caption="Channels of the organization" rows={rows} />;
      }}
    </Loaded>
  );
}

/** The own address of the member: what is there, or a form for it. */
export function OwnAddress() {
  const query = useQuery(channelsQuery);
  return (
    <Loaded query={query} what="your address">
      {(all) => {
        const rows = all.filter(({ own }) => own);
        return rows.length === 0 ? (
          <NewChannel own />
        ) : (
          <ChannelTable caption="Your email address" rows={rows} />
        );
      }}
    </Loaded>
  );
}
