import { z } from 'zod';
import { endpoint } from './endpoint';
import { memberSummary } from './members';
import { envelope, listOf, pageQuery, timestamp } from './primitives';

const group = z
  .object({
    id: z.string(),
    name: z.string(),
    members: z.array(memberSummary),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Group' });

export const listGroupsEndpoint = endpoint({
  id: 'listGroups',
  tag: 'Groups',
  method: 'get',
  path: '/groups',
  access: 'read',
  summary: 'Get all groups',
  description: 'Returns every group, newest first. With `limit` or `cursor` it returns a page.',
  params: {},
  query: z.strictObject(pageQuery),
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
  response: envelope(group),
  status: 200,
  errors: ['notFound'],
});
