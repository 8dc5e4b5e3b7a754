import type { ContractRule, Policy, TokenTransferCondition } from '../../src/domain/policy';
import { NATIVE_CURRENCY } from '../../src/domain/policy';
import type { Usage, UsageWindow } from '../../src/domain/policyEngine';
import { anId } from './builders';

/** The network of the policies and transactions made here. */
export const NETWORK_ID = 31_337;

type KeyOfAny<T> = T extends unknown ? keyof T : never;
type ValueOfAny<T, Key extends PropertyKey> = T extends { readonly [K in Key]?: infer Value } ? Value : never;

/** Fields of a policy of whichever transactionType; undefined takes an optional field away. */
export type PolicyChange = {
  readonly [Key in KeyOfAny<Policy>]?: ValueOfAny<Policy, Key> | undefined;
};

/** A policy with some fields changed. Nothing checks that it is consistent. */
export function changed(policy: Policy, change: PolicyChange): Policy {
  const fields = Object.entries({ ...policy, ...change }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(fields) as Policy;
}

let made = 0;

/** A policy with a name of its own, of everything on one network, by any member, from any account, without approval or limitation. */
export function aPolicy(change: PolicyChange = {}): Policy {
  made += 1;
  const policy: Policy = {
    id: anId('pol'),
    name: `Everything ${made}`,
    type: 'AUTO_APPROVAL',
    transactionType: 'ANY',
    networkId: NETWORK_ID,
    accountIds: null,
    initiatorSetting: null,
  };
  return changed(policy, change);
}

/** A policy of transfers of the native currency to anywhere, without a cap. */
export function aTransferPolicy(
  condition: Partial<TokenTransferCondition> = {},
  change: PolicyChange = {},
): Policy {
  return aPolicy({
    transactionType: 'TOKEN_TRANSFER',
    tokenTransferCondition: {
      tokenAddress: NATIVE_CURRENCY,
      tokenSymbol: 'ETH',
      tokenName: 'Ether',
      tokenDecimals: 18,
      amountThreshold: null,
      destinationAddresses: [],
      ...condition,
    },
    ...change,
  });
}

/** A policy of calls of these contracts. */
export function aCallPolicy(rules: readonly ContractRule[] | null, change: PolicyChange = {}): Policy {
  return aPolicy({ transactionType: 'CONTRACT_INTERACTION', contractInteractionCondition: rules, ...change });
}

/** A rule for one contract: these selectors, or any function. */
export function aRule(
  contractAddress: string,
  change: { selectors?: readonly string[]; maxValue?: string } = {},
): ContractRule {
  const { selectors = [], maxValue = '0' } = change;
  return {
    contractAddress,
    allowedFunctions: selectors,
    functions: selectors.map((selector) => ({ selector })),
    maxValue,
  };
}

function word(hex: string): string {
  return hex.replace(/^0x/, '').toLowerCase().padStart(64, '0');
}

/** Calldata of an ERC-20 transfer. */
export function transferData(destination: string, amount: bigint): string {
  return `0xa9059cbb${word(destination)}${word(amount.toString(16))}`;
}

/** One execution that was started under some policy, and what became of it. */
export interface PastExecution {
  readonly policyId: string;
  readonly networkId: number;
  readonly tokenAddress: string;
  readonly amount: bigint;
  readonly initiatorId: string;
  readonly accountId: string;
  readonly destination: string;
  readonly state: 'executing' | 'executed' | 'failed';
  /** Of the block that it is in; only where it is executed. */
  readonly blockTimeMs: number | null;
}

/** What is in a window at a moment, read off a plain list. */
export function usageIn(window: UsageWindow, past: readonly PastExecution[], nowMs: number): Usage {
  const since = nowMs - window.hours * 3_600_000;
  const isIn = (entry: PastExecution) =>
    entry.policyId === window.policyId &&
    (entry.state === 'executing' || (entry.state === 'executed' && (entry.blockTimeMs ?? 0) >= since)) &&
    (window.asset === null ||
      (window.asset.networkId === entry.networkId &&
        window.asset.tokenAddress.toLowerCase() === entry.tokenAddress.toLowerCase())) &&
    (window.initiatorId === null || window.initiatorId === entry.initiatorId) &&
    (window.accountId === null || window.accountId === entry.accountId) &&
    (window.destination === null || window.destination.toLowerCase() === entry.destination.toLowerCase());
  const counted = past.filter(isIn);
  const blocks = counted.flatMap(({ blockTimeMs }) => blockTimeMs ?? []);
  return {
    amount: counted.reduce((sum, { amount }) => sum + amount, 0n),
    executions: counted.length,
    oldestBlockAt: blocks.length === 0 ? null : new Date(Math.min(...blocks)),
    at: new Date(nowMs),
  };
}
