import type { SigningKey } from '../chain/keys';
import { relayerIndex } from '../chain/relayerIndex';
import type { Tx } from '../db/database';
import { payingRelayer } from '../db/reservations';
import { MAX_RELAYERS } from '../domain/network';
import type { EnvelopeTerms } from '../domain/terms';
import { SignerRefusal, TemporaryRefusal } from './refusal';
import { networkOf, type SignerContext } from './signerContext';

/** The key of a relayer by its address, also of one that is not chosen any more. Throws SignerRefusal for any other address. */
export function relayerKeyOf(
  { keystore }: Pick<SignerContext, 'keystore'>,
  networkId: number,
  address: string,
): SigningKey {
  for (let index = 0; index < MAX_RELAYERS; index += 1) {
    const key = keystore.relayerKey(networkId, index);
    if (key.address === address) return key;
  }
  throw new SignerRefusal('stale', `${address} is not a relayer of this signer on network ${networkId}`);
}

/** What a new nonce is for. */
interface NewNonce {
  readonly networkId: number;
  readonly accountId: string;
  readonly terms: EnvelopeTerms;
}

/** Throws TemporaryRefusal unless terms are about the relayer that pays for an account (`relayerOf`), by the signer's own keys. */
export async function assertChosen(context: SignerContext, tx: Tx, of: NewNonce): Promise<void> {
  assertPaying(context, of, await payingRelayer(tx, of));
}

/** The same where the relayer of what is undecided of the account is known; undefined: nothing is. */
export function assertPaying(
  context: SignerContext,
  { networkId, accountId, terms }: NewNonce,
  inFlight: string | undefined,
): void {
  const network = networkOf(context, networkId);
  const index = relayerIndex(accountId, network.relayers);
  const chosen = inFlight ?? context.keystore.relayerKey(networkId, index).address;
  if (chosen === terms.relayerAddress) return;
  throw new TemporaryRefusal(
    'relayer',
    `the terms are of relayer ${terms.relayerAddress} on ${network.name}, but ${chosen} pays for account ${accountId}: if this remains, give all processes the same NETWORKS_FILE (relayers)`,
  );
}
