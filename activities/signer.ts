import { type Address, type Hex, keccak256 } from 'viem';
import { ChainUnavailable } from '../src/chain/clients';
import { operationDomainSalt } from '../src/chain/domainSalt';
import { type Keystore, KeystoreError } from '../src/chain/keystore';
import { deploymentCall, deriveAccount } from '../src/chain/safe';
import type { IdentifyVoter } from '../src/chain/voter';
import type { NetworkConfig } from '../src/config';
import { takenNonces } from '../src/db/attempts';
import {
  anySigningKey,
  deploymentEnvelopes,
  type Envelope,
  findAccountDerivation,
  insertEnvelope,
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
import { faultPoint } from '../src/faults';
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
/** Gas of a transfer of nothing. */
export const FILLER_GAS = 21_000n;

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
  /** The network of contract signers cannot be asked now. */
  | { readonly unreachable: string }
  | { readonly refused: { readonly code: FailureCode; readonly message: string } };

/** Approvals whose cryptography holds, by signature, and the payload they are over. */
interface VerifiedApprovals {
  readonly payload: string;
  readonly signerOf: ReadonlyMap<string, string>;
}

/** Why the signer does not sign. */
export class SignerRefusal extends Error {
  override readonly name = 'SignerRefusal';
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

/** An envelope that is to be signed. */
interface EnvelopeRequest {
  readonly attemptId: bigint;
  readonly networkId: number;
  readonly call: { readonly to: Address; readonly data: Hex };
  readonly terms: EnvelopeTerms;
  /** The envelope whose nonce the new one takes; it must pay more. */
  readonly replaces?: Envelope;
  /** The nonce, where it is not the next free one. */
  readonly at?: number;
  /** The next free nonce is above this one. */
  readonly above?: number;
}

/** Signs what relayers send, within the ceilings of gas and fees. */
export function createEnvelopeSigner({ keystore, networks, maxGas }: SignerActivityDeps) {
  function network(id: number): NetworkConfig {
    const found = networks.find((candidate) => candidate.id === id);
    if (!found) throw new SignerRefusal('stale', `network ${id} is not one of this deployment`);
    return found;
  }

  /** Signs and stores an envelope; answers its id. Call it with the relayer locked. Throws SignerRefusal. */
  async function signEnvelope(tx: Tx, request: EnvelopeRequest): Promise<bigint> {
    const { attemptId, networkId, call, terms, replaces, above = -1 } = request;
    const { maxFeePerGas: feeCeiling } = network(networkId);
    const relayer = keystore.relayerKey(networkId, RELAYER_INDEX);
    const gas = BigInt(terms.gas);
    const maxFeePerGas = BigInt(terms.maxFeePerGas);
    const maxPriorityFeePerGas = BigInt(terms.maxPriorityFeePerGas);
    if (gas > maxGas) {
      throw new SignerRefusal('reverted', `it needs ${gas} gas, above the ceiling of ${maxGas} (MAX_GAS)`);
    }
    if (maxFeePerGas > feeCeiling || maxPriorityFeePerGas > maxFeePerGas) {
      throw new SignerRefusal(
        'funds',
        `gas costs ${maxFeePerGas} wei, above the network's ceiling of ${feeCeiling} (maxFeePerGas)`,
      );
    }
    if (replaces && maxFeePerGas <= replaces.maxFeePerGas) {
      throw new SignerRefusal('funds', 'an envelope is replaced only by one that pays more');
    }
    let nonce = replaces?.relayerNonce ?? request.at ?? Math.max(terms.chainNonce, above + 1);
    if (!replaces && request.at === undefined) {
      const taken = await takenNonces(tx, { networkId, relayerAddress: relayer.address, from: nonce });
      while (taken.has(nonce)) nonce += 1;
    }
    const rawTransaction: Hex = await relayer.signTransaction({
      type: 'eip1559',
      chainId: networkId,
      nonce,
      to: call.to,
      data: call.data,
      value: 0n,
      gas,
      maxFeePerGas,
      maxPriorityFeePerGas,
    });
    const id = await insertEnvelope(tx, {
      attemptId,
      networkId,
      relayerAddress: relayer.address,
      relayerNonce: nonce,
      gas,
      maxFeePerGas,
      maxPriorityFeePerGas,
      transactionHash: keccak256(rawTransaction),
      rawTransaction,
    });
    faultPoint('signer.envelopeStored');
    return id;
  }

  return { network, signEnvelope };
}

/**
 * The activities that hold keys. They trust nobody: each rebuilds what was signed from the record, verifies every
 * signature and every signer's standing again, and stores what it signs before anyone can send it.
 */
export function createSignerActivities(deps: SignerActivityDeps) {
  const { db, keystore } = deps;
  const { network, signEnvelope } = createEnvelopeSigner(deps);

  /**
   * Makes the relayers of all networks known. Run once when the signer starts. Throws when the keystore is not the one
   * that owns the accounts of this database.
   */
  async function registerRelayers(): Promise<void> {
    const known = await anySigningKey(db);
    if (known && keystore.organizationKey(known.organizationId).address !== known.address) {
      throw new KeystoreError(
        `this keystore (${keystore.fingerprint}) is not the one that owns the accounts of this database: restore the right one from its backup (KEYSTORE_FILE)`,
      );
    }
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

  async function approvalPayload(handle: Db | Tx, proposal: StoredProposal): Promise<string> {
    const deployment = await handle('deployment').first('id');
    const salt = operationDomainSalt(deployment.id, proposal.organizationId);
    return proposalPayload('ApproveProposal', salt, proposal);
  }

  /** Verifies every stored approval again. Before the transaction, for contract signers are asked on chain. */
  async function verifyApprovals(key: DeploymentKey): Promise<VerifiedApprovals | undefined> {
    const proposal = await findProposal(db, key.organizationId, key.proposalId, 'accounts');
    if (!proposal) return undefined;
    const payload = await approvalPayload(db, proposal);
    const { admins } = await readNow(db, key.organizationId);
    const approvals = proposal.votes.filter(({ type }) => type === 'approve');
    const verified = await Promise.all(
      approvals.map(async ({ signature }) => {
        const voter = await deps.identifyVoter({ payload, signature, admins });
        return voter.ok ? [[signature, voter.value.signerAddress.toLowerCase()] as const] : [];
      }),
    );
    return { payload, signerOf: new Map(verified.flat()) };
  }

  /** Throws SignerRefusal unless enough admins of now have signed exactly this proposal's content. */
  async function demandApprovals(
    tx: Tx,
    proposal: StoredProposal,
    now: Now,
    verified: VerifiedApprovals | undefined,
  ): Promise<void> {
    const payload = await approvalPayload(tx, proposal);
    const signers = new Set(
      proposal.votes.flatMap(({ type, signature }) => {
        const signer = type === 'approve' ? verified?.signerOf.get(signature) : undefined;
        return signer !== undefined && verified?.payload === payload ? [signer] : [];
      }),
    );
    const { members, threshold } = now.admins;
    const approvers = members.filter(({ walletAddress }) => signers.has(walletAddress.toLowerCase()));
    if (threshold < 1 || approvers.length < threshold) {
      throw new SignerRefusal(
        'stale',
        `the signer finds ${approvers.length} valid approvals of admins of now, and ${threshold} are needed`,
      );
    }
  }

  async function demandEvidence(tx: Tx, key: DeploymentKey, verified: VerifiedApprovals | undefined) {
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
    await demandApprovals(tx, proposal, now, verified);
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
      const verified = await verifyApprovals(input);
      return await db.transaction(async (tx) => {
        network(input.networkId);
        await lockRelayer(tx, input.networkId, RELAYER_INDEX);
        const { account, envelopes } = await demandEvidence(tx, input, verified);
        const live = envelopes.filter(({ outcome }) => outcome === null);
        const newest = live.at(-1);
        if (newest && terms.replaces !== String(newest.id)) return { envelopeId: String(newest.id) };
        const call = deploymentCall(account);
        const envelopeId = await signEnvelope(tx, {
          attemptId: await provideDeploymentAttempt(tx, { ...input, ...call }),
          networkId: input.networkId,
          call,
          terms,
          ...(newest ? { replaces: newest } : {}),
        });
        return { envelopeId: String(envelopeId) };
      });
    } catch (error) {
      if (error instanceof SignerRefusal) return { refused: { code: error.code, message: error.message } };
      if (error instanceof ChainUnavailable) return { unreachable: error.message };
      throw error;
    }
  }

  return { registerRelayers, provideSigningKey, signDeployment };
}

/** The activities that hold keys, as workflows see them. */
export type SignerActivities = ReturnType<typeof createSignerActivities>;
