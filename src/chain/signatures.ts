import {
  type Address,
  type CallParameters,
  decodeAbiParameters,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  type Hex,
  hexToBytes,
  isErc6492Signature,
  isHex,
  keccak256,
  parseErc6492Signature,
  recoverAddress,
} from 'viem';
import { checksumAddress } from './address';
import { ChainUnavailable, type NetworkClient } from './clients';

/** How a signature was proved: by its key, by the contract at the address, or by the contract that will be there. */
export type SignatureScheme = 'eoa' | 'eip1271' | 'erc6492';

/** Reaches the network where contract signers live. */
export type SignerClient = NetworkClient;

/** A signature that cannot be one, whoever made it. */
export class InvalidSignature extends Error {
  override readonly name = 'InvalidSignature';
}

const MAX_SIGNATURE_BYTES = 64 * 1024;
const ECDSA_BYTES = 65;
/** Half of the order of secp256k1; a higher s is the same signature in another dress (EIP-2). */
const MAX_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
/** What a contract may spend on the answer. */
const CONTRACT_CALL_GAS = 5_000_000n;
const CONTRACT_CALL_TIMEOUT_MS = 4_000;
const EIP1271_MAGIC = '0x1626ba7e';

const envelope = [
  { name: 'signer', type: 'address' },
  { name: 'signature', type: 'bytes' },
] as const;

/** Wraps a signature as the API takes it: ABI-encoded `(address signer, bytes signature)`. */
export function encodeSignature(signer: Address, bytes: Hex): Hex {
  return encodeAbiParameters(envelope, [signer, bytes]);
}

/**
 * Unwraps `abi.encode(address signer, bytes signature)`. Only the canonical encoding is taken, so that one signature
 * has one text. Throws InvalidSignature.
 */
export function decodeSignature(text: string): { signer: Address; bytes: Hex } {
  if (!isHex(text, { strict: true }) || text.length % 2 !== 0) {
    throw new InvalidSignature('the signature is not hex with 0x and an even number of digits');
  }
  if (text.length > 2 + 2 * MAX_SIGNATURE_BYTES)
    throw new InvalidSignature('the signature is longer than 64 KiB');
  let signer: Address;
  let bytes: Hex;
  try {
    [signer, bytes] = decodeAbiParameters(envelope, text.toLowerCase() as Hex);
  } catch {
    throw new InvalidSignature('the signature is not ABI-encoded (address signer, bytes signature)');
  }
  if (encodeSignature(signer, bytes) !== text.toLowerCase()) {
    throw new InvalidSignature('the signature is not in the canonical ABI encoding of (address, bytes)');
  }
  return { signer: checksumAddress(signer), bytes };
}

interface NativeSecp256k1 {
  ecdsaRecover(signature: Uint8Array, recovery: number, digest: Uint8Array, compressed: boolean): Uint8Array;
}

function loadNative(): NativeSecp256k1 | undefined {
  try {
    return require('secp256k1/bindings');
  } catch {
    return undefined; // no prebuilt library for this platform: viem does the same, slower
  }
}

const native = loadNative();

function addressOfPublicKey(publicKey: Uint8Array): Address {
  return checksumAddress(`0x${keccak256(publicKey.subarray(1)).slice(-40)}`);
}

/** Splits 65 bytes r, s, v; null when they are malleable or no signature: high s, or v other than 27 and 28. */
function parseEcdsa(bytes: Hex): { compact: Uint8Array; recovery: 0 | 1 } | null {
  const raw = hexToBytes(bytes);
  if (raw.length !== ECDSA_BYTES) return null;
  const v = raw[64];
  if (v !== 27 && v !== 28) return null;
  if (BigInt(`0x${bytes.slice(66, 130)}`) > MAX_S) return null;
  return { compact: raw.subarray(0, 64), recovery: v === 27 ? 0 : 1 };
}

/**
 * The address whose key made 65 signature bytes over a digest, or null when they are no ECDSA signature with a low s
 * and v 27 or 28. Uses the native library where there is one.
 */
