import { z } from 'zod';
import { adminThreshold, idOf, memberSummary } from '../domain/schemas';
import { endpoint } from './endpoint';
import { dataResponse } from './primitives';

const admins = z
  .object({ id: idOf('adm'), members: z.array(memberSummary), threshold: adminThreshold })
  .meta({ id: 'Admins', description: 'The members who vote on organization operations.' });

const adminsResponse = dataResponse(admins);

export const listAdminsEndpoint = endpoint({
  id: 'listAdmins',
  tag: 'Admins',
  method: 'get',
  path: '/admins',
  access: 'read',
  summary: 'Get the admins',
  description: 'Returns the members who vote on organization operations, and their threshold.',
  params: {},
  query: z.strictObject({}),
  response: adminsResponse,
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
  response: adminsResponse,
  status: 200,
  errors: ['notFound'],
});
