import { deploymentCall } from '../../src/chain/safe';
import { deploymentEnvelopes, provideDeploymentAttempt } from '../../src/db/chain';
import type { DeploymentKey } from '../../src/domain/proposal';
import { undecidedEnvelope } from '../relayer/envelopes';
import type { EnvelopeTerms } from '../relayer/terms';
import { type SignerContext, withRelayer } from '../signer/context';
import { refusalsAsValues, type SigningResult } from '../signer/refusal';
import { signEnvelope } from '../signer/signEnvelope';
import { assertDeploymentEvidence, verifyApprovals } from './signerEvidence';

/**
 * Signs an envelope that deploys an account on a network, and stores it, in one database transaction. Returns an
 * undecided envelope instead, unless the terms replace it. Trusts only the signed approvals: it
 * rebuilds their payload, and verifies every signature and whether its voter may approve now.
 */
export async function signDeployment(
  context: SignerContext,
  input: DeploymentKey & { terms: EnvelopeTerms },
): Promise<SigningResult> {
  const { terms, networkId } = input;
  return refusalsAsValues(async () => {
    const verified = await verifyApprovals(context, input);
    return withRelayer(context, networkId, async (tx) => {
      const envelopes = await deploymentEnvelopes(tx, input);
      const isSigned = envelopes.length > 0;
      const account = await assertDeploymentEvidence(context, tx, input, { verified, isSigned });
      const newest = undecidedEnvelope(envelopes);
      if (newest && terms.replaces !== String(newest.id)) return { envelopeId: String(newest.id) };
      const call = deploymentCall(account);
      const envelopeId = await signEnvelope(context, tx, {
        attemptId: await provideDeploymentAttempt(tx, { ...input, ...call }),
        networkId,
        call,
        terms,
        ...(newest ? { replaces: newest } : {}),
      });
      return { envelopeId: String(envelopeId) };
    });
  });
}

/** The activities of the signer that deploy accounts. */
export function createDeploymentSignerActivities(context: SignerContext) {
  return {
    signDeployment: (input: DeploymentKey & { terms: EnvelopeTerms }) => signDeployment(context, input),
  };
}

/** The activities of the signer that deploy accounts, as workflows see them. */
export type DeploymentSignerActivities = ReturnType<typeof createDeploymentSignerActivities>;
