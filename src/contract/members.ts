import { z } from 'zod';
import { endpoint } from './endpoint';
import { address, envelope, idOf, listOf, listQuery, revision, timestamp } from './primitives';

export const memberType = z
  .enum(['user', 'api'])
  .meta({ id: 'MemberType', description: '`user`: a person; `api`: a bot.' });

export const walletKind = z.enum(['key', 'contract']).meta({
  id: 'WalletKind',
  description:
    'What verifies the signatures of a wallet. `key`: the key of its address (ECDSA), whatever code is there. ' +
    '`contract`: the contract at its address (EIP-1271).',
});

const memberName = z.string().meta({ examples: ['Dave'] });

export const memberSummary = z
  .object({
    id: idOf('mem'),
    name: memberName,
    type: memberType,
    walletAddress: address,
    walletKind,
    revision: revision.optional(),
    createdAt: timestamp.optional(),
    updatedAt: timestamp.optional(),
  })
  .meta({
    id: 'MemberSummary',
    description:
      'A member. The timestamps are present only in responses that create a proposal, `revision` only where one removes the member.',
  });

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
  response: envelope(member),
  status: 200,
  errors: ['notFound'],
});
