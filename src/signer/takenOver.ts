import { TemporaryRefusal } from './refusal';
import type { SignerContext } from './signerContext';

/** Throws TemporaryRefusal where the admins have taken an account over: its key is nobody to it any more. */
export function assertNotTakenOver(
  { upkeep }: Pick<SignerContext, 'upkeep'>,
  { accountId, networkId }: { readonly accountId: string; readonly networkId: number },
): void {
  if (!upkeep.isTakenOver(networkId, accountId)) return;
  throw new TemporaryRefusal(
    'takenOver',
    `the owner of account ${accountId} on network ${networkId} is not the key of the organization: its admins have taken it over on chain`,
  );
}
