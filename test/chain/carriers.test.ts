import { createRequire } from 'node:module';
import {
  type Abi,
  type Address,
  concatHex,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  zeroHash,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { checksumAddress } from '../../src/chain/address';
import { nestedCallsOf } from '../../src/chain/nestedCalls';
import { executionCall } from '../../src/chain/safeTransaction';
import { readContent } from '../../src/domain/transactionContent';
import { signSafeTransaction } from '../support/safeSignature';
import { LOCAL_FUNDER, rpc, sharedStack } from '../support/stack';
import { deployAsFunder, newSafe, putCode, sendAsFunder } from './wallets';

const artifacts = createRequire(__filename);
const CHAIN_ID = 31337;
const [SAFES, OPEN_ZEPPELIN] = [
  '@safe-global/safe-contracts/build/artifacts/contracts',
  '@openzeppelin/contracts/build/contracts',
];
const VALUES = [0n, 5n] as const;
const [MINT, APPROVE]: [Hex, Hex] = ['0x12345678', `0x095ea7b3${'00'.repeat(64)}`];

/** A call as `callTracer` reports it. */
interface Traced {
  readonly type: string;
  readonly from: Address;
  readonly to: Address;
  readonly value?: Hex;
  readonly input: Hex;
  readonly calls?: readonly Traced[];
}

let url: string;
let targets: [Address, Address];

beforeAll(async () => {
  const [chain] = sharedStack().chains;
  if (!chain) throw new Error('there are no chains');
  url = chain.rpcUrl;
  // They accept every call.
  targets = [await putCode(url, 'carried one', '0x00'), await putCode(url, 'carried two', '0x00')];
});

async function deploy(path: string, args: unknown[] = []): Promise<{ to: Address; abi: Abi }> {
  const { abi, bytecode } = artifacts(path) as { abi: Abi; bytecode: Hex };
  const { contractAddress } = await sendAsFunder(url, { data: encodeDeployData({ abi, bytecode, args }) });
  if (!contractAddress) throw new Error(`${path} was not deployed`);
  return { to: contractAddress, abi };
}

const allOf = (call: Traced): Traced[] => [call, ...(call.calls ?? []).flatMap(allOf)];
const shown = (to: Address, value: bigint, data: Hex) => {
  const content = readContent({ to: checksumAddress(to), value, data }, checksumAddress);
  if (!content.ok) throw new Error(content.refusal.message);
  return content.value;
};

/** What is read of a call, and what the contract then calls. */
async function readAndDone(call: { to: Address; data: Hex; value?: bigint }) {
  const { to, data, value = 0n } = call;
  const { calls } = nestedCallsOf({ to: checksumAddress(to), value, data });
  const { status, transactionHash } = (await sendAsFunder(url, {
    to,
    data,
    value: `0x${value.toString(16)}`,
  })) as unknown as { status: Hex; transactionHash: Hex };
  expect(status).toBe('0x1');
  const trace = await rpc<Traced>(url, 'debug_traceTransaction', [transactionHash, { tracer: 'callTracer' }]);
  const done = allOf(trace).filter(({ type, from }) => type === 'CALL' && from === to.toLowerCase());
  return {
    read: calls?.map(({ content }) => content) ?? null,
    done: done.map((one) => shown(one.to, BigInt(one.value ?? '0x0'), one.input)),
  };
}

const sum = VALUES[0] + VALUES[1];
const expected = () => [shown(targets[0], VALUES[0], MINT), shown(targets[1], VALUES[1], APPROVE)];

describe('what is read of a call that carries others is what its contract does', () => {
  test('MultiSendCallOnly of Safe', async () => {
    const { to, abi } = await deploy(`${SAFES}/libraries/MultiSendCallOnly.sol/MultiSendCallOnly.json`);
    const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`;
    const packed = (target: Address, value: bigint, data: Hex) =>
      concatHex(['0x00', target, word(value), word(BigInt(data.length / 2 - 1)), data]);
    const transactions = concatHex([
      packed(targets[0], VALUES[0], MINT),
      packed(targets[1], VALUES[1], APPROVE),
    ]);
    const data = encodeFunctionData({ abi, functionName: 'multiSend', args: [transactions] });
    expect(await readAndDone({ to, data, value: sum })).toEqual({ read: expected(), done: expected() });
  });

  test('TimelockController of OpenZeppelin', async () => {
    const funder = LOCAL_FUNDER.address;
    const { to, abi } = await deploy(`${OPEN_ZEPPELIN}/TimelockController.json`, [
      ...[0n, [funder], [funder], funder],
    ]);
    const batch = [targets, VALUES, [MINT, APPROVE], zeroHash, zeroHash];
    const scheduled = encodeFunctionData({ abi, functionName: 'scheduleBatch', args: [...batch, 0n] });
    expect(await readAndDone({ to, data: scheduled })).toEqual({ read: expected(), done: [] });
    const data = encodeFunctionData({ abi, functionName: 'executeBatch', args: batch });
    expect(await readAndDone({ to, data, value: sum })).toEqual({ read: expected(), done: expected() });
  });

  test('Safe', async () => {
    const safe = newSafe();
    await deployAsFunder(url, safe.account);
    const [, to] = targets;
    const tx = {
      ...{ networkId: CHAIN_ID, account: safe.address, to, value: 0n },
      ...{ data: APPROVE, safeTxGas: 0n, nonce: 0n },
    };
    const { data } = executionCall(tx, await signSafeTransaction(safe.owner, tx));
    const carried = [shown(to, 0n, APPROVE)];
    expect(await readAndDone({ to: safe.address, data })).toEqual({ read: carried, done: carried });
  });

  describe('MinimalForwarder of OpenZeppelin', () => {
    /** A request of a sender whose address begins with these digits. */
    async function forwarded(beginning: string, carried: Hex) {
      const { to, abi } = await deploy(`${OPEN_ZEPPELIN}/MinimalForwarder.json`);
      let sender = privateKeyToAccount(generatePrivateKey());
      while (!sender.address.toLowerCase().startsWith(beginning)) {
        sender = privateKeyToAccount(generatePrivateKey());
      }
      const message = {
        from: sender.address,
        to: targets[1],
        value: 5n,
        gas: 100_000n,
        nonce: 0n,
        data: carried,
      };
      const signature = await sender.signTypedData({
        domain: { name: 'MinimalForwarder', version: '0.0.1', chainId: CHAIN_ID, verifyingContract: to },
        types: {
          ForwardRequest: [
            { name: 'from', type: 'address' },
            { name: 'to', type: 'address' },
            { name: 'value', type: 'uint256' },
            { name: 'gas', type: 'uint256' },
            { name: 'nonce', type: 'uint256' },
            { name: 'data', type: 'bytes' },
          ],
        },
        primaryType: 'ForwardRequest',
        message,
      });
      const data = encodeFunctionData({ abi, functionName: 'execute', args: [message, signature] });
      return readAndDone({ to, data, value: 5n });
    }

    test('with the whole selector', async () => {
      const carried = [shown(targets[1], 5n, APPROVE)];
      expect(await forwarded('0x', APPROVE)).toEqual({ read: carried, done: carried });
    });

    test('not with a selector that the address of the sender completes', async () => {
      expect(await forwarded('0xb3', '0x095ea7')).toEqual({
        read: null,
        done: [shown(targets[1], 5n, APPROVE)],
      });
    });
  });
});
