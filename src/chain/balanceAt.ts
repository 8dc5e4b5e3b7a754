import { type Address, encodeFunctionData, erc20Abi } from 'viem';
import { ask, type ChainClient, ChainUnavailable } from './clients';
import { staticCallWord } from './evmCalls';
import { firstBlock } from './firstBlock';
import type { MovementSource } from './movementReading';

/** Gas for `balanceOf`, behind a proxy and with what a rebasing token computes. */
const BALANCE_GAS = 1_000_000n;

/** What an account holds at a block, or why that is not known. */
export type BalanceAt =
  | { readonly kind: 'read'; readonly amount: bigint }
  /** The token does not return a balance. */
  | { readonly kind: 'unreadable' }
  /** The node has no state of the past. */
  | { readonly kind: 'pruned' };

async function readAt(
  chain: ChainClient,
  {
    account,
    token,
    block,
  }: { readonly account: Address; readonly token: Address | null; readonly block: bigint },
): Promise<BalanceAt> {
  if (token === null) {
    const at = { address: account, blockNumber: block };
    return { kind: 'read', amount: await ask(chain, (rpc) => rpc.getBalance(at)) };
  }
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [account] });
  const word = await staticCallWord(chain, { to: token, data, gas: BALANCE_GAS, block });
  if (word !== null) return { kind: 'read', amount: BigInt(word) };
  // Before a token is deployed nobody holds any.
  const code = await ask(chain, (rpc) => rpc.getCode({ address: token, blockNumber: block }));
  return code === undefined ? { kind: 'read', amount: 0n } : { kind: 'unreadable' };
}

/** Reads what an account holds of the native currency (`token` null) or of a token at a block. Throws ChainUnavailable. */
export async function balanceAt(
  chain: ChainClient,
  at: { readonly account: Address; readonly token: Address | null; readonly block: bigint },
): Promise<BalanceAt> {
  try {
    return await readAt(chain, at);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    // Nodes say in many ways that they have no state of a block: whether they answer for the newest one shows it.
    await ask(chain, (rpc) => rpc.getBalance({ address: at.account }));
    return { kind: 'pruned' };
  }
}

/** The last block before a time, of those up to `newest`; -1 where there is none. Throws ChainUnavailable. */
export async function lastBlockBefore(
  { block }: Pick<MovementSource, 'block'>,
  time: Date,
  newest: bigint,
): Promise<bigint> {
  const first = await firstBlock(newest, async (number) => {
    const header = await block(number);
    return header === undefined || header.time >= time;
  });
  return first - 1n;
}
