import { type Address, concatHex, type Hex, isHex, numberToHex, size, sliceHex } from 'viem';
import { ask, type ChainClient, ChainUnavailable } from './clients';

/**
 * Calls in which any behaviour of a contract is a result, and only an unavailable node is an error. Nodes word the
 * failure of a call in many ways; here a few bytes of code make the call and catch its failure, so that the node always
 * reports success. The code runs as the creation code of an eth_call without `to`; nothing is stored.
 */

/** Largest initcode (EIP-3860), in bytes. */
const MAX_CODE_SIZE = 49_152;
/** Gas for the code around the call, and for the call's data. */
const BASE_GAS = 1_000_000n;
const GAS_PER_DATA_BYTE = 48n;

/** The bytes do not fit into one call. */
export class CallTooLarge extends Error {
  override readonly name = 'CallTooLarge';
}

const WORD_BYTES = 32;

/** The bytes that the code returns: so many words at least. Throws ChainUnavailable and CallTooLarge. */
async function run(
  client: ChainClient,
  code: Hex,
  innerGas: bigint,
  words: number,
  block: Hex | 'latest' = 'latest',
): Promise<Hex> {
  if (size(code) > MAX_CODE_SIZE)
    throw new CallTooLarge(`${size(code)} bytes exceed the limit of ${MAX_CODE_SIZE} for one call`);
  const gas = BASE_GAS + innerGas + (innerGas + 62n) / 63n + BigInt(size(code)) * GAS_PER_DATA_BYTE;
  const result = await ask(client, (rpc) =>
    rpc.request({ method: 'eth_call', params: [{ data: code, gas: numberToHex(gas) }, block] }),
  );
  if (!isHex(result) || size(result) < words * WORD_BYTES) {
    throw new ChainUnavailable(client.network, 'its answer to eth_call is malformed');
  }
  return result;
}

// 0x4b bytes, or 0x4d with CALL, which has a value; then the call's data:
//   size = CODESIZE - 0x4b; CODECOPY(0, 0x4b, size); ok = STATICCALL(gas, address, 0, size, 0, 0)
//   mem[0x00] = ok; mem[0x20] = RETURNDATASIZE; n = min(RETURNDATASIZE, limit)
//   RETURNDATACOPY(0x40, 0, n); RETURN(0, 0x40 + n)
const CATCHING = {
  staticCall: { begin: '0x604b380380604b60003960006000826000', call: '0xfa', jump: '0x3e' },
  call: { begin: '0x604d380380604d600039600060008260006000', call: '0xf1', jump: '0x40' },
} as const;

function catchingCode({ to, gas }: CaughtCall, limit: number, kind: keyof typeof CATCHING): Hex {
  const { begin, call, jump } = CATCHING[kind];
  return concatHex([
    ...([begin, '0x73', to, '0x63', numberToHex(gas, { size: 4 }), call, '0x6000523d60205261'] as const),
    ...([numberToHex(limit, { size: 2 }), '0x803d1160', jump, '0x57503d5b80600060403e6040016000f3'] as const),
  ]);
}

interface CaughtCall {
  readonly to: Address;
  readonly data: Hex;
  readonly gas: bigint;
  /** Absent: the newest one. */
  readonly block?: bigint | undefined;
}

/** The first bytes that a call returned, at most `limit` of them, and how many there were. */
async function caughtCall(
  client: ChainClient,
  call: CaughtCall,
  limit: number,
  kind: keyof typeof CATCHING = 'staticCall',
): Promise<{ succeeded: boolean; size: bigint; bytes: Hex }> {
  const code = concatHex([catchingCode(call, limit, kind), call.data]);
  const block = call.block === undefined ? 'latest' : numberToHex(call.block);
  const answer = await run(client, code, call.gas, 2, block);
  return {
    succeeded: BigInt(sliceHex(answer, 0, 32)) === 1n,
    size: BigInt(sliceHex(answer, 32, 64)),
    bytes: size(answer) === 64 ? '0x' : sliceHex(answer, 64),
  };
}

/**
 * STATICCALL with a gas limit. Returns the first word of its return data, or null when it failed or returned less.
 * Throws ChainUnavailable and CallTooLarge.
 */
export async function staticCallWord(client: ChainClient, call: CaughtCall): Promise<Hex | null> {
  const { succeeded, bytes } = await caughtCall(client, call, 32);
  return succeeded && size(bytes) === 32 ? bytes : null;
}

/**
 * STATICCALL with a gas limit. Returns its return data, or null when it failed or returned more than `limit`
 * bytes (at most 65,535). An address without code succeeds and returns nothing. Throws ChainUnavailable and
 * CallTooLarge.
 */
export async function staticCallBytes(
  client: ChainClient,
  call: CaughtCall & { limit: number },
): Promise<Hex | null> {
  const { succeeded, size: returned, bytes } = await caughtCall(client, call, call.limit);
  return succeeded && returned <= BigInt(call.limit) ? bytes : null;
}

/** What a revert returns at most, as far as it is shown. */
const REVERT_LIMIT = 1_024;

/**
 * The data with which a CALL reverts, at most its first 1,024 bytes, or null where it succeeds. It is made by temporary code,
 * not by an account, and sends no value. Throws ChainUnavailable and CallTooLarge.
 */
export async function revertOf(client: ChainClient, call: CaughtCall): Promise<Hex | null> {
  const { succeeded, bytes } = await caughtCall(client, call, REVERT_LIMIT, 'call');
  return succeeded ? null : bytes;
}

// 0x21 bytes, then creation code:
//   size = CODESIZE - 0x21; CODECOPY(0, 0x21, size); created = CREATE(0, 0, size); mem[0] = 0
//   EXTCODECOPY(created, 0x1f, 0, 1); RETURN(0, 0x20)
const CREATE_AND_READ = '0x6021380380602160003960006000f0600060005260016000601f833c60206000f3';

/**
 * Runs creation code with a gas limit. Returns the first byte of its return data, 0 when it failed. Throws
 * ChainUnavailable and CallTooLarge.
 */
export async function creationByte(client: ChainClient, call: { code: Hex; gas: bigint }): Promise<number> {
  return Number(BigInt(await run(client, concatHex([CREATE_AND_READ, call.code]), call.gas, 1)));
}
