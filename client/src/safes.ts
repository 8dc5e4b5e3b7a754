import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  getAddress,
  getCreate2Address,
  type Hex,
  keccak256,
  parseAbi,
  stringToHex,
  zeroAddress,
} from 'viem';

/** The contracts of Safe 1.4.1 that are called or derived from. Source: Safe's published deployments of 1.4.1. */
export const SAFE_CONTRACTS = {
  factory: '0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67',
  fallbackHandler: '0xfd0732Dc9E303f09fCEf3a7388Ad10A83459Ec99',
  multiSendCallOnly: '0x9641d764fc13c8B624c04430C7356C1C7C8102e2',
} as const;

/** keccak256 of the creation code of SafeProxy 1.4.1 with SafeL2 1.4.1 as its singleton. */
const PROXY_CODE_HASH: Hex = '0xe298282cefe913ab5d282047161268a8222e4bd4ed106300c547894bbefd31ee';

const setupAbi = parseAbi([
  'function setup(address[] owners, uint256 threshold, address to, bytes data, address fallbackHandler, address paymentToken, uint256 payment, address paymentReceiver)',
]);

/**
 * The address of the Safe that has one first owner and the salt of an id: an account, and the two Safes of `rescueSafes`.
 * Source: EIP-1014, Safe 1.4.1.
 */
export function safeAddress(owner: string, id: string): Address {
  const none = zeroAddress;
  const initializer = encodeFunctionData({
    abi: setupAbi,
    functionName: 'setup',
    args: [[getAddress(owner)], 1n, none, '0x', SAFE_CONTRACTS.fallbackHandler, none, 0n, none],
  });
  const salt = encodeAbiParameters(
    [{ type: 'bytes32' }, { type: 'bytes32' }],
    [keccak256(initializer), keccak256(stringToHex(id))],
  );
  return getCreate2Address({
    from: SAFE_CONTRACTS.factory,
    salt: keccak256(salt),
    bytecodeHash: PROXY_CODE_HASH,
  });
}

/** The two Safes through which the admins of an organization get at its accounts. */
export interface RescueSafes {
  /** Of the signing key alone: it keeps the owners of the admins' Safe. */
  readonly keeper: Address;
  /** Of the admins: a module of every account. */
  readonly adminsSafe: Address;
}

/** Their addresses: the same on every network, and known from the genesis on. `adminsId` is `adm_…`. */
export function rescueSafes(signingKey: string, adminsId: string): RescueSafes {
  const keeper = safeAddress(signingKey, adminsId);
  return { keeper, adminsSafe: safeAddress(keeper, adminsId) };
}
