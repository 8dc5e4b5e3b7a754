import { z } from 'zod';
import { networkId, timestamp } from '../domain/schemas';
import { endpoint } from './endpoint';
import { dataResponse } from './primitives';

const part = z
  .object({
    part: z
      .enum(['temporal', 'worker', 'chainWorker', 'signer', 'network', 'relayers'])
      .meta({ id: 'PartName' }),
    networkId: networkId.nullable().meta({ description: 'Of `network` and `relayers`; else null.' }),
    status: z.enum(['up', 'slow', 'down', 'unknown']).meta({
      id: 'PartStatus',
      description:
        '`slow`: it has answered, and late. `unknown`: another part that is down has to answer first.',
    }),
    reason: z.string().nullable().meta({ description: 'Why it is `down`; else null.' }),
    lastSeen: timestamp.nullable().meta({ description: 'When it was last known to work; null: never.' }),
  })
  .meta({ id: 'Part', description: 'A part of this installation that requests depend on.' });

/** A part in a response. */
export type ListedPart = z.infer<typeof part>;

export const listPartsEndpoint = endpoint({
  id: 'listParts',
  tag: 'Networks',
  method: 'get',
  path: '/parts',
  access: 'read',
  summary: 'List the parts of this installation, and which of them are available',
  description:
    'What executions wait for: Temporal, the processes of each role, each network, and the relayers that pay for gas there. ' +
    'The state may be five seconds old.',
  params: {},
  query: z.strictObject({}),
  response: dataResponse(z.array(part)).meta({ id: 'PartsResponse' }),
  status: 200,
  errors: [],
});
