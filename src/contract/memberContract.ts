import { z } from 'zod';
import { address, idOf, memberName, memberType, timestamp, walletKind } from '../domain/schemas';
import { endpoint } from './endpoint';
import { dataResponse, listOf, listQuery } from './primitives';

export const registeredAt = timestamp
  .nullable()
  .meta({ description: 'When control of the wallet was proved; null: not yet.' });

/** A member who joins or leaves a group or the admins. */
export const membershipUpdate = z
  .strictObject({
    action: z.enum(['addMember', 'removeMember']).meta({ id: 'MembershipAction' }),
    id: idOf('mem'),
  })
  .meta({ id: 'MembershipUpdate', description: 'A member who joins or leaves.' });

const member = z
  .object({
    id: idOf('mem'),
    name: memberName,
    type: memberType,
    walletAddress: address,
    walletKind,
    registeredAt,
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
  summary: 'List members',
  description: 'Returns all members, newest first. With `limit` or `cursor` it returns a page.',
  params: {},
  query: z.strictObject(listQuery),
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
  response: dataResponse(member),
  status: 200,
  errors: ['notFound'],
});
