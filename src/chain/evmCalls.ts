import { type Address, concatHex, type Hex, numberToHex, size, sliceHex } from 'viem';
import { ask, type ChainClient } from './clients';

/**
 * Calls in which whatever a contract does is an answer, and only a node that is away is an error. Nodes word the
 * failure of a call in many ways; here the call is made by a few bytes of code that catch its failure, so that the
 * node always reports success. The code runs as the creation code of a call without `to`, and nothing is stored.
 */

/** Largest creation code that chains run (EIP-3860), in bytes. */
const MAX_CODE_SIZE = 49_152;
/** Gas for the code around the call, and for the call's data. */
const BASE_GAS = 1_000_000n;
const GAS_PER_DATA_BYTE = 48n;

/** The bytes do not fit into one call. */
export class CallTooLarge extends Error {
  override readonly name = 'CallTooLarge';
}

async function run(client: ChainClient, code: Hex, innerGas: bigint): Promise<Hex> {
  if (size(code) > MAX_CODE_SIZE) throw new CallTooLarge(`${size(code)} bytes are too many for one call`);
  const gas = BASE_GAS + innerGas + (innerGas + 62n) / 63n + BigInt(size(code)) * GAS_PER_DATA_BYTE;
  const result = await ask(client, (rpc) =>
    rpc.request({ method: 'eth_call', params: [{ data: code, gas: numberToHex(gas) }, 'latest'] }),
  );
  return result;
}

// 0x4c bytes, then the call's data:
//   size = CODESIZE - 0x4c; CODECOPY(0, 0x4c, size); ok = STATICCALL(gas, address, 0, size, 0, 0)
//   mem[0x00] = ok; mem[0x20] = RETURNDATASIZE; mem[0x40] = the first word returned, if there is one
//   RETURN(0, 0x60)
function staticCallCode(to: Address, gas: bigint): Hex {
  return concatHex([
    '0x604c380380604c6000396000600082600073',
    to,
    '0x63',
    numberToHex(gas, { size: 4 }),
    '0xfa6000523d602052600060405260203d106046576020600060403e5b60606000f3',
  ]);
}

/**
 * STATICCALL with a limit of gas. Answers the first word it returned, or null when it failed or returned less.
 * Throws ChainUnavailable and CallTooLarge.
 */
export async function staticCallWord(
  client: ChainClient,
  call: { to: Address; data: Hex; gas: bigint },
): Promise<Hex | null> {
  const answer = await run(client, concatHex([staticCallCode(call.to, call.gas), call.data]), call.gas);
  const succeeded = BigInt(sliceHex(answer, 0, 32)) === 1n;
  const returned = BigInt(sliceHex(answer, 32, 64));
  return succeeded && returned >= 32n ? sliceHex(answer, 64, 96) : null;
}

// 0x21 bytes, then creation code:
//   size = CODESIZE - 0x21; CODECOPY(0, 0x21, size); created = CREATE(0, 0, size); mem[0] = 0
//   EXTCODECOPY(created, 0x1f, 0, 1); RETURN(0, 0x20)
const CREATE_AND_READ = '0x6021380380602160003960006000f0600060005260016000601f833c60206000f3';

/**
 * Runs creation code with a limit of gas. Answers the first byte it returned, 0 when it failed. Throws
 * ChainUnavailable and CallTooLarge.
 */
export async function creationByte(client: ChainClient, call: { code: Hex; gas: bigint }): Promise<number> {
  return Number(BigInt(await run(client, concatHex([CREATE_AND_READ, call.code]), call.gas)));
}
