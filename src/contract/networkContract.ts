import { z } from 'zod';
import { networkId } from '../domain/schemas';
import { endpoint } from './endpoint';
import { dataResponse } from './primitives';

export const networkName = z.string().meta({ examples: ['Ethereum'] });

const network = z
  .object({
    id: networkId,
    name: networkName,
    shortName: z
      .string()
      .optional()
      .meta({ description: 'Before an address (EIP-3770); absent where it has none.', examples: ['eth'] }),
    nativeAsset: z
      .object({
        symbol: z.string().meta({ examples: ['ETH'] }),
        name: z.string().meta({ examples: ['Ether'] }),
        decimals: z
          .int()
          .min(0)
          .max(255)
          .meta({ examples: [18] }),
      })
      .meta({ id: 'NativeAsset' }),
    explorerUrl: z.string().optional().meta({ description: 'Address of a block explorer.' }),
    walletRpcUrl: z
      .string()
      .optional()
      .meta({ description: 'JSON-RPC endpoint for the wallets of members.' }),
  })
  .meta({ id: 'Network', description: 'A network that this installation can reach.' });

export const listNetworksEndpoint = endpoint({
  id: 'listNetworks',
  tag: 'Networks',
  method: 'get',
  path: '/networks',
  access: 'read',
  summary: 'List the networks of this installation',
  params: {},
  query: z.strictObject({}),
  response: dataResponse(z.array(network)).meta({ id: 'NetworksResponse' }),
  status: 200,
  errors: [],
});
