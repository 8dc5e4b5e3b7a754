import { type Hex, keccak256 } from 'viem';
import { operationDomainSalt } from '../src/chain/domainSalt';
import type { Keystore } from '../src/chain/keystore';
import { deploymentCall, deriveAccount } from '../src/chain/safe';
import type { IdentifyVoter } from '../src/chain/voter';
import type { NetworkConfig } from '../src/config';
import {
  deploymentEnvelopes,
  findAccountDerivation,
  insertEnvelope,
  liveNonces,
  lockRelayer,
  provideDeploymentAttempt,
  recordRelayer,
  recordSigningKey,
} from '../src/db/chain';
import type { Db, Tx } from '../src/db/database';
import { findProposal, readNow, type StoredProposal } from '../src/db/proposals';
import { canonicalJson } from '../src/domain/canonicalJson';
import { type FailureCode, isExpired, type Now, partlyDeployed } from '../src/domain/proposal';
import { proposalPayload } from '../src/domain/signing';
import type { DeploymentKey } from './proposals';

/** What the signer needs from outside. `db` works under the role orgwallet_signer. */
export interface SignerActivityDeps {
  readonly db: Db;
  readonly keystore: Keystore;
  readonly networks: readonly NetworkConfig[];
  readonly identifyVoter: IdentifyVoter;
  /** Gas ceiling of one chain transaction. */
  readonly maxGas: bigint;
}

/** The relayer that pays on every network. */
export const RELAYER_INDEX = 0;

/** What the chain worker proposes for an envelope; the signer caps it. Decimal strings of wei, and of gas. */
export interface EnvelopeTerms {
  readonly gas: string;
  readonly maxFeePerGas: string;
  readonly maxPriorityFeePerGas: string;
  /** Transactions of the relayer that are in blocks: the first nonce that is free on chain. */
  readonly chainNonce: number;
  /** Id of the stuck envelope whose nonce the new one takes, with a higher fee. */
  readonly replaces?: string;
}

/** A signed and stored envelope, or why the signer refuses. */
export type SigningResult =
  | { readonly envelopeId: string }
  | { readonly refused: { readonly code: FailureCode; readonly message: string } };

class SignerRefusal extends Error {
  constructor(
    readonly code: FailureCode,
    message: string,
  ) {
    super(message);
  }
}

/** What a proposal's signed data says about one account: the networks it shall be on. */
function networksInData(proposal: StoredProposal, accountId: string): readonly number[] {
  const { items } = proposal.data as unknown as { items: { id?: string; networkIds?: number[] }[] };
  if (proposal.action === 'update') return items.find((item) => item.id === accountId)?.networkIds ?? [];
  const { accountIds } = proposal.plan as unknown as { accountIds: string[] };
  return items[accountIds.indexOf(accountId)]?.networkIds ?? [];
}

/**
 * The activities that hold keys. They trust nobody: each rebuilds what was signed from the record, verifies every
 * signature and every signer's standing again, and stores what it signs before anyone can send it.
 */
