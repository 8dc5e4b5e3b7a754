import { createChainClient } from '../../src/chain/clients';
import { assertAnswers } from '../../src/clients';
import type { NetworkConfig } from '../../src/config';

test('a network that does not answer is named without its endpoints, whose paths may hold keys', async () => {
  const network = {
    ...{ id: 5, name: 'Goerli', rpcUrls: ['http://127.0.0.1:1/v2/secret-key'], signerRpcUrls: [] },
    nativeAsset: { symbol: 'ETH', name: 'Ether', decimals: 18 },
  } as unknown as NetworkConfig;
  const error: Error = await assertAnswers(createChainClient(network)).then(
    () => new Error('it answered'),
    (thrown) => thrown,
  );
  expect(error.message).toMatch(/^network Goerli \(5\) is unavailable: /);
  expect(error.message).not.toMatch(/secret-key|\n/);
});
