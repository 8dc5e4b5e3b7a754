import { encodeFunctionData, erc20Abi, formatUnits, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { DemoFile } from '../dev/prepare';
import { rpc } from '../dev/rpc';
import { expect } from './stage';

type Network = DemoFile['networks'][number];

/** The balances of an address on its chain, in smallest units. */
export interface Holdings {
  readonly native: bigint;
  readonly token: bigint;
}

const RECEIPT_LIMIT_MS = 10_000;

/** An amount of ETH, or of a token of 18 decimals, in smallest units. */
export function whole(count: bigint): bigint {
  return count * 10n ** 18n;
}

/** An amount with 18 decimals, in whole units. */
export function shownAmount(amount: bigint): string {
  return formatUnits(amount, 18);
}

/** The test token of the local chains. */
export function testToken({ name, testTokens: [token] }: Network): Hex {
  expect(token !== undefined, `demo.json has no test token on ${name}`);
  return token.address as Hex;
}

/** Reads the balances of an address on chain, not through the service. */
export async function holdings(network: Network, address: Hex): Promise<Holdings> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [address] });
  const [native, token] = await Promise.all([
    rpc<string>(network.rpcUrl, 'eth_getBalance', [address, 'latest']),
    rpc<string>(network.rpcUrl, 'eth_call', [{ to: testToken(network), data }, 'latest']),
  ]);
  return { native: BigInt(native), token: BigInt(token) };
}

/** Sends a transaction of the funder, whose key the local chain has; waits until it is in a block. */
async function sendAsFunder({ rpcUrl, funderPrivateKey }: Network, transaction: object): Promise<void> {
  const from = privateKeyToAccount(funderPrivateKey as Hex).address;
  const hash = await rpc<string>(rpcUrl, 'eth_sendTransaction', [{ from, ...transaction }]);
  const deadline = Date.now() + RECEIPT_LIMIT_MS;
  for (;;) {
    const receipt = await rpc<{ status: string } | null>(rpcUrl, 'eth_getTransactionReceipt', [hash]);
    if (receipt) {
      expect(receipt.status === '0x1', `the transaction ${hash} of the funder reverted`);
      return;
    }
    expect(Date.now() < deadline, `the transaction ${hash} of the funder is in no block`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Sends native currency and tokens from the funder to an address. */
export async function fund(network: Network, address: Hex, { native, token }: Holdings): Promise<void> {
  await sendAsFunder(network, { to: address, value: `0x${native.toString(16)}` });
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [address, token] });
  await sendAsFunder(network, { to: testToken(network), data });
}
