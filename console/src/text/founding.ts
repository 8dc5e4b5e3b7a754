import type { Founder, VerifiedGenesis } from '@orgwallet/client';
import type { DigestComparison } from '../domain/digestComparison.ts';

/** What became of a comparison, for the field in which the digest of the others is typed. */
export function comparisonText(comparison: DigestComparison): {
  readonly hint?: string;
  readonly error?: string;
} {
  switch (comparison.is) {
    case 'absent':
      return { hint: 'Optional: type or paste what is on the board. Spaces are ignored.' };
    case 'partial':
      return { hint: `The first ${comparison.digits} digits are the same, of 64.` };
    case 'same':
      return { hint: 'The same digest.' };
    case 'different':
      return { error: `A different digest: group ${comparison.group} of 8 differs. Do not sign.` };
  }
}

/** The file in which a founder's signature is given to the operator: its name and its content, as `orgwallet org sign` takes it. */
export function signatureFile(
  { digest, state }: Pick<VerifiedGenesis, 'digest' | 'state'>,
  { id, name, walletAddress }: Founder,
  signature: string,
): { readonly name: string; readonly text: string } {
  const word = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  const content = { organization: state.id, digest, name, walletAddress, signature };
  return { name: `signature-${word || id}.json`, text: `${JSON.stringify(content, null, 2)}\n` };
}
