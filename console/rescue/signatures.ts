import { signatureOfCaller } from '@orgwallet/client/rescue';
import { type Address, type Hex, recoverAddress } from 'viem';
import { isAmong } from './chainState.ts';

/** Signatures over one hash, by the owner who has given each. */
export type Signatures = ReadonlyMap<Address, Hex>;

/** A signature as the admins pass it on: network, hash, signature. */
export const signatureText = (networkId: number, hash: Hex, signature: Hex): string =>
  `rescue ${networkId} ${hash} ${signature}`;

const TEXT = /rescue\s+(\d+)\s+(0x[0-9a-f]{64})\s+(0x[0-9a-f]{130})/gi;

/** A signature as a Safe takes it: some wallets give the recovery id itself instead of 27 or 28. */
export function normalized(signature: string): Hex {
  const lower = signature.toLowerCase();
  const [, rest, id] = /^(0x[0-9a-f]{128})0([01])$/.exec(lower) ?? [];
  return (rest === undefined ? lower : `${rest}${id === '0' ? '1b' : '1c'}`) as Hex;
}

/** The owner who has made a signature. Throws Error where it is of nobody who owns the admins' Safe. */
export async function ownerOf(hash: Hex, signature: Hex, owners: readonly Address[]): Promise<Address> {
  const by = await recoverAddress({ hash, signature }).catch(() => undefined);
  if (by !== undefined && isAmong(by, owners)) return by;
  throw new Error(
    `This signature is of ${by ?? 'nobody'}, who does not own the admins' Safe on this network. A wallet that is a contract approves on chain instead.`,
  );
}

/** Reads signatures out of a text, such as a whole conversation. Throws Error where one is of something else. */
export async function signaturesIn(
  text: string,
  {
    networkId,
    hash,
    owners,
  }: { readonly networkId: number; readonly hash: Hex; readonly owners: readonly Address[] },
): Promise<Signatures> {
  const found = [...text.matchAll(TEXT)];
  if (found.length === 0) {
    throw new Error('No signature found in this text (expected “rescue”, a chain ID and two long numbers).');
  }
  const read = new Map<Address, Hex>();
  for (const [, chain, signed = '', signature = ''] of found) {
    if (Number(chain) !== networkId || signed.toLowerCase() !== hash) {
      throw new Error(
        `A signature in this text is of another transaction (chain ID ${chain}, ${signed}). You sign ${hash} on ${networkId}. Check that both have the same kit and do the same, on the same network, and that nothing was sent meanwhile.`,
      );
    }
    const bytes = normalized(signature);
    read.set(await ownerOf(hash, bytes, owners), bytes);
  }
  return read;
}

/** What an owner's approval on chain counts as. Source: Safe 1.4.1, v = 1. */
export const approvalOnChain = (owner: Address): Hex => signatureOfCaller(owner);
