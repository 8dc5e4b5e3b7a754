import { z } from 'zod';
import { endpoint } from './endpoint';
import { envelope, networkId } from './primitives';

const network = z
  .object({
    id: networkId,
    name: z.string(),
    nativeAsset: z.object({ symbol: z.string(), name: z.string(), decimals: z.int() }),
    explorerUrl: z.string().optional(),
  })
  .meta({ id: 'Network' });

export const listNetworksEndpoint = endpoint({
  id: 'listNetworks',
  tag: 'Networks',
  method: 'get',
  path: '/networks',
  access: 'read',
  summary: 'Get the networks that this deployment can reach',
  params: {},
  query: z.strictObject({}),
  response: envelope(z.array(network)),
  status: 200,
  errors: [],
});
