import type { Hex } from 'viem';
import { textHash } from '../chain/keccak';
import { isSealedBy } from '../chain/signedSeals';
import type { ShownAuthorization } from '../db/authorizations';
import { canonicalJson } from '../domain/canonicalJson';

/** A seal as the signer has stored it. */
export interface SealLine {
  readonly type: 'seal';
  /** Canonical JSON of the seal. */
  readonly body: string;
  readonly hash: string;
  readonly signature: string;
}

/** What the signer has authorized to be paid or called, and what it has read about it. */
export interface AuthorizationLine extends ShownAuthorization {
  readonly type: 'authorization';
}

/** What the signer has signed to keep the admins' Safe: of its keeper, or with which it became the module of an account. */
export interface UpkeepLine {
  readonly type: 'upkeep';
  readonly networkId: number;
  /** null: the keeper. */
  readonly accountId: string | null;
  readonly safe: string;
  readonly safeNonce: string;
  readonly safeTxHash: string;
  readonly to: string;
  readonly data: string;
  readonly safeTxGas: string;
  /** Sequence of the decision whose admins it writes. */
  readonly sequence: number;
}

/** The end of a proof: how much it holds, and when. */
export interface HeadLine {
  readonly type: 'head';
  readonly organizationId: string;
  /** Sequence of the latest seal. */
  readonly sequence: number;
  /** How many lines precede it. */
  readonly lines: number;
  /** keccak256 of these lines, each with its line feed, in UTF-8. */
  readonly hash: string;
  /** ISO 8601. */
  readonly at: string;
}

/** A line that was signed when the proof was written. */
export type SignedLine = (AuthorizationLine | UpkeepLine | HeadLine) & { readonly signature: string };

/** Adds the signature of the seal key to a line. */
export async function signLine(
  sign: (hash: Hex) => Promise<Hex>,
  line: AuthorizationLine | UpkeepLine | HeadLine,
): Promise<SignedLine> {
  return { ...line, signature: await sign(textHash(canonicalJson(line))) };
}

/** True when the seal key has signed exactly this line. */
export function isSignedBy(sealKey: string, { signature, ...line }: SignedLine): Promise<boolean> {
  return isSealedBy(sealKey, textHash(canonicalJson(line)), signature);
}