export function createSignerActivities(deps: SignerActivityDeps) {
  const { db, keystore } = deps;

  function network(id: number): NetworkConfig {
    const found = deps.networks.find((candidate) => candidate.id === id);
    if (!found) throw new SignerRefusal('stale', `network ${id} is not one of this deployment`);
    return found;
  }

  /** Makes the relayers of all networks known. Run once when the signer starts. */
  async function registerRelayers(): Promise<void> {
    for (const { id } of deps.networks) {
      const { address } = keystore.relayerKey(id, RELAYER_INDEX);
      await recordRelayer(db, { networkId: id, index: RELAYER_INDEX, address });
    }
  }

  /** The address of the key that owns an organization's accounts. */
  async function provideSigningKey(input: { organizationId: string }): Promise<{ address: string }> {
    const { address } = keystore.organizationKey(input.organizationId);
    await recordSigningKey(db, input.organizationId, address);
    return { address };
  }

  /** Throws SignerRefusal unless enough admins of now have signed exactly this proposal's content. */
  async function demandApprovals(tx: Tx, proposal: StoredProposal, now: Now): Promise<void> {
    const deployment = await tx('deployment').first('id');
    const salt = operationDomainSalt(deployment.id, proposal.organizationId);
    const payload = proposalPayload('ApproveProposal', salt, proposal);
    const approvers = new Set<string>();
    for (const vote of proposal.votes.filter(({ type }) => type === 'approve')) {
      const voter = await deps.identifyVoter({ payload, signature: vote.signature, admins: now.admins });
      if (voter.ok) approvers.add(voter.value.member.id);
    }
    if (approvers.size < now.admins.threshold) {
      throw new SignerRefusal(
        'stale',
        `the signer finds ${approvers.size} valid approvals of admins, and ${now.admins.threshold} are needed`,
      );
    }
  }

  async function demandEvidence(tx: Tx, key: DeploymentKey) {
    const proposal = await findProposal(tx, key.organizationId, key.proposalId, 'accounts');
    if (!proposal) throw new SignerRefusal('stale', `there is no accounts proposal ${key.proposalId}`);
    const now = await readNow(tx, key.organizationId);
    const recorded = proposal.deployments.find(
      (d) => d.accountId === key.accountId && d.networkId === key.networkId,
    );
    if (proposal.executionStatus !== 'processing' || recorded?.status !== 'pending') {
      throw new SignerRefusal(
        'stale',
        `proposal ${key.proposalId} is not deploying ${key.accountId} there now`,
      );
    }
    if (!networksInData(proposal, key.accountId).includes(key.networkId)) {
      throw new SignerRefusal(
        'stale',
        `what was signed puts no account ${key.accountId} on ${key.networkId}`,
      );
    }
    const envelopes = await deploymentEnvelopes(tx, key);
    if (isExpired(proposal, now.time) && !partlyDeployed(proposal) && envelopes.length === 0) {
      throw new SignerRefusal('timeout', 'the proposal expired before anything of it was sent');
    }
    await demandApprovals(tx, proposal, now);
    const account = await findAccountDerivation(tx, key.organizationId, key.accountId);
    const expected = deriveAccount(keystore.organizationKey(key.organizationId).address, key.accountId);
    if (!account || canonicalJson(account) !== canonicalJson(expected)) {
      throw new SignerRefusal('stale', `account ${key.accountId} is not recorded as it is computed`);
    }
    return { account: expected, envelopes };
  }

  /**
   * Signs an envelope that deploys an account on a network, and stores it, in one transaction. While an envelope is
   * undecided it is answered again instead, unless the terms replace it.
   */
  async function signDeployment(input: DeploymentKey & { terms: EnvelopeTerms }): Promise<SigningResult> {
    const { terms } = input;
    try {
      return await db.transaction(async (tx) => {
        const { maxFeePerGas: feeCeiling } = network(input.networkId);
        await lockRelayer(tx, input.networkId, RELAYER_INDEX);
        const { account, envelopes } = await demandEvidence(tx, input);
        const live = envelopes.filter(({ outcome }) => outcome === null);
        const newest = live.at(-1);
        if (newest && terms.replaces !== String(newest.id)) return { envelopeId: String(newest.id) };
        const relayer = keystore.relayerKey(input.networkId, RELAYER_INDEX);
        const gas = BigInt(terms.gas);
        const maxFeePerGas = BigInt(terms.maxFeePerGas);
        const maxPriorityFeePerGas = BigInt(terms.maxPriorityFeePerGas);
        if (gas > deps.maxGas) {
          throw new SignerRefusal(
            'reverted',
            `it needs ${gas} gas, above the ceiling of ${deps.maxGas} (MAX_GAS)`,
          );
        }
        if (maxFeePerGas > feeCeiling || maxPriorityFeePerGas > maxFeePerGas) {
          throw new SignerRefusal(
            'funds',
            `gas costs ${maxFeePerGas} wei, above the network's ceiling of ${feeCeiling} (maxFeePerGas)`,
          );
        }
        let nonce = newest?.relayerNonce ?? terms.chainNonce;
        if (!newest) {
          const held = await liveNonces(tx, input.networkId, relayer.address);
          while (held.has(nonce)) nonce += 1;
        }
        const call = deploymentCall(account);
        const attemptId = await provideDeploymentAttempt(tx, { ...input, ...call });
        const rawTransaction: Hex = await relayer.signTransaction({
          type: 'eip1559',
          chainId: input.networkId,
          nonce,
          to: call.to,
          data: call.data,
          value: 0n,
          gas,
          maxFeePerGas,
          maxPriorityFeePerGas,
        });
        const envelopeId = await insertEnvelope(tx, {
          attemptId,
          networkId: input.networkId,
          relayerAddress: relayer.address,
          relayerNonce: nonce,
          gas,
          maxFeePerGas,
          maxPriorityFeePerGas,
          transactionHash: keccak256(rawTransaction),
          rawTransaction,
        });
        return { envelopeId: String(envelopeId) };
      });
    } catch (error) {
      if (error instanceof SignerRefusal) return { refused: { code: error.code, message: error.message } };
      throw error;
    }
  }

  return { registerRelayers, provideSigningKey, signDeployment };
}

/** The activities that hold keys, as workflows see them. */
export type SignerActivities = ReturnType<typeof createSignerActivities>;
