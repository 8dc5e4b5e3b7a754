import type { Address, Hex } from 'viem';
import { type AccountPresence, inspectAccount } from '../../src/chain/accountPresence';
import { deriveAdminsSafe } from '../../src/chain/adminsSafe';
import {
  ask,
  assertChainId,
  type ChainClient,
  ChainUnavailable,
  networkLabel,
  receiptOf,
  rpcErrorText,
  transactionCount,
} from '../../src/chain/clients';
import { revertOf } from '../../src/chain/evmCalls';
import { currentFees } from '../../src/chain/fees';
import { withMargin } from '../../src/chain/gas';
import { revertReason } from '../../src/chain/revertReason';
import { refuseNetwork } from '../../src/chain/safe';
import { deploymentCall } from '../../src/chain/safeAccount';
import { findAccountDerivation } from '../../src/db/accounts';
import { deploymentEnvelopes, type Envelope, undecidedEnvelope } from '../../src/db/envelopes';
import { readAdmins } from '../../src/db/members';
import type { AccountDerivation } from '../../src/domain/account';
import { wantedOwners } from '../../src/domain/adminsSafe';
import type { FailureCode } from '../../src/domain/approval';
import type { DeploymentKey } from '../../src/domain/proposal';
import type { EnvelopeTerms } from '../../src/domain/terms';
import { reopenLostEnvelope } from '../relayer/checkEnvelope';
import type { RelayerContext } from '../relayer/relayerContext';
import { relayerOf } from '../relayer/relayerOf';
import { newEnvelopeTerms, refuseFunds } from '../relayer/terms';

/** The state of an account on a network, and the next step of its deployment. */
export type DeploymentObservation =
  /** Confirmed. Hash and block are null when another party deployed it. */
  | {
      readonly kind: 'deployed';
      readonly transactionHash: string | null;
      readonly blockNumber: string | null;
    }
  | { readonly kind: 'confirming'; readonly message: string }
  | { readonly kind: 'inFlight'; readonly envelopeId: string }
  | { readonly kind: 'needsEnvelope'; readonly terms: EnvelopeTerms }
  | { readonly kind: 'unreachable'; readonly message: string }
  | {
      readonly kind: 'failed';
      readonly failure: { readonly code: FailureCode; readonly message: string };
    };

/** More than any deployment of an account uses. */
const MOST_DEPLOYMENT_GAS = 3_000_000n;

function failed(code: FailureCode, message: string): DeploymentObservation {
  return { kind: 'failed', failure: { code, message } };
}

function inFlight({ id }: Envelope): DeploymentObservation {
  return { kind: 'inFlight', envelopeId: String(id) };
}

/** Block and hash of the envelope that deployed it, if one did. */
async function minedEnvelope(chain: ChainClient, envelopes: readonly Envelope[]) {
  for (const { transactionHash } of envelopes) {
    const receipt = await receiptOf(chain, transactionHash);
    if (receipt?.status === 'success') {
      return { transactionHash, blockNumber: receipt.blockNumber.toString() };
    }
  }
  return { transactionHash: null, blockNumber: null };
}

/** The admins' Safe of an organization, and whether a new account has it as its module when it is complete. */
interface Rescue {
  readonly module: string;
  readonly isRequired: boolean;
}

async function rescueOf(
  { db, signerNetworkId }: RelayerContext,
  { organizationId, networkId }: DeploymentKey,
): Promise<Rescue> {
  const { id, signingKey, onChain, ...admins } = await readAdmins(db, organizationId);
  const wanted = wantedOwners(admins, { id: networkId, signerNetworkId });
  const { safe } = deriveAdminsSafe({ signingKey, admins: { id } });
  return { module: safe.address, isRequired: onChain && wanted.kind === 'owners' };
}

