import { type Hex, hashMessage } from 'viem';
import { accept, type Outcome, refuse } from '../domain/refusal';
import { checksumAddress } from './address';
import {
  decodeSignature,
  decodeSignatureBytes,
  InvalidSignature,
  type SignerClient,
  verifyContractSignature,
  verifyKeySignature,
} from './signatures';

/** Finds out which of several texts a wallet has signed (EIP-191); answers its place. */
export type FindSignedMessage = (input: {
  readonly walletAddress: string;
  /** The signature itself as 0x hex: of a key, or what a contract wallet accepts. */
  readonly signature: string;
  readonly messages: readonly string[];
}) => Promise<Outcome<number>>;

function isWrapped(signature: string): boolean {
  try {
    decodeSignature(signature);
    return true;
  } catch {
    return false;
  }
}

/**
 * Makes the function that finds the signed text. `client` reaches the network where contract signers live; it is
 * asked only when no key has signed.
 *
 * The function refuses with invalidSignature, and throws ChainUnavailable when a contract wallet cannot be asked.
 */
export function createFindSignedMessage(client: SignerClient): FindSignedMessage {
  const refused = (message: string) => refuse('invalidSignature', message, 'signature');
  return async ({ walletAddress, signature, messages }) => {
    let bytes: Hex;
    try {
      bytes = decodeSignatureBytes(signature);
    } catch (error) {
      if (error instanceof InvalidSignature) return refused(error.message);
      throw error;
    }
    const signer = checksumAddress(walletAddress);
    const candidates = messages.map((message) => ({ hash: hashMessage(message), signer, bytes }));
    const byKey = await Promise.all(candidates.map(verifyKeySignature));
    for (const [place, verified] of byKey.entries()) {
      if (verified) return verified.valid ? accept(place) : refused(verified.reason);
    }
    const byContract = await Promise.all(
      candidates.map((candidate) => verifyContractSignature({ ...candidate, client })),
    );
    const place = byContract.findIndex(({ valid }) => valid);
    if (place >= 0) return accept(place);
    if (isWrapped(signature)) {
      return refused(
        'must be the signature itself, not the ABI encoding of (address signer, bytes signature)',
      );
    }
    const [newest] = byContract;
    const reason = newest && !newest.valid ? newest.reason : `there is no open text for ${signer}`;
    return refused(`${reason}; a text works once, for 10 minutes`);
  };
}
