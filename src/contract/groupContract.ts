import { z } from 'zod';
import { idOf, memberSummary, timestamp } from '../domain/schemas';
import { endpoint } from './endpoint';
import { dataResponse, listOf, listQuery } from './primitives';

const group = z
  .object({
    id: idOf('grp'),
    name: z.string().meta({ examples: ['Traders'] }),
    members: z.array(memberSummary),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Group', description: 'A named set of members.' });

export const listGroupsEndpoint = endpoint({
  id: 'listGroups',
  tag: 'Groups',
  method: 'get',
  path: '/groups',
  access: 'read',
  summary: 'List groups',
  description: 'Returns all groups, newest first. With `limit` or `cursor` it returns a page.',
  params: {},
  query: z.strictObject(listQuery),
  response: listOf(group),
  status: 200,
  errors: [],
});

export const getGroupEndpoint = endpoint({
  id: 'getGroup',
  tag: 'Groups',
  method: 'get',
  path: '/groups/{groupId}',
  access: 'read',
  summary: 'Get a group',
  params: { groupId: 'grp' },
  query: z.strictObject({}),
  response: dataResponse(group),
  status: 200,
  errors: ['notFound'],
});
