import type { Schema } from '@orgwallet/client';
import { queryOptions } from '@tanstack/react-query';
import { queryClient } from './client.ts';
import { ask } from './sessions.ts';

/** Where people read notices. */
export type Channel = Schema['Channel'];

export const channelsQuery = queryOptions({
  queryKey: ['channels'],
  queryFn: () => ask<Channel[]>('GET', '/channels'),
});

/** Reads the channels again after a change. */
export const readChannelsAgain = () => queryClient.invalidateQueries({ queryKey: channelsQuery.queryKey });

const pathOf = (id: string, below = '') => `/channels/${encodeURIComponent(id)}${below}`;

export const channels = {
  create: (body: Schema['NewChannelRequest']) => ask<Channel>('POST', '/channels', body),
  update: (id: string, body: Schema['ChannelChangeRequest']) =>
    ask<Channel>('POST', pathOf(id, '/update'), body),
  remove: (id: string) => ask<Channel>('DELETE', pathOf(id)),
  confirm: (id: string, code: string) => ask<Channel>('POST', pathOf(id, '/confirm'), { code }),
  sendCode: (id: string) => ask<Channel>('POST', pathOf(id, '/code')),
  test: (id: string) => ask<Schema['ChannelTest']>('POST', pathOf(id, '/test')),
};
