import { findEnvelopePayload } from '../../src/db/followedAttempts';
import { checkEnvelope } from '../relayer/checkEnvelope';
import { followEnvelope, type Obstacle } from '../relayer/followEnvelope';
import { type RelayerContext, requireChain } from '../relayer/relayerContext';

/** The outcome of following an envelope of a deployment. */
export type DeploymentFollowed =
  | { readonly kind: 'mined' | 'dropped' }
  | { readonly kind: 'reverted'; readonly transactionHash: string }
  | Obstacle;

/** An envelope to follow; `reported` is the last report of what it waits for. */
export interface FollowDeployment {
  readonly envelopeId: string;
  readonly networkId: number;
  readonly reported: string | null;
}

/**
 * Sends the stored envelope of a deployment and follows it until it is confirmed, or there is something to report. Throws
 * the reason of `signal`.
 */
export async function followDeployment(
  context: RelayerContext,
  { envelopeId, networkId, reported }: FollowDeployment,
  signal: AbortSignal,
): Promise<DeploymentFollowed> {
  const { db } = context;
  const { envelope, kind } = (await findEnvelopePayload(db, BigInt(envelopeId))) ?? {};
  // The database was restored from a backup: the id is unknown, or that of another envelope.
  if (kind !== 'deployment' || envelope?.networkId !== networkId) return { kind: 'dropped' };
  const { outcome, transactionHash } = envelope;
  const chain = requireChain(context, networkId);
  const check = (head: bigint) => checkEnvelope(context, chain, envelope, head);
  const followed = outcome ?? (await followEnvelope(context, { chain, envelope, reported, check }, signal));
  if (followed === 'reverted') return { kind: followed, transactionHash };
  return typeof followed === 'string' ? { kind: followed } : followed;
}
