import { privateKeyToAccount } from 'viem/accounts';
import { signerEndpoints } from '../../../src/chain/contractSignatures';
import { EndpointsMissing, encodeSignature } from '../../../src/chain/signatures';
import { createIdentifyVoter } from '../../../src/chain/voter';
import type { NetworkConfig } from '../../../src/config';
import { aMember } from '../../support/builders';

const wallet = privateKeyToAccount(`0x${'17'.repeat(32)}`);
const typed = {
  types: { EIP712Domain: [{ name: 'name', type: 'string' }], Vote: [{ name: 'text', type: 'string' }] },
  primaryType: 'Vote',
  domain: { name: 'test' },
  message: { text: 'yes' },
} as const;

const network: NetworkConfig = {
  id: 7,
  name: 'Nowhere',
  rpcUrls: ['http://127.0.0.1:1'],
  signerRpcUrls: [],
  relayers: 1,
  nativeAsset: { symbol: 'ETH', name: 'Ether', decimals: 18 },
  confirmations: 1,
  maxFeePerGas: 1n,
};

describe('without endpoints', () => {
  const identify = createIdentifyVoter(signerEndpoints(network));
  const member = aMember().withWallet(wallet.address);
  const vote = async () => ({
    payload: JSON.stringify(typed),
    signature: encodeSignature(wallet.address, await wallet.signTypedData(typed)),
  });

  it('a key is verified by its signature alone', async () => {
    const ofKey = member.build();
    expect(await identify({ ...(await vote()), eligible: [ofKey] })).toEqual({
      ok: true,
      value: { member: ofKey, signerAddress: wallet.address, scheme: 'eoa' },
    });
  });

  it('a contract cannot be verified, not even by a signature of the key of its address', async () => {
    const ofContract = member.ofContract().build();
    const identified = identify({ ...(await vote()), eligible: [ofContract] });
    await expect(identified).rejects.toThrow(EndpointsMissing);
    await expect(identified).rejects.toThrow(/network Nowhere \(7\) has no signerRpcUrls/);
  });

  it('a contract that may not vote is refused as any other wallet', async () => {
    expect(await identify({ ...(await vote()), eligible: [] })).toMatchObject({
      ok: false,
      refusal: { code: 'forbidden' },
    });
  });
});
