import { z } from 'zod';
import { endpoint } from './endpoint';
import { address, envelope, listOf, pageQuery, timestamp } from './primitives';

export const memberType = z.enum(['user', 'api']).meta({ description: 'A person, or a bot.' });

export const memberSummary = z
  .object({
    id: z.string(),
    name: z.string(),
    type: memberType,
    walletAddress: address,
    createdAt: timestamp.optional(),
    updatedAt: timestamp.optional(),
  })
  .meta({ id: 'MemberSummary' });

const member = z
  .object({
    id: z.string(),
    name: z.string(),
    type: memberType,
    walletAddress: address,
    registeredAt: timestamp.nullable().meta({ description: 'When control of the wallet was proved.' }),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Member' });

export const listMembersEndpoint = endpoint({
  id: 'listMembers',
  tag: 'Members',
  method: 'get',
  path: '/members',
  access: 'read',
  summary: 'Get all members',
  description: 'Returns every member, newest first. With `limit` or `cursor` it returns a page.',
  params: {},
  query: z.strictObject(pageQuery),
  response: listOf(member),
  status: 200,
  errors: [],
});

export const getMemberEndpoint = endpoint({
  id: 'getMember',
  tag: 'Members',
  method: 'get',
  path: '/members/{memberId}',
  access: 'read',
  summary: 'Get a member',
  params: { memberId: 'mem' },
  query: z.strictObject({}),
  response: envelope(member),
  status: 200,
  errors: ['notFound'],
});
