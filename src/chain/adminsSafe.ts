import {
  type Address,
  concatHex,
  encodeFunctionData,
  encodePacked,
  type Hex,
  pad,
  parseAbi,
  size,
  zeroAddress,
} from 'viem';
import type { AccountDerivation } from '../domain/account';
import { type Owners, type OwnersStep, planOwners } from '../domain/adminsSafe';
import type { OrganizationState } from '../domain/governance';
import { refuse } from '../domain/refusal';
import { executionGas } from './gas';
import { deploymentCall, deriveAccount, MULTI_SEND } from './safeAccount';
import { executionCall, type SafeTransaction } from './safeTransaction';

/**
 * The admins' Safe of an organization: a module of each of its accounts, through which a quorum of the admins can take the
 * accounts over. Its keeper, a Safe of the signing key, is a module of it in turn and keeps its owners equal to the sealed
 * admins. Both are Safes 1.4.1 like the accounts, at one address on all networks, and hold no money.
 */
export interface AdminsSafe {
  readonly keeper: AccountDerivation;
  readonly safe: AccountDerivation;
}

/** What both addresses derive from, and nothing else: they are known at the genesis and never change. */
export function deriveAdminsSafe({
  signingKey,
  admins,
}: {
  readonly signingKey: string;
  readonly admins: { readonly id: string };
}): AdminsSafe {
  const keeper = deriveAccount(signingKey, admins.id);
  return { keeper, safe: deriveAccount(keeper.address, admins.id) };
}

/** The addresses that no account sends to: they hold no money, and are changed by sealed decisions only. */
export function adminsSafeAddresses(of: Parameters<typeof deriveAdminsSafe>[0]): readonly Address[] {
  const { keeper, safe } = deriveAdminsSafe(of);
  return [keeper.address as Address, safe.address as Address];
}

/** What admins sign about the admins' Safe: its address, and what those who own it can do. */
export function adminsSafeText(state: Parameters<typeof deriveAdminsSafe>[0], threshold: number): string {
  const can = `${threshold} of these admins can take each account over, without this service`;
  return `Admins' Safe ${deriveAdminsSafe(state).safe.address}, a module of each account: ${can}`;
}

/**
 * Refuses with conflict a member whose wallet is a Safe of the organization itself, where the admins own one: with such an
 * owner it would belong to itself. Undefined otherwise.
 */
export function refuseOwnWallet(state: OrganizationState) {
  if (!state.admins.onChain) return undefined;
  const own = new Map<string, string>(
    adminsSafeAddresses(state).map((address, i) => [
      address.toLowerCase(),
      i === 0 ? "the keeper of the admins' Safe" : "the admins' Safe",
    ]),
  );
  for (const { id, address } of Object.values(state.accounts))
    own.set(address.toLowerCase(), `account ${id}`);
  for (const { id, walletAddress } of Object.values(state.members)) {
    const what = own.get(walletAddress.toLowerCase());
    if (what === undefined) continue;
    return refuse(
      'conflict',
      `${walletAddress}, the wallet of member ${id}, is ${what} of this organization`,
    );
  }
  return undefined;
}

/** A call without value. */
export interface Call {
  readonly to: Address;
  readonly data: Hex;
}

const safeAbi = parseAbi([
  'function enableModule(address module)',
  'function disableModule(address prevModule, address module)',
  'function addOwnerWithThreshold(address owner, uint256 _threshold)',
  'function removeOwner(address prevOwner, address owner, uint256 _threshold)',
  'function swapOwner(address prevOwner, address oldOwner, address newOwner)',
  'function changeThreshold(uint256 _threshold)',
  'function execTransactionFromModule(address to, uint256 value, bytes data, uint8 operation) returns (bool success)',
  'function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures) payable returns (bool success)',
]);
const multiSendAbi = parseAbi(['function multiSend(bytes transactions) payable']);

const CALL = 0;
const DELEGATECALL = 1;

/** Several calls as one of MultiSendCallOnly: all succeed, or all revert. Source: MultiSendCallOnly 1.4.1. */
function multiSend(calls: readonly Call[]): Call {
  const packed = calls.map(({ to, data }) =>
    encodePacked(
      ['uint8', 'address', 'uint256', 'uint256', 'bytes'],
      [CALL, to, 0n, BigInt(size(data)), data],
    ),
  );
  const data = encodeFunctionData({
    abi: multiSendAbi,
    functionName: 'multiSend',
    args: [concatHex(packed)],
  });
  return { to: MULTI_SEND.address, data };
}

/** The call of a Safe to itself that makes one step. */
function stepCall(to: Address, step: OwnersStep): Call {
  const abi = safeAbi;
  switch (step.kind) {
    case 'add': {
      const args = [step.owner as Address, BigInt(step.threshold)] as const;
      return { to, data: encodeFunctionData({ abi, functionName: 'addOwnerWithThreshold', args }) };
    }
    case 'swap': {
      const args = [step.previous as Address, step.owner as Address, step.by as Address] as const;
      return { to, data: encodeFunctionData({ abi, functionName: 'swapOwner', args }) };
    }
    case 'remove': {
      const args = [step.previous as Address, step.owner as Address, BigInt(step.threshold)] as const;
      return { to, data: encodeFunctionData({ abi, functionName: 'removeOwner', args }) };
    }
    case 'threshold': {
      const args = [BigInt(step.threshold)] as const;
      return { to, data: encodeFunctionData({ abi, functionName: 'changeThreshold', args }) };
    }
  }
}

