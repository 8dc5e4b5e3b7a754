import { createHash } from 'node:crypto';
import type { Hex } from 'viem';
import { canonicalJson } from '../domain/canonicalJson';
import type { Seal } from '../domain/seal';
import { textHash } from './keccak';
import type { SigningKey } from './keys';
import { hasSigned } from './signatures';

/** A seal as it is stored and shown: the text that is signed, its hash, and the signature of the seal key. */
export interface SignedSeal {
  /** Canonical JSON (RFC 8785) of the seal. */
  readonly body: string;
  /** keccak256 of `body` in UTF-8. */
  readonly hash: Hex;
  /** ECDSA over `hash`. */
  readonly signature: Hex;
}

const SIGNATURE = /^0x[0-9a-f]{130}$/;

/** True when the seal key has signed a digest; the text of its signature has one form only, in lower case. */
export async function isSealedBy(sealKey: string, hash: Hex, signature: string): Promise<boolean> {
  return SIGNATURE.test(signature) && hasSigned(sealKey, hash, signature);
}

/** Signs a seal. */
export async function signSeal(key: SigningKey, seal: Seal): Promise<SignedSeal> {
  const body = canonicalJson(seal);
  const hash = textHash(body);
  return { body, hash, signature: await key.sign({ hash }) };
}

/** The seal in a text. Undefined unless its hash and signature are right, and made by the seal key. */
export async function openSeal(
  sealKey: string,
  { body, hash, signature }: { readonly [part in keyof SignedSeal]: string },
): Promise<Seal | undefined> {
  if (textHash(body) !== hash) return undefined;
  return (await isSealedBy(sealKey, hash, signature)) ? (JSON.parse(body) as Seal) : undefined;
}

/** The state that an organization has now, as the signer keeps it. */
export interface SealedHead {
  readonly organizationId: string;
  readonly sequence: number;
  /** Hash of the latest seal. */
  readonly sealHash: string;
  /** JSON of the state. */
  readonly state: string;
}

function headHash({ organizationId, sequence, sealHash, state }: SealedHead): Hex {
  const stateHash = createHash('sha256').update(state).digest('hex');
  return textHash(canonicalJson({ type: 'head', organizationId, sequence, sealHash, stateHash }));
}

/** The signature of the seal key over the state of now. */
export function signHead(key: SigningKey, head: SealedHead): Promise<Hex> {
  return key.sign({ hash: headHash(head) });
}

/** True when the seal key has signed exactly this state. */
export function isSealedHead(sealKey: string, head: SealedHead, signature: string): Promise<boolean> {
  return isSealedBy(sealKey, headHash(head), signature);
}
