import { z } from 'zod';
import { endpoint } from './endpoint';
import { memberSummary } from './members';
import { envelope } from './primitives';

const admins = z
  .object({ id: z.string(), members: z.array(memberSummary), threshold: z.int().min(1) })
  .meta({ id: 'Admins' });

export const listAdminsEndpoint = endpoint({
  id: 'listAdmins',
  tag: 'Admins',
  method: 'get',
  path: '/admins',
  access: 'read',
  summary: 'Get the admins',
  description: 'The members who decide organization operations, and how many of them it takes.',
  params: {},
  query: z.strictObject({}),
  response: envelope(admins),
  status: 200,
  errors: [],
});

export const getAdminsEndpoint = endpoint({
  id: 'getAdmins',
  tag: 'Admins',
  method: 'get',
  path: '/admins/{adminsId}',
  access: 'read',
  summary: 'Get the admins by id',
  params: { adminsId: 'adm' },
  query: z.strictObject({}),
  response: envelope(admins),
  status: 200,
  errors: ['notFound'],
});
