import { PayloadMismatch, type Pin, type VerifiedGenesis, verifyGenesis } from '@orgwallet/client';

/** The largest file that is read, in bytes: the genesis of 1,000 members has a fifth of it. */
export const MAX_GENESIS_BYTES = 1_000_000;

/** The text is not a genesis at all. */
export class NotGenesis extends Error {
  override readonly name = 'NotGenesis';
  constructor() {
    super('Not a genesis (expected the file that `orgwallet org genesis --out` writes, or its text)');
  }
}

/** What a text founds, or why nobody should sign it. */
type GenesisReading = { readonly genesis: VerifiedGenesis } | { readonly problem: unknown };

/** A genesis as text, whatever blanks are between its fields. Throws NotGenesis. */
function payloadIn(text: string): string {
  try {
    const content = JSON.parse(text);
    if (content?.primaryType === 'FoundOrganization') return JSON.stringify(content);
  } catch {
    // It is none.
  }
  throw new NotGenesis();
}

/**
 * Reads the text of a genesis, from its bytes alone. `pinOf` says which salt this browser knows of an organization: it signs
 * for no other.
 */
export function readGenesis(text: string, pinOf: (organization: string) => Pin | undefined): GenesisReading {
  try {
    const genesis = verifyGenesis(payloadIn(text));
    const { id, domainSalt } = genesis.state;
    const { salt = domainSalt } = pinOf(id) ?? {};
    if (salt !== domainSalt) throw new PayloadMismatch('domain.salt', salt, domainSalt);
    return { genesis };
  } catch (problem) {
    return { problem };
  }
}