/** The call of a Safe to itself that makes another one its module. */
function enableModuleCall(safe: Address, module: Address): Call {
  return {
    to: safe,
    data: encodeFunctionData({ abi: safeAbi, functionName: 'enableModule', args: [module] }),
  };
}

const GAS_PER_ADDED_OWNER = 60_000n;
const GAS_PER_STEP = 40_000n;
const BASE_GAS = 60_000n;

/**
 * Gas that the steps use at most. It is not estimated: a call of a module that fails does not revert, so that a node's
 * estimate stops where the call silently does nothing.
 */
function gasOfSteps(steps: readonly OwnersStep[]): bigint {
  return steps.reduce(
    (gas, { kind }) => gas + (kind === 'add' ? GAS_PER_ADDED_OWNER : GAS_PER_STEP),
    BASE_GAS,
  );
}

/** What a transaction of a Safe is about, apart from its place on chain. */
export type UpkeepContent = Pick<SafeTransaction, 'account' | 'to' | 'value' | 'data' | 'safeTxGas'>;

/** The signature of an owner who sends a transaction itself. Source: Safe 1.4.1, `checkNSignatures`. */
function sentBy(owner: Address): Hex {
  return concatHex([pad(owner, { size: 32 }), pad('0x', { size: 32 }), '0x01']);
}

/** The call of a Safe that makes several of its own calls at once, as its only owner sends it. */
function ownerCall(safe: Address, owner: Address, calls: readonly Call[]): Call {
  const { to, data } = multiSend(calls);
  const args = [to, 0n, data, DELEGATECALL, 0n, 0n, 0n, zeroAddress, zeroAddress, sentBy(owner)] as const;
  return { to: safe, data: encodeFunctionData({ abi: safeAbi, functionName: 'execTransaction', args }) };
}

/**
 * What the keeper executes first: it becomes the module of the admins' Safe, which it owns, and hands it over to its wanted
 * owners. `safeTxGas` is 0, so that a failure reverts everything and uses no nonce.
 */
export function handover({ keeper, safe }: AdminsSafe, wanted: Owners): UpkeepContent {
  const [account, to] = [keeper.address as Address, safe.address as Address];
  const steps = planOwners({ owners: [account], threshold: 1 }, wanted);
  const calls = [enableModuleCall(to, account), ...steps.map((step) => stepCall(to, step))];
  return { account, value: 0n, safeTxGas: 0n, ...ownerCall(to, account, calls) };
}

/**
 * The call that sets a network up, atomically: it deploys what is missing of keeper and admins' Safe, and executes the
 * signed handover. Anybody can send it.
 */
export function bootstrapCall(
  { keeper, safe }: AdminsSafe,
  missing: { readonly keeper: boolean; readonly safe: boolean },
  signed: { readonly transaction: SafeTransaction; readonly signature: Hex },
): Call {
  return multiSend([
    ...(missing.keeper ? [deploymentCall(keeper)] : []),
    ...(missing.safe ? [deploymentCall(safe)] : []),
    executionCall(signed.transaction, signed.signature),
  ]);
}

/**
 * What the keeper executes after a change of the admins: as a module of the admins' Safe it makes the steps, all or none.
 * That its nonce was used says nothing: whether they were made is read from the owners.
 */
export function roll({ keeper, safe }: AdminsSafe, steps: readonly OwnersStep[]): UpkeepContent {
  const to = safe.address as Address;
  const { to: batch, data } = multiSend(steps.map((step) => stepCall(to, step)));
  const args = [batch, 0n, data, DELEGATECALL] as const;
  return {
    ...{ account: keeper.address as Address, to, value: 0n, safeTxGas: gasOfSteps(steps) },
    data: encodeFunctionData({ abi: safeAbi, functionName: 'execTransactionFromModule', args }),
  };
}

const GAS_PER_DEPLOYMENT = 300_000n;

/** A step is at least so many bytes of a batch. */
const STEP_BYTES = 150;

/**
 * Gas of the transaction that sets a network up: it is not estimated either. It follows from the handover as it was signed, whoever is
 * wanted by now.
 */
export function bootstrapGas(
  { data }: Pick<UpkeepContent, 'data'>,
  missing: { readonly keeper: boolean; readonly safe: boolean },
): bigint {
  const deployments = BigInt(Number(missing.keeper) + Number(missing.safe));
  const steps = BigInt(Math.ceil(size(data) / STEP_BYTES));
  const safeTxGas = GAS_PER_ADDED_OWNER * steps + MODULE_GAS + 2n * BASE_GAS;
  return executionGas({ safeTxGas, data }) + deployments * GAS_PER_DEPLOYMENT;
}

/** Gas for enabling a module: one slot set, one changed. */
const MODULE_GAS = 60_000n;

/** What an account executes to get the admins' Safe as its module. */
export function securing(account: Address, { safe }: AdminsSafe): UpkeepContent {
  const call = enableModuleCall(account, safe.address as Address);
  return { account, ...call, value: 0n, safeTxGas: MODULE_GAS };
}

/** Gas that the deployment of an account needs for it besides. */
export function securingGas(content: UpkeepContent): bigint {
  return executionGas(content);
}

/** The call that deploys an account and executes its first, signed transaction. Anybody can send it. */
export function securedDeploymentCall(
  account: AccountDerivation,
  signed: { readonly transaction: SafeTransaction; readonly signature: Hex },
): Call {
  return multiSend([deploymentCall(account), executionCall(signed.transaction, signed.signature)]);
}
