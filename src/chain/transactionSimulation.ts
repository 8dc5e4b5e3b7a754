import type { Address, Hex } from 'viem';
import { type ChainClient, networkLabel } from './clients';
import { mostSafeTxGas } from './safeTransaction';
import { type InnerCall, type Simulation, simulateInner } from './simulation';

/** A transaction of an account that is simulated. */
export interface SimulatedTransaction {
  readonly call: InnerCall;
  /** The ERC-20 token that it moves; null when it moves none. */
  readonly token: Address | null;
}

/** What a simulation has found. */
export type SimulationResult =
  | {
      readonly ok: true;
      /** The safeTxGas that the call needs. */
      readonly gas: bigint;
    }
  | { readonly ok: false; readonly code: 'funds' | 'reverted'; readonly message: string };

/** Why a token's return value means failure; null for success: no data, or true. Source: ERC-20, SafeERC20. */
function refuseTokenAnswer(returnData: Hex): string | null {
  if (returnData === '0x') return null;
  if (returnData.length >= 66 && BigInt(returnData.slice(0, 66)) === 1n) return null;
  const isFalse = returnData.length >= 66 && BigInt(returnData.slice(0, 66)) === 0n;
  return isFalse ? 'the token returns false' : 'the token returns neither true nor false';
}

/** Why the call would fail. */
function failureOf(
  chain: ChainClient,
  { account }: InnerCall,
  { kind, reason }: Extract<Simulation, { ok: false }>,
): SimulationResult {
  return kind === 'funds'
    ? {
        ok: false,
        code: 'funds',
        message: `${reason}: fund the account ${account} on ${networkLabel(chain)}`,
      }
    : { ok: false, code: 'reverted', message: `the call would revert with ${reason}` };
}

/** Why an account cannot be called. */
export function missingAccount(chain: ChainClient, accountId: string, account: Address): string {
  return `account ${accountId} was not found at ${account} on ${networkLabel(chain)}`;
}

/**
 * Simulates a transaction of an account that exists. A call that would revert fails, and so does one that would succeed
 * without moving the tokens that it is to move. `maxGas`: gas ceiling of one chain transaction; `sender` pays for it.
 * Throws ChainUnavailable.
 */
export async function simulateTransaction(
  chain: ChainClient,
  { call, token }: SimulatedTransaction,
  { maxGas, ...options }: { maxGas: bigint; sender: Address; blockNumber?: bigint },
): Promise<SimulationResult> {
  const ceiling = mostSafeTxGas(maxGas, call.data);
  if (ceiling <= 0n) {
    const message = `its calldata alone needs more than ${maxGas} gas, the ceiling (MAX_GAS)`;
    return { ok: false, code: 'reverted', message };
  }
  const simulated = await simulateInner(chain, call, { ceiling, ...options });
  if (!simulated.ok) return failureOf(chain, call, simulated);
  const { hasCode, returnData, gas } = simulated;
  if (token === null) return { ok: true, gas };
  const refusal = hasCode ? refuseTokenAnswer(returnData) : 'there is no token contract';
  if (refusal === null) return { ok: true, gas };
  return { ok: false, code: 'reverted', message: `${token} on ${networkLabel(chain)}: ${refusal}` };
}
