import { join } from 'node:path';
import {
  type Address,
  concat,
  encodeFunctionData,
  getAddress,
  type Hex,
  pad,
  parseAbi,
  zeroAddress,
} from 'viem';
import type { AccountDerivation } from '../domain/account';
import { setNewest } from '../setNewest';
import { checksumAddress } from './address';
import { keccak256, textHash } from './keccak';

interface Artifact {
  readonly deployedBytecode: Hex;
  readonly bytecode: Hex;
}

function artifact(path: string): Artifact {
  return require(join('@safe-global/safe-contracts/build/artifacts/contracts', path));
}

/** A contract of Safe 1.4.1 at its canonical address, with the hash of its expected code. */
export interface CanonicalContract {
  readonly name: string;
  readonly address: Address;
  readonly codeHash: Hex;
}

function canonical(name: string, address: Address, path: string): CanonicalContract {
  return { name, address, codeHash: keccak256(artifact(path).deployedBytecode) };
}

/** The Safe 1.4.1 contracts that every account is made of. Source: Safe's published deployments of 1.4.1. */
export const SAFE_CONTRACTS = {
  singleton: canonical(
    'SafeL2 1.4.1',
    '0x29fcB43b46531BcA003ddC8FCB67FFE91900C762',
    'SafeL2.sol/SafeL2.json',
  ),
  factory: canonical(
    'SafeProxyFactory 1.4.1',
    '0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67',
    'proxies/SafeProxyFactory.sol/SafeProxyFactory.json',
  ),
  fallbackHandler: canonical(
    'CompatibilityFallbackHandler 1.4.1',
    '0xfd0732Dc9E303f09fCEf3a7388Ad10A83459Ec99',
    'handler/CompatibilityFallbackHandler.sol/CompatibilityFallbackHandler.json',
  ),
} as const;

/** What makes several calls of one: a network needs it for the admins' Safe. Source: Safe's published deployments of 1.4.1. */
export const MULTI_SEND = canonical(
  'MultiSendCallOnly 1.4.1',
  '0x9641d764fc13c8B624c04430C7356C1C7C8102e2',
  'libraries/MultiSendCallOnly.sol/MultiSendCallOnly.json',
);

/** The contracts that accounts are made of: no account may call them. */
export const ACCOUNT_CONTRACTS: readonly Address[] = Object.values(SAFE_CONTRACTS).map(
  ({ address }) => address,
);

/** The proxy that every account is. */
export const PROXY = artifact('proxies/SafeProxy.sol/SafeProxy.json');
const safeAbi = parseAbi([
  'function setup(address[] _owners, uint256 _threshold, address to, bytes data, address fallbackHandler, address paymentToken, uint256 payment, address payable paymentReceiver)',
]);
const factoryAbi = parseAbi([
  'function createProxyWithNonce(address _singleton, bytes initializer, uint256 saltNonce) returns (address proxy)',
]);

/** What all accounts of an owner derive from. */
interface OwnerDerivation {
  readonly ownerAddress: Address;
  readonly initializer: Hex;
  readonly initializerHash: Hex;
}

const owners = new Map<string, OwnerDerivation>();
const MAX_OWNERS = 1_000;

function deriveOwner(ownerAddress: string): OwnerDerivation {
  const known = owners.get(ownerAddress);
  if (known) return known;
  const initializer = encodeFunctionData({
    abi: safeAbi,
    functionName: 'setup',
    args: [
      [getAddress(ownerAddress)],
      1n,
      zeroAddress,
      '0x',
      SAFE_CONTRACTS.fallbackHandler.address,
      zeroAddress,
      0n,
      zeroAddress,
    ],
  });
  const derivation = {
    ownerAddress: checksumAddress(ownerAddress),
    initializer,
    initializerHash: keccak256(initializer),
  };
  setNewest(owners, ownerAddress, derivation, MAX_OWNERS);
  return derivation;
}

const PROXY_HASH = keccak256(concat([PROXY.bytecode, pad(SAFE_CONTRACTS.singleton.address, { size: 32 })]));

/** Derivations by owner and id, the oldest first: a proposal of accounts derives them when it is planned, shown and executed. */
const derivations = new Map<string, AccountDerivation>();
const MAX_DERIVATIONS = 1_000;

/**
 * Everything an account's address derives from, computed from its owner and its id: a Safe with that one owner,
 * threshold 1, made by CREATE2 with saltNonce = uint256(keccak256(account id)). The last 1,000 are cached. Source: EIP-1014,
 * Safe 1.4.1.
 */
export function deriveAccount(ownerAddress: string, accountId: string): AccountDerivation {
  const key = `${ownerAddress}/${accountId}`;
  const known = derivations.get(key);
  if (known) return known;
  const { singleton, factory, fallbackHandler } = SAFE_CONTRACTS;
  const owner = deriveOwner(ownerAddress);
  // As a word of 32 bytes it is what the factory packs.
  const saltWord = textHash(accountId);
  const salt = keccak256(concat([owner.initializerHash, saltWord]));
  const hash = keccak256(concat(['0xff', factory.address, salt, PROXY_HASH]));
  const derivation = {
    address: checksumAddress(`0x${hash.slice(26)}`),
    ownerAddress: owner.ownerAddress,
    singleton: singleton.address,
    factory: factory.address,
    fallbackHandler: fallbackHandler.address,
    initializer: owner.initializer,
    saltNonce: BigInt(saltWord).toString(),
  };
  setNewest(derivations, key, derivation, MAX_DERIVATIONS);
  return derivation;
}

/** The call that deploys an account: to its factory, without value. */
export function deploymentCall(account: AccountDerivation): { to: Address; data: Hex } {
  return {
    to: account.factory as Address,
    data: encodeFunctionData({
      abi: factoryAbi,
      functionName: 'createProxyWithNonce',
      args: [account.singleton as Address, account.initializer as Hex, BigInt(account.saltNonce)],
    }),
  };
}
