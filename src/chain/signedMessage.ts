import { type Hex, hashMessage } from 'viem';
import { accept, type Outcome, refuse } from '../domain/refusal';
import { checksumAddress } from './address';
import {
  decodeSignature,
  decodeSignatureBytes,
  InvalidSignature,
  type SignerClient,
  type VerifiedSignature,
  verifyContractSignature,
  verifyKeySignature,
} from './signatures';

/** Finds which of several messages a wallet has signed (EIP-191); returns its index. */
export type FindSignedMessage = (input: {
  readonly walletAddress: string;
  /** The signature itself as 0x hex: of a key, or what a contract wallet accepts. */
  readonly signature: string;
  readonly messages: readonly string[];
}) => Promise<Outcome<number>>;

function refused(message: string): Outcome<never> {
  return refuse('invalidSignature', message, 'signature');
}

function isWrapped(signature: string): boolean {
  try {
    decodeSignature(signature);
    return true;
  } catch {
    return false;
  }
}

function decoded(signature: string): Outcome<Hex> {
  try {
    return accept(decodeSignatureBytes(signature));
  } catch (error) {
    if (error instanceof InvalidSignature) return refused(error.message);
    throw error;
  }
}

/** Why no contract wallet accepts the signature over any of the messages. */
function reasonAgainst(
  { walletAddress, signature }: { walletAddress: string; signature: string },
  newest: VerifiedSignature | undefined,
): string {
  if (isWrapped(signature)) {
    return 'must be the signature itself, not the ABI encoding of (address signer, bytes signature)';
  }
  const reason =
    newest && !newest.valid ? newest.reason : `no open challenge for ${checksumAddress(walletAddress)}`;
  return `${reason}; a text works once, for 10 minutes`;
}

/**
 * Creates the function that finds the signed message. `client` is of the network of contract signers; it is used only
 * when no key has signed.
 *
 * The function refuses with invalidSignature, and throws ChainUnavailable when the network of contract signers is needed and unavailable.
 */
export function createFindSignedMessage(client: SignerClient): FindSignedMessage {
  return async ({ walletAddress, signature, messages }) => {
    const bytes = decoded(signature);
    if (!bytes.ok) return bytes;
    const signer = checksumAddress(walletAddress);
    const candidates = messages.map((message) => ({
      hash: hashMessage(message),
      signer,
      bytes: bytes.value,
    }));
    const byKey = await Promise.all(candidates.map(verifyKeySignature));
    const index = byKey.findIndex((verified) => verified !== null);
    const found = byKey[index];
    if (found) return found.valid ? accept(index) : refused(found.reason);
    const byContract = await Promise.all(
      candidates.map((candidate) => verifyContractSignature({ ...candidate, client })),
    );
    const accepted = byContract.findIndex(({ valid }) => valid);
    if (accepted >= 0) return accept(accepted);
    return refused(reasonAgainst({ walletAddress, signature }, byContract[0]));
  };
}
