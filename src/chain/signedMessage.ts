import { type Hex, hashMessage } from 'viem';
import { accept, type Result, refuse } from '../domain/refusal';
import type { WalletKind } from '../domain/wallet';
import { checksumAddress } from './address';
import { verifyContractSignature, type WalletEndpoints } from './contractSignatures';
import {
  decodeSignature,
  decodeSignatureBytes,
  EndpointsMissing,
  findKeySignature,
  InvalidSignature,
  notMadeBy,
  type VerifiedSignature,
  type WalletClaim,
} from './signatures';

/** Finds which of several messages a wallet has signed (EIP-191); returns its index. */
type FindSignedMessage = (input: {
  readonly walletAddress: string;
  readonly walletKind: WalletKind;
  /** The signature itself as 0x hex: of a key, or what a contract wallet accepts. */
  readonly signature: string;
  readonly messages: readonly string[];
}) => Promise<Result<number>>;

function refused(message: string): Result<never> {
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

function decoded(signature: string): Result<Hex> {
  try {
    return accept(decodeSignatureBytes(signature));
  } catch (error) {
    if (error instanceof InvalidSignature) return refused(error.message);
    throw error;
  }
}

/** Why the wallet has signed none of the messages. */
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

/** Without endpoints to ask, the signature counts as invalid, with that reason. */
async function askEndpoints(endpoints: WalletEndpoints, claim: WalletClaim): Promise<VerifiedSignature> {
  try {
    return await verifyContractSignature(endpoints, claim);
  } catch (error) {
    if (error instanceof EndpointsMissing) return { valid: false, reason: error.message };
    throw error;
  }
}

/**
 * Creates the function that finds the signed message; `endpoints` are asked about contract wallets.
 *
 * The function refuses with invalidSignature. For a contract wallet it throws ChainUnavailable.
 */
export function createFindSignedMessage(endpoints: WalletEndpoints): FindSignedMessage {
  return async ({ walletAddress, walletKind, signature, messages }) => {
    const bytes = decoded(signature);
    if (!bytes.ok) return bytes;
    const signer = checksumAddress(walletAddress);
    const candidates = messages.map((message) => ({
      hash: hashMessage(message),
      signer,
      bytes: bytes.value,
    }));
    const against = (newest: VerifiedSignature | undefined) =>
      refused(reasonAgainst({ walletAddress, signature }, newest));
    if (walletKind === 'contract') {
      const answers = await Promise.all(candidates.map((claim) => askEndpoints(endpoints, claim)));
      const accepted = answers.findIndex(({ valid }) => valid);
      return accepted >= 0 ? accept(accepted) : against(answers[0]);
    }
    const byKey = await Promise.all(candidates.map(findKeySignature));
    const index = byKey.findIndex((verified) => verified !== null);
    const found = byKey[index];
    if (!found) return against(messages.length > 0 ? notMadeBy(signer) : undefined);
    return found.valid ? accept(index) : refused(found.reason);
  };
}
