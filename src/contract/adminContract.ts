import { z } from 'zod';
import { ADMINS_SAFE_STATUSES } from '../domain/adminsSafe';
import { address, adminThreshold, idOf, memberSummary, networkId, timestamp } from '../domain/schemas';
import { endpoint } from './endpoint';
import { dataResponse } from './primitives';

export const safeOnNetwork = z
  .object({
    networkId,
    status: z.enum(ADMINS_SAFE_STATUSES).meta({
      id: 'AdminsSafeStatus',
      description:
        '`missing`: not made yet; `behind`: it has not the admins of now yet; `diverged`: its owners have changed it, which the ' +
        'next decision about the admins ends; `independent`: its owners have removed its keeper; `impossible`: too few ' +
        'admins have a wallet that is a key; `unknown`: it cannot be read.',
    }),
    owners: z.array(address).nullable().meta({ description: 'On chain; null where it was not read.' }),
    threshold: z.int().nullable(),
    sequence: z
      .int()
      .nullable()
      .meta({ description: 'The sealed decision that was written last; null: none.' }),
    since: timestamp.meta({ description: 'Since when it has this status.' }),
    observedAt: timestamp.meta({ description: 'When the signer has read it last.' }),
    reason: z.string().nullable(),
  })
  .meta({
    id: 'AdminsSafeOnNetwork',
    description: "The admins' Safe on a network, as the signer has read it.",
  });

const onChain = z
  .object({
    enabled: z
      .boolean()
      .meta({ description: 'Whether it is a module of each account, and kept equal to the admins.' }),
    safe: address.meta({
      description: 'Its address, the same on all networks. It holds no money: send nothing there.',
    }),
    networks: z.array(safeOnNetwork).meta({
      description: 'The networks of accounts where the signer has looked; empty while it is not enabled.',
    }),
  })
  .meta({ id: 'AdminsOnChain', description: "The admins' Safe." });

const admins = z
  .object({ id: idOf('adm'), members: z.array(memberSummary), threshold: adminThreshold, onChain })
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