/** The contract at the account's address; undefined when there is none. */
async function observePresent(
  chain: ChainClient,
  account: AccountDerivation,
  envelopes: readonly Envelope[],
  rescue: Rescue,
): Promise<DeploymentObservation | undefined> {
  const [head] = await Promise.all([ask(chain, (rpc) => rpc.getBlockNumber()), assertChainId(chain)]);
  const { module, isRequired } = rescue;
  const present = await ask(chain, (rpc) => inspectAccount(rpc, account, { module }));
  if (present.kind === 'missing') return undefined;
  if (present.kind === 'different') {
    return failed(
      'stale',
      `the contract at ${account.address} on ${networkLabel(chain)} is not this account: ${present.reason}`,
    );
  }
  const depth = BigInt(chain.network.confirmations);
  const isWhole = (found: AccountPresence) => found.kind === 'fits' && (found.secured || !isRequired);
  const confirming: DeploymentObservation = {
    kind: 'confirming',
    message: isWhole(present)
      ? `waiting for ${depth} confirmations on ${networkLabel(chain)}`
      : `waiting for the admins' Safe to be its module on ${networkLabel(chain)}`,
  };
  if (!isWhole(present)) return confirming;
  if (depth > head) return confirming;
  if (depth > 0n) {
    const confirmed = await ask(chain, (rpc) =>
      inspectAccount(rpc, account, { blockNumber: head - depth, module }),
    );
    if (!isWhole(confirmed)) return confirming;
  }
  return { kind: 'deployed', ...(await minedEnvelope(chain, envelopes)) };
}

/** The gas of a deployment, with a margin; or why it reverts. Throws ChainUnavailable. */
async function estimateGas(
  chain: ChainClient,
  account: Address,
  call: { to: Address; data: Hex },
): Promise<{ gas: bigint } | { revert: string }> {
  try {
    // Without a fee, so that an unfunded relayer does not look like a call that cannot succeed.
    const estimate = await chain.rpc.estimateGas({ account, ...call });
    return { gas: withMargin(estimate) };
  } catch (error) {
    // Each node has its own error for a call that reverts, and for one that it does not estimate.
    const reverted = await revertOf(chain, { ...call, gas: MOST_DEPLOYMENT_GAS });
    if (reverted !== null) return { revert: revertReason(reverted) };
    throw new ChainUnavailable(chain.network, rpcErrorText(chain, error));
  }
}

/** The terms of a new deployment, or why it is impossible now. */
async function observeNew(
  { db }: RelayerContext,
  chain: ChainClient,
  accountId: string,
  account: AccountDerivation,
): Promise<DeploymentObservation> {
  const refusal = await refuseNetwork(chain);
  if (refusal) return failed('rpc', refusal);
  const relayer = await relayerOf(db, chain.network, accountId);
  const chainNonce = await transactionCount(chain, relayer);
  const [fees, balance] = await Promise.all([
    currentFees(chain),
    ask(chain, (rpc) => rpc.getBalance({ address: relayer })),
  ]);
  const estimated = await estimateGas(chain, relayer, deploymentCall(account));
  if ('revert' in estimated)
    return failed('reverted', `the deployment would revert with ${estimated.revert}`);
  const refused = refuseFunds(chain, { address: relayer, balance }, fees, { gas: estimated.gas, wei: 0n });
  if (refused) return failed(refused.code, refused.message);
  const terms = newEnvelopeTerms(fees, estimated.gas, { relayerAddress: relayer, chainNonce });
  return { kind: 'needsEnvelope', terms };
}

/** Reads the state of an account on a network, and determines the next step of its deployment. */
export async function observeDeployment(
  context: RelayerContext,
  key: DeploymentKey,
): Promise<DeploymentObservation> {
  const { db } = context;
  const chain = context.chains.get(key.networkId);
  if (!chain) return failed('stale', `network ${key.networkId} is not configured any more`);
  const account = await findAccountDerivation(db, key.organizationId, key.accountId);
  if (!account) throw new Error(`account ${key.accountId} not found`);
  const envelopes = await deploymentEnvelopes(db, key);
  const undecided = undecidedEnvelope(envelopes);
  try {
    const present = await observePresent(chain, account, envelopes, await rescueOf(context, key));
    if (present) return present;
    const current = undecided ?? (await reopenLostEnvelope(db, chain, envelopes));
    return current ? inFlight(current) : await observeNew(context, chain, key.accountId, account);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return undecided ? inFlight(undecided) : { kind: 'unreachable', message: error.message };
  }
}
