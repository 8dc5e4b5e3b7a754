import {
  type Address,
  concatHex,
  type Hex,
  hexToBigInt,
  numberToHex,
  type StateOverride,
  size,
  sliceHex,
} from 'viem';
import { min } from '../domain/bigint';
import { ask, type ChainClient, ChainUnavailable } from './clients';
import { isUsedUp, withMargin } from './gas';
import { nativeAmount } from './nativeAmount';
import { revertReason } from './revertReason';

/** A call that an account is to make. */
export interface InnerCall {
  readonly account: Address;
  readonly to: Address;
  /** Wei. */
  readonly value: bigint;
  readonly data: Hex;
}

/** The outcome of a simulated call. */
export type Simulation =
  | {
      readonly ok: true;
      /** The account's next nonce. */
      readonly accountNonce: bigint;
      /** Wei of whoever sends the transaction. */
      readonly senderBalance: bigint;
      /** What the call returned, at most its first 1,024 bytes. */
      readonly returnData: Hex;
      /** Whether there is code at `to`. */
      readonly hasCode: boolean;
      /** The safeTxGas that gives the same result as all the gas of the ceiling. */
      readonly gas: bigint;
    }
  | {
      readonly ok: false;
      /** accountFunds: the account has less than the value. */
      readonly kind: 'revert' | 'accountFunds';
      /** The end of a sentence such as `it reverts with …`, or for `accountFunds` a sentence. */
      readonly reason: string;
    }
  /** There is no account at its address. */
  | { readonly ok: false; readonly kind: 'missing' };

/** Gas added to every call: it may send value, and the account runs code before and after it. */
const BESIDE_GAS = 21_000n;
/** Gas of safeTxGas that is not available to the inner call: the cost of the call itself, and what the account reserves. */
const HELD_BACK_GAS = 15_000n;

// Replaces an account's code during a simulation, so that the call has the sender, balance and storage
// that it will have. A call of the account from inside the call reaches the account's own code. Slots of the storage:
// SafeStorage of Safe 1.4.1.
//   if CALLER != ORIGIN goto proxy
//   size = CALLDATASIZE - 0x60; CALLDATACOPY(0, 0x60, size); nonce = SLOAD(5); singleton = SLOAD(0); before = GAS
//   ok = CALL(calldata[0x40], calldata[0], calldata[0x20], 0, size, 0, 0)
//   mem[0x00] = ok; mem[0x20] = before - GAS; mem[0x40] = SELFBALANCE; mem[0x60] = EXTCODESIZE(calldata[0])
//   mem[0x80] = nonce; mem[0xa0] = singleton; mem[0xc0] = BALANCE(ORIGIN)
//   n = min(RETURNDATASIZE, 0x400); RETURNDATACOPY(0xe0, 0, n); RETURN(0, 0xe0 + n)
// proxy:
//   CALLDATACOPY(0, 0, CALLDATASIZE); ok = DELEGATECALL(GAS, SLOAD(0), 0, CALLDATASIZE, 0, 0)
//   RETURNDATACOPY(0, 0, RETURNDATASIZE); if ok RETURN(0, RETURNDATASIZE) else REVERT(0, RETURNDATASIZE)
const MEASURING_CODE: Hex =
  '0x33321861006257606036038060606000376005546000545a60006000856000602035600035604035f15a906000529003602052476040526000353b60605260a052608052323160c052610400803d1161005557503d5b80600060e03e60e0016000f35b366000600037600060003660006000545af43d600060003e610083573d6000fd5b3d6000f3';

/** Bytes of what the code returns before what the call has returned. */
const HEAD_BYTES = 224;

interface Measured {
  readonly accountExists: boolean;
  readonly accountNonce: bigint;
  readonly senderBalance: bigint;
  readonly succeeded: boolean;
  readonly used: bigint;
  readonly balance: bigint;
  readonly hasCode: boolean;
  readonly returned: Hex;
}

/** Makes the call with that much gas, as the account makes it in a transaction of `sender`. */
async function measure(
  chain: ChainClient,
  { account, to, value, data }: InnerCall,
  gas: bigint,
  options: { sender: Address; blockNumber?: bigint },
): Promise<Measured> {
  const word = (number: bigint) => numberToHex(number, { size: 32 });
  const input = concatHex([word(hexToBigInt(to)), word(value), word(gas), data]);
  const stateOverride: StateOverride = [{ address: account, code: MEASURING_CODE }];
  const { data: answer = '0x' } = await ask(chain, (rpc) =>
    rpc.call({
      account: options.sender,
      to: account,
      data: input,
      gas: 200_000n + (gas * 64n) / 63n + BigInt(size(data)) * 64n,
      stateOverride,
      ...(options.blockNumber === undefined ? {} : { blockNumber: options.blockNumber }),
    }),
  );
  if (size(answer) < HEAD_BYTES) {
    throw new ChainUnavailable(
      chain.network,
      'its RPC does not support state overrides in eth_call, which are required',
    );
  }
  const field = (index: number) => hexToBigInt(sliceHex(answer, 32 * index, 32 * index + 32));
  return {
    succeeded: field(0) === 1n,
    used: field(1),
    balance: field(2),
    hasCode: field(3) > 0n,
    accountNonce: field(4),
    accountExists: field(5) > 0n,
    senderBalance: field(6),
    returned: size(answer) === HEAD_BYTES ? '0x' : sliceHex(answer, HEAD_BYTES),
  };
}

function failure(
  { network }: ChainClient,
  { value }: InnerCall,
  gas: bigint,
  { balance, used, returned }: Measured,
): Simulation {
  if (balance < value) {
    return {
      ok: false,
      kind: 'accountFunds',
      reason: `insufficient funds: the account has ${nativeAmount(network, balance)} and sends ${nativeAmount(network, value)}`,
    };
  }
  const reason =
    returned === '0x' && isUsedUp(used, gas)
      ? `no reason after using all of ${gas} gas`
      : revertReason(returned);
  return { ok: false, kind: 'revert', reason };
}

/**
 * Simulates a call of an account: with the account as its sender and the maximum gas. The returned gas is
 * enough for exactly what it did then: a node that searches for the least gas with which a call succeeds finds less for
 * contracts that do something else when gas is short.
 *
 * `ceiling` is the largest safeTxGas; `sender` pays for the transaction. Throws ChainUnavailable.
 */
export async function simulateInner(
  chain: ChainClient,
  call: InnerCall,
  options: { ceiling: bigint; sender: Address; blockNumber?: bigint },
): Promise<Simulation> {
  const { ceiling } = options;
  const most = ceiling > HELD_BACK_GAS ? ceiling - HELD_BACK_GAS : 0n;
  const full = await measure(chain, call, most, options);
  if (!full.accountExists) return { ok: false, kind: 'missing' };
  if (!full.succeeded) return failure(chain, call, most, full);
  const { returned: returnData, hasCode, accountNonce, senderBalance } = full;
  let gas = withMargin(full.used + BESIDE_GAS);
  // Without code nothing depends on the gas.
  while (hasCode && gas < ceiling) {
    const again = await measure(chain, call, gas - HELD_BACK_GAS, options);
    const same = again.succeeded && again.used === full.used && again.returned === full.returned;
    if (same) break;
    gas *= 2n;
  }
  return { ok: true, accountNonce, senderBalance, returnData, hasCode, gas: min(gas, ceiling) };
}
