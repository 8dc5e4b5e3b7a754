import type { Hex } from 'viem';
import { z } from 'zod';
import { encodeSignature, recoverSigner } from '../chain/signatures';
import { quoted } from '../domain/quoted';
import type { Genesis } from '../organizations/admitGenesis';
import { readInputFile } from './inputFile';
import { CommandRefused } from './output';

/** What the console saves for a founder who has signed. */
const word = z.string().regex(/^\w{1,100}$/);
const savedSignature = z.object({
  organization: word,
  digest: word,
  name: z.string().max(1_000),
  walletAddress: word,
  signature: z.string(),
});

/** The signature in a file: as the console saves it, or in hex alone. Throws CommandRefused; of another genesis it names who signed. */
function signatureIn(file: string, { hash, state }: Genesis): string {
  const text = readInputFile(file).trim();
  if (text.startsWith('0x')) return text;
  let saved: z.output<typeof savedSignature>;
  try {
    saved = savedSignature.parse(JSON.parse(text));
  } catch {
    throw new CommandRefused(
      `${file}: not a signature (expected a file that the console has saved, or 0x and hex digits)`,
    );
  }
  const { organization, digest, name, walletAddress, signature } = saved;
  if (organization === state.id && digest === hash) return signature;
  throw new CommandRefused(
    `${file}: ${quoted(name)} (${walletAddress}) has signed the genesis ${digest} of ${organization}, not ${hash} of ${state.id}`,
  );
}

/**
 * A signature of the genesis as an operator gives it: in hex, or the file that has it. The bytes of a key's signature (65) get
 * their address, and a recovery id of 0 or 1, as some devices give it, becomes 27 or 28. Throws CommandRefused.
 */
export async function readGenesisSignature(given: string, genesis: Genesis): Promise<string> {
  const signature = given.startsWith('0x') ? given : signatureIn(given, genesis);
  if (!/^0x[0-9a-fA-F]{130}$/.test(signature)) return signature;
  const bytes = signature.replace(/00$/, '1b').replace(/01$/, '1c') as Hex;
  const signer = await recoverSigner(genesis.hash as Hex, bytes);
  return signer ? encodeSignature(signer, bytes) : signature;
}
