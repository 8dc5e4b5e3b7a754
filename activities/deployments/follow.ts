import { readEnvelope } from '../../src/db/chain';
import { type RelayerContext, requireChain } from '../relayer/context';
import { checkEnvelope } from '../relayer/envelopes';
import { follow, type Obstacle } from '../relayer/follow';

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

/** Sends the stored envelope of a deployment and follows it until it is confirmed, or there is something to report. */
export async function followDeployment(
  context: RelayerContext,
  { envelopeId, networkId, reported }: FollowDeployment,
): Promise<DeploymentFollowed> {
  const { db } = context;
  const envelope = await readEnvelope(db, BigInt(envelopeId));
  const { outcome, transactionHash } = envelope;
  const chain = requireChain(context, networkId);
  const check = (head: bigint) => checkEnvelope(db, chain, envelope, head);
  const followed = outcome ?? (await follow(context, { chain, envelope, reported, check }));
  if (followed === 'reverted') return { kind: followed, transactionHash };
  return typeof followed === 'string' ? { kind: followed } : followed;
}
