import { deploymentCall } from '../chain/safeAccount';
import { deploymentEnvelopes, undecidedEnvelope } from '../db/envelopes';
import type { DeploymentKey } from '../domain/proposal';
import type { EnvelopeTerms } from '../domain/terms';
import { boundTerms } from './boundedTerms';
import { assertDeployment } from './deploymentEvidence';
import { assertNotFrozen } from './frozen';
import { assertIds } from './input';
import { refusalsAsValues, type SigningResult } from './refusal';
import { gasOf, reservedBefore, reserveEnvelope, signReserved } from './signEnvelope';
import { type SignerContext, withNetwork } from './signerContext';
import { deploymentReservation } from './store/reservations';
import { provideDeploymentAttempt } from './store/signedAttempts';

/**
 * Signs an envelope that deploys an account on a network, and stores it. Returns an undecided envelope instead, unless the
 * terms replace it. Only accounts and networks of the sealed state are deployed.
 */
export async function signDeployment(
  context: SignerContext,
  input: DeploymentKey & { terms: EnvelopeTerms },
): Promise<SigningResult> {
  return refusalsAsValues(context, async () => {
    assertIds(input, 'organizationId', 'proposalId', 'accountId', 'networkId');
    const { networkId, accountId } = input;
    const of = { networkId, accountId };
    const about = { kind: 'deployment', organizationId: input.organizationId } as const;
    assertNotFrozen(context, input.organizationId);
    const terms = await boundTerms(context, networkId, input.terms);
    const found = await withNetwork(context, networkId, async (tx) => {
      const account = await assertDeployment(context, tx, input);
      const before = await deploymentReservation(tx, input);
      const envelopes = await deploymentEnvelopes(tx, input);
      const call = deploymentCall(account);
      // A crash came before it was signed.
      if (before) {
        const { attemptId } = before;
        const reserved = await reservedBefore(context, tx, { ...of, attemptId, about, terms }, before);
        return { reserved, call };
      }
      const newest = undecidedEnvelope(envelopes);
      if (newest && terms.replaces !== String(newest.id)) return { present: newest };
      const attemptId = await provideDeploymentAttempt(tx, { ...input, ...call });
      const replaces = newest ? { replaces: newest } : {};
      return {
        reserved: await reserveEnvelope(context, tx, { ...of, attemptId, about, terms, ...replaces }),
        call,
      };
    });
    if ('present' in found) return { envelopeId: String(found.present.id) };
    const { reserved, call } = found;
    await context.gasBudget.append(gasOf(reserved, about));
    return { envelopeId: String(await signReserved(context, reserved, call)) };
  });
}
