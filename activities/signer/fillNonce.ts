import { carriedBy, envelopeAtNonce, insertFiller, isDeploymentPending } from '../../src/db/attempts';
import type { Envelope } from '../../src/db/chain';
import type { Tx } from '../../src/db/database';
import { failpoint } from '../../src/failpoints';
import { RELAYER_INDEX } from '../relayer/context';
import { type EnvelopeTerms, FILLER_GAS } from '../relayer/terms';
import { type SignerContext, withRelayer } from './context';
import { refusalsAsValues, SignerRefusal, type SigningResult } from './refusal';
import { signEnvelope } from './signEnvelope';

/** True while the attempt of an envelope is undecided, or its deployment pending. */
async function isNeeded(tx: Tx, { attemptId }: Envelope): Promise<boolean> {
  const { kind, attempt } = await carriedBy(tx, { attemptId });
  if (kind === 'deployment') return isDeploymentPending(tx, attemptId);
  return attempt !== undefined && attempt.outcome === null;
}

/**
 * Signs an empty transfer of the relayer to itself at an unused nonce, so that later envelopes can
 * continue. It replaces only an envelope whose attempt is decided.
 */
export async function fillNonce(
  context: SignerContext,
  input: { networkId: number; nonce: number; terms: EnvelopeTerms },
): Promise<SigningResult> {
  const { networkId, nonce, terms } = input;
  return refusalsAsValues(() =>
    withRelayer(context, networkId, async (tx) => {
      const { address } = context.keystore.relayerKey(networkId, RELAYER_INDEX);
      const present = await envelopeAtNonce(tx, { networkId, relayerAddress: address, nonce });
      if (present && String(present.id) !== terms.replaces) {
        const { kind } = await carriedBy(tx, present);
        if (kind === 'filler') return { envelopeId: String(present.id) };
        throw new SignerRefusal('stale', `nonce ${nonce} of relayer ${address} is used`);
      }
      if (present && (await isNeeded(tx, present))) {
        throw new SignerRefusal('stale', `nonce ${nonce} of relayer ${address} has an undecided attempt`);
      }
      const attemptId = await insertFiller(tx, networkId, address);
      failpoint('signer.fillerStored');
      const id = await signEnvelope(context, tx, {
        attemptId,
        networkId,
        call: { to: address, data: '0x' },
        terms: { ...terms, gas: String(FILLER_GAS) },
        ...(present ? { replaces: present } : { at: nonce }),
      });
      return { envelopeId: String(id) };
    }),
  );
}