export async function recoverSigner(digest: Hex, bytes: Hex): Promise<Address | null> {
  const parsed = parseEcdsa(bytes);
  if (!parsed) return null;
  try {
    if (!native) return await recoverAddress({ hash: digest, signature: bytes });
    return addressOfPublicKey(
      native.ecdsaRecover(parsed.compact, parsed.recovery, hexToBytes(digest), false),
    );
  } catch {
    return null;
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** True when an RPC error says that the call itself failed on chain, not that the node could not be asked. */
function isExecutionError(error: unknown): boolean {
  for (let e = error as { name?: string; cause?: unknown } | undefined; e; e = e.cause as never) {
    if (e.name === 'ExecutionRevertedError' || e.name === 'RawContractError') return true;
    if (e.name === 'RpcRequestError') {
      const { code, message } = e as unknown as { code: number; message: string };
      return (
        code === 3 ||
        /revert|out of ?gas|invalid opcode|stack (under|over)flow|bad instruction|EVM error/i.test(message)
      );
    }
  }
  return false;
}

async function ask(signerClient: SignerClient, parameters: CallParameters): Promise<Hex | null> {
  const { client, network } = signerClient;
  try {
    const answer = await within(
      CONTRACT_CALL_TIMEOUT_MS,
      client.call({ ...parameters, gas: CONTRACT_CALL_GAS } as CallParameters),
    );
    return answer.data ?? '0x';
  } catch (error) {
    if (isExecutionError(error)) return null;
    throw new ChainUnavailable(network.id, network.name, error);
  }
}

const isValidSignatureAbi = [
  {
    type: 'function',
    name: 'isValidSignature',
    stateMutability: 'view',
    inputs: [
      { name: 'hash', type: 'bytes32' },
      { name: 'signature', type: 'bytes' },
    ],
    outputs: [{ type: 'bytes4' }],
  },
] as const;

/** What a verification found. */
export type Verification =
  | { readonly valid: true; readonly scheme: SignatureScheme }
  | { readonly valid: false; readonly reason: string };

/**
 * Whether `signer` signed `hash`: by its own key first (65 bytes, low s, v 27 or 28); then, when `client` is given, by
 * the contract at its address (EIP-1271), or, only while there is none, by the one its factory will put there
 * (ERC-6492). Contract calls have a gas and a time limit. Throws ChainUnavailable when the chain cannot be asked.
 */
export async function verifySignature(input: {
  readonly hash: Hex;
  readonly signer: Address;
  readonly bytes: Hex;
  readonly client?: SignerClient;
}): Promise<Verification> {
  const { hash, signer, bytes, client } = input;
  if ((await recoverSigner(hash, bytes)) === signer) return { valid: true, scheme: 'eoa' };
  const invalid: Verification = {
    valid: false,
    reason: `the signature is not one of ${signer} over this payload (65 bytes with low s and v 27 or 28, or its contract's)`,
  };
  if (!client) return invalid;
  let code: Hex | undefined;
  try {
    code = await within(CONTRACT_CALL_TIMEOUT_MS, client.client.getCode({ address: signer }));
  } catch (error) {
    throw new ChainUnavailable(client.network.id, client.network.name, error);
  }
  const wrapped = isErc6492Signature(bytes);
  if (code && code !== '0x') {
    let inner: Hex = bytes;
    try {
      if (wrapped) inner = parseErc6492Signature(bytes).signature;
    } catch {
      return invalid;
    }
    const answer = await ask(client, {
      to: signer,
      data: encodeFunctionData({
        abi: isValidSignatureAbi,
        functionName: 'isValidSignature',
        args: [hash, inner],
      }),
    });
    return answer?.length === 66 && answer.startsWith(EIP1271_MAGIC)
      ? { valid: true, scheme: 'eip1271' }
      : invalid;
  }
  if (!wrapped) return invalid;
  const answer = await ask(client, {
    data: encodeDeployData({
      abi: erc6492SignatureValidatorAbi,
      bytecode: erc6492SignatureValidatorByteCode,
      args: [signer, hash, bytes],
    }),
  });
  return answer !== null && /^0x0*1$/.test(answer) ? { valid: true, scheme: 'erc6492' } : invalid;
}
