import { type ChainClient, ChainUnavailable } from '../../../src/chain/clients';
import { creationByte, staticCallBytes, staticCallWord } from '../../../src/chain/evmCalls';

/** A network whose node answers every call with that. */
function answering(answer: unknown): ChainClient {
  return { network: { id: 1, name: 'Odd' }, rpc: { request: async () => answer } } as unknown as ChainClient;
}

const call = { to: '0x00000000000000000000000000000000000a11ce', data: '0x', gas: 1n } as const;

it.each([null, 7, 'text', '0x', '0x00', `0x${'0'.repeat(62)}`])(
  'an answer of %j says nothing about the contract: the network is unavailable',
  async (answer) => {
    const client = answering(answer);
    await expect(staticCallWord(client, call)).rejects.toThrow(ChainUnavailable);
    await expect(staticCallBytes(client, { ...call, limit: 1 })).rejects.toThrow(
      'its answer to eth_call is malformed',
    );
    await expect(creationByte(client, { code: '0x', gas: 1n })).rejects.toThrow(ChainUnavailable);
  },
);
