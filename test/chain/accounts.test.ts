import { type Address, keccak256, serializeErc6492Signature, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { inspectAccount } from '../../src/chain/accountPresence';
import { type ChainClient, ChainUnavailable, createChainClient } from '../../src/chain/clients';
import {
  signerEndpoints,
  verifyContractSignature,
  type WalletEndpoints,
} from '../../src/chain/contractSignatures';
import { missingContracts, refuseNetwork } from '../../src/chain/safe';
import { deploymentCall, deriveAccount, MULTI_SEND, SAFE_CONTRACTS } from '../../src/chain/safeAccount';
import { encodeSignature, verifyKeySignature } from '../../src/chain/signatures';
import { createIdentifyVoter } from '../../src/chain/voter';
import type { NetworkConfig } from '../../src/config';
import { endpointOf, freePorts, rpc, startOwnChain } from '../support/stack';
import { deployAsFunder, execAsOwner, putCode, signAsSafe } from './wallets';

const CHAIN_IDS = [41_001, 41_002] as const;
const owner = privateKeyToAccount(keccak256(toHex('owner')));
const outsider = privateKeyToAccount(keccak256(toHex('outsider')));
const digest = keccak256(toHex('what is signed'));

function network(id: number, rpcUrl: string): NetworkConfig {
  const nativeAsset = { symbol: 'ETH', name: 'Ether', decimals: 18 };
  return {
    id,
    name: `Chain ${id}`,
    rpcUrls: [rpcUrl],
    signerRpcUrls: [rpcUrl],
    relayers: 1,
    nativeAsset,
    confirmations: 1,
    maxFeePerGas: 10n ** 12n,
  };
}

let parts: Awaited<ReturnType<typeof startOwnChain>>[];
let clients: ChainClient[];
let chain: ChainClient;
let here: WalletEndpoints;
let url: string;

beforeAll(async () => {
  parts = await Promise.all(CHAIN_IDS.map((id) => startOwnChain(id)));
  clients = parts.map(({ current }) => createChainClient(network(current.chainId, current.rpcUrl)));
  [chain] = clients as [ChainClient, ChainClient];
  url = endpointOf(chain.network);
  here = signerEndpoints(chain.network);
});
afterAll(() => Promise.all((parts ?? []).map((part) => part.stop())));

describe('an account on chain', () => {
  test('is at the computed address on every network, and is recognized', async () => {
    const account = deriveAccount(owner.address, 'acc_everywhere');
    for (const client of clients) {
      expect(await inspectAccount(client.rpc, account)).toEqual({ kind: 'missing' });
      expect(await deployAsFunder(endpointOf(client.network), account)).toMatchObject({ status: '0x1' });
      expect(await inspectAccount(client.rpc, account)).toEqual({ kind: 'fits', secured: false });
    }
  });

  test.each([
    ['an owner', 'addOwnerWithThreshold(address owner, uint256 threshold)', [outsider.address, 1n], /owners/],
    ['a module', 'enableModule(address module)', [outsider.address], /modules/],
    [
      'another fallback handler',
      'setFallbackHandler(address handler)',
      [outsider.address],
      /fallback handler/,
    ],
    [
      'other owners',
      'swapOwner(address prev, address old, address new)',
      ['0x0000000000000000000000000000000000000001', owner.address, outsider.address],
      /owners/,
    ],
  ] as const)('is not recognized once it has %s', async (what, signature, args, reason) => {
    const account = deriveAccount(owner.address, `acc_${what}`);
    await deployAsFunder(url, account);
    await execAsOwner(chain, owner, account.address as Address, { signature, args });
    expect(await inspectAccount(chain.rpc, account)).toMatchObject({
      kind: 'different',
      reason: expect.stringMatching(reason),
    });
  });

  test('is not recognized with a guard, another singleton or another code', async () => {
    const account = deriveAccount(owner.address, 'acc_slots');
    await deployAsFunder(url, account);
    const set = (slot: string, value: string) =>
      rpc(url, 'anvil_setStorageAt', [account.address, slot, value]);
    const guard = '0x4a204f620c8c5ccdca3fd54d003badd85ba500436a431f0cbda4f558c93c34c8';
    const word = (address: string) => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;
    await set(guard, word(outsider.address));
    expect(await inspectAccount(chain.rpc, account)).toMatchObject({
      reason: expect.stringMatching(/guard/),
    });
    await set(guard, word('0x0'));
    expect(await inspectAccount(chain.rpc, account)).toEqual({ kind: 'fits', secured: false });
    await set(`0x${'0'.repeat(64)}`, word(outsider.address));
    expect(await inspectAccount(chain.rpc, account)).toMatchObject({
      reason: expect.stringMatching(/singleton/),
    });
    await rpc(url, 'anvil_setCode', [account.address, '0x00']);
    expect(await inspectAccount(chain.rpc, account)).toMatchObject({ reason: expect.stringMatching(/code/) });
  });

  test('requires Safe contracts with exactly the published code', async () => {
    expect(await missingContracts(chain.rpc)).toEqual([]);
    for (const { name, address, codeHash } of [SAFE_CONTRACTS.fallbackHandler, MULTI_SEND]) {
      const code = await rpc(url, 'eth_getCode', [address, 'latest']);
      for (const other of ['0x6000', '0x']) {
        await rpc(url, 'anvil_setCode', [address, other]);
        expect(await missingContracts(chain.rpc)).toMatchObject([{ name }]);
        expect(await refuseNetwork(chain)).toContain(`lacks ${name} (${address}, code ${codeHash})`);
      }
      await rpc(url, 'anvil_setCode', [address, code]);
      expect(await refuseNetwork(chain)).toBeNull();
    }
    expect(await refuseNetwork(createChainClient(network(7, url)))).toMatch(/serves chain 41001/);
  });
});

describe('a contract signer', () => {
  const wallet = deriveAccount(owner.address, 'acc_signer');
  const signer = wallet.address as Address;
  const { to: factory, data: factoryData } = deploymentCall(wallet);
  const counterfactual = deriveAccount(owner.address, 'acc_not_there');
  const safeOf = (account: { address: string }) => ({
    address: account.address as Address,
    chainId: CHAIN_IDS[0],
  });

  beforeAll(() => deployAsFunder(url, wallet));

  test('is accepted when its contract accepts (EIP-1271)', async () => {
    const bytes = await signAsSafe(owner, safeOf(wallet), digest);
    expect(await verifyContractSignature(here, { hash: digest, signer, bytes })).toEqual({
      valid: true,
      scheme: 'eip1271',
    });
  });

  test('is refused for another digest, another owner, or the raw signature of its owner', async () => {
    const bytes = await signAsSafe(owner, safeOf(wallet), digest);
    const other = keccak256(toHex('something else'));
    for (const attempt of [
      { hash: other, bytes },
      { hash: digest, bytes: await signAsSafe(outsider, safeOf(wallet), digest) },
      { hash: digest, bytes: await owner.sign({ hash: digest }) },
      { hash: digest, bytes: '0x' as const },
      { hash: digest, bytes: `0x${'ab'.repeat(60_000)}` as const },
    ]) {
      expect(await verifyContractSignature(here, { ...attempt, signer })).toMatchObject({ valid: false });
    }
  });

  test('that is not deployed yet is accepted with its deployment (ERC-6492)', async () => {
    const account = counterfactual;
    const { to, data } = deploymentCall(account);
    const inner = await signAsSafe(owner, safeOf(account), digest);
    const bytes = serializeErc6492Signature({ address: to, data, signature: inner });
    const at = account.address as Address;
    expect(await verifyContractSignature(here, { hash: digest, signer: at, bytes })).toEqual({
      valid: true,
      scheme: 'erc6492',
    });
    // Nothing was deployed by asking.
    expect(await inspectAccount(chain.rpc, account)).toEqual({ kind: 'missing' });
    const wrong = serializeErc6492Signature({
      address: to,
      data,
      signature: await signAsSafe(outsider, safeOf(account), digest),
    });
    for (const refused of [wrong, inner]) {
      expect(await verifyContractSignature(here, { hash: digest, signer: at, bytes: refused })).toMatchObject(
        { valid: false },
      );
    }
  });

  test('an ERC-6492 wrapping proves nothing for the address of a key', async () => {
    const inner = await owner.sign({ hash: digest });
    const bytes = serializeErc6492Signature({ address: factory, data: factoryData, signature: inner });
    expect(await verifyContractSignature(here, { hash: digest, signer: owner.address, bytes })).toMatchObject(
      { valid: false },
    );
  });

  test('verifies itself once it is deployed, without the wrapping', async () => {
    const inner = await signAsSafe(owner, safeOf(wallet), digest);
    const bytes = serializeErc6492Signature({ address: factory, data: factoryData, signature: inner });
    expect(await verifyContractSignature(here, { hash: digest, signer, bytes })).toEqual({
      valid: true,
      scheme: 'eip1271',
    });
  });

  test.each([
    ['reverts', '0x60006000fd'],
    ['burns all gas', '0x5b600056'],
    ['runs an invalid opcode', '0xfe'],
    ['returns nothing', '0x00'],
    ['returns less than a word', '0x631626ba7e60e01b60005260046000f3'],
    ['returns the number one', '0x600160005260206000f3'],
    ['returns the magic value at the wrong end', '0x631626ba7e60005260206000f3'],
  ] as const)('that %s is refused, and the chain counts as available', async (what, code) => {
    const address = await putCode(url, what, code);
    expect(
      await verifyContractSignature(here, { hash: digest, signer: address, bytes: '0x1234' }),
    ).toMatchObject({ valid: false });
  });

  test('that returns the magic value is accepted, whatever else it returns', async () => {
    const address = await putCode(url, 'accepts', '0x631626ba7e60e01b60005260606000f3');
    expect(await verifyContractSignature(here, { hash: digest, signer: address, bytes: '0x1234' })).toEqual({
      valid: true,
      scheme: 'eip1271',
    });
  });

  test('cannot be verified while its network is unavailable; a key can', async () => {
    const [port = 0] = await freePorts(1);
    const unavailable = network(41_003, `http://127.0.0.1:${port}`);
    const bytes = await signAsSafe(owner, safeOf(wallet), digest);
    const asked = verifyContractSignature(signerEndpoints(unavailable), { hash: digest, signer, bytes });
    await expect(asked).rejects.toThrow(ChainUnavailable);
    await expect(asked).rejects.toThrow(/Chain 41003 \(41003\)/);
    const own = await owner.sign({ hash: digest });
    expect(await verifyKeySignature({ hash: digest, signer: owner.address, bytes: own })).toEqual({
      valid: true,
      scheme: 'eoa',
    });
  });

  test('is looked up among the admins before any chain call', async () => {
    const [port = 0] = await freePorts(1);
    const unavailable = network(41_003, `http://127.0.0.1:${port}`);
    const identifyVoter = createIdentifyVoter(signerEndpoints(unavailable));
    const payload = JSON.stringify({
      types: { EIP712Domain: [{ name: 'name', type: 'string' }], Vote: [{ name: 'text', type: 'string' }] },
      primaryType: 'Vote',
      domain: { name: 'test' },
      message: { text: 'yes' },
    });
    const signature = encodeSignature(signer, '0x1234');
    const nobody = await identifyVoter({ payload, signature, eligible: [] });
    expect(nobody).toMatchObject({ ok: false, refusal: { code: 'invalidSignature' } });
  });
});
