import type { Address, Hex } from 'viem';
import { type ChainClient, networkLabel } from './clients';
import { mostSafeTxGas } from './gas';
import { type InnerCall, type Simulation, simulateInner } from './simulation';

/** A transaction of an account that is simulated. */
interface SimulatedTransaction {
  readonly accountId: string;
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
      /** The account's next nonce. */
      readonly accountNonce: bigint;
      /** Wei of the sender. */
      readonly senderBalance: bigint;
    }
  | { readonly ok: false; readonly code: 'stale' | 'accountFunds' | 'reverted'; readonly message: string };

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
  { accountId, call: { account } }: SimulatedTransaction,
  simulated: Extract<Simulation, { ok: false }>,
): SimulationResult {
  switch (simulated.kind) {
    case 'missing':
      return {
        ok: false,
        code: 'stale',
        message: `account ${accountId} was not found at ${account} on ${networkLabel(chain)}`,
      };
    case 'accountFunds':
      return {
        ok: false,
        code: 'accountFunds',
        message: `${simulated.reason}: fund the account ${account} on ${networkLabel(chain)}`,
      };
    case 'revert':
      return { ok: false, code: 'reverted', message: `the call would revert with ${simulated.reason}` };
  }
}

/**
 * Simulates a transaction of an account, which fails where the account does not exist. A call that would revert fails, and so does one that would succeed
 * without moving the tokens that it is to move. `maxGas`: gas ceiling of one chain transaction; `sender` pays for it.
 * Throws ChainUnavailable.
 */
export async function simulateTransaction(
  chain: ChainClient,
  transaction: SimulatedTransaction,
  { maxGas, ...options }: { maxGas: bigint; sender: Address; blockNumber?: bigint },
): Promise<SimulationResult> {
  const { call, token } = transaction;
  const ceiling = mostSafeTxGas(maxGas, call.data);
  if (ceiling <= 0n) {
    const message = `its calldata alone needs more than ${maxGas} gas, the ceiling (MAX_GAS)`;
    return { ok: false, code: 'reverted', message };
  }
  const simulated = await simulateInner(chain, call, { ceiling, ...options });
  if (!simulated.ok) return failureOf(chain, transaction, simulated);
  const { hasCode, returnData, gas, accountNonce, senderBalance } = simulated;
  const refusal = hasCode ? refuseTokenAnswer(returnData) : 'there is no token contract';
  if (token === null || refusal === null) {
    return { ok: true, gas, accountNonce, senderBalance };
  }
  return { ok: false, code: 'reverted', message: `${token} on ${networkLabel(chain)}: ${refusal}` };
}
