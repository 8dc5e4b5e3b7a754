import type { Address, Hex } from 'viem';
import { checksumAddress } from '../src/chain/address';
import { ChainUnavailable } from '../src/chain/clients';
import { ACCOUNT_CONTRACTS, deriveAccount } from '../src/chain/safe';
import {
  cancellation,
  executionCall,
  executionGas,
  type SafeTransaction,
  safeTransactionHash,
  signSafeTransaction,
} from '../src/chain/safeTransaction';
import { hashTypedPayload } from '../src/chain/typedData';
import {
  type Attempt,
  attemptsAtNonce,
  attemptsOfTransaction,
  carriedBy,
  envelopeAtNonce,
  envelopesOf,
  highestSafeNonce,
  insertAttempt,
  insertFiller,
  isDeploymentPending,
  undecidedBelow,
} from '../src/db/attempts';
import { type Envelope, findAccountDerivation, lockRelayer } from '../src/db/chain';
import type { Db, Tx } from '../src/db/database';
import { findReservation, type UsageOfExecution } from '../src/db/policyUsage';
import {
  findTransactionStatus,
  readTransaction,
  type StoredTransaction,
  type TransactionSnapshot,
} from '../src/db/transactions';
import { canonicalJson } from '../src/domain/canonicalJson';
import { isExpired } from '../src/domain/proposal';
import { initiatorVote, transactionStanding } from '../src/domain/transaction';
import { checkTarget } from '../src/domain/transactionContent';
import { faultPoint } from '../src/faults';
import { policyRefusal, policyTransactionOf, usageOf } from '../src/transactions/policy';
import { payloadToSign, verifyVotesAgain } from '../src/transactions/voter';
import { createLines } from './lines';
import {
  createEnvelopeSigner,
  type EnvelopeTerms,
  FILLER_GAS,
  RELAYER_INDEX,
  type SignerActivityDeps,
  SignerRefusal,
  type SigningResult,
} from './signer';
import type { TransactionTerms } from './transactionChain';
import type { TransactionRef } from './transactions';

/** Whether what a record says can be signed at all: nobody has signed what is no address or no number. */
function canBeSigned({ record, now }: TransactionSnapshot): boolean {
  try {
    hashTypedPayload(payloadToSign(record, now, 'initiator') ?? '');
    return true;
  } catch {
    return false;
  }
}

/**
 * The activities that sign for accounts. They trust nobody: what is signed for the first time is rebuilt from the
 * record, and every signature, standing, policy, budget and time verified again; what was signed is only carried on.
 */
export function createTransactionSignerActivities(deps: SignerActivityDeps) {
  const { db, keystore } = deps;
  const { signEnvelope, network } = createEnvelopeSigner(deps);
  const inLine = createLines();

  /** Refusals and a network that is away as values. */
  async function refusable(work: () => Promise<SigningResult>): Promise<SigningResult> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof SignerRefusal) return { refused: { code: error.code, message: error.message } };
      if (error instanceof ChainUnavailable) return { unreachable: error.message };
      throw error;
    }
  }

  /** Signs for the relayer of a network, in one database transaction after the other. Throws SignerRefusal. */
  async function signing<T>(networkId: number, work: (tx: Tx) => Promise<T>): Promise<T> {
    network(networkId);
    return inLine(networkId, () =>
      db.transaction(async (tx) => {
        await lockRelayer(tx, networkId, RELAYER_INDEX);
        return work(tx);
      }),
    );
  }

  async function read(tx: Tx, ref: TransactionRef, networkId: number): Promise<TransactionSnapshot> {
    const found = await readTransaction(tx, ref);
    if (found?.record.networkId !== networkId) {
      throw new SignerRefusal(
        'stale',
        `there is no transaction ${ref.transactionId} on network ${networkId}`,
      );
    }
    return found;
  }

  async function whereItStands(handle: Db | Tx, ref: TransactionRef) {
    const found = await findTransactionStatus(handle, ref);
    if (!found) throw new SignerRefusal('stale', `there is no transaction ${ref.transactionId}`);
    return found;
  }

  /** Those of a transaction's votes whose signatures hold now. Before the transaction: contracts are asked on chain. */
  async function verifiedVotes(ref: TransactionRef): Promise<StoredTransaction['votes']> {
    const seen = await readTransaction(db, ref);
    if (!seen || !canBeSigned(seen)) return [];
    const initiated = await verifyVotesAgain(deps.identifyVoter, seen, 'initiator');
    // An approval is bound to the initiator's signature: only one that holds can be.
    const others = seen.record.votes.filter(({ type }) => type !== 'initiator');
    const begun = { ...seen, record: { ...seen.record, votes: [...initiated, ...others] } };
    return [...initiated, ...(await verifyVotesAgain(deps.identifyVoter, begun, 'approve'))];
  }

  /** The account of a transaction as it is computed from the key. Throws SignerRefusal unless it is recorded so. */
  async function demandAccount(tx: Tx, { organizationId, accountId, accountAddress }: StoredTransaction) {
    const recorded = await findAccountDerivation(tx, organizationId, accountId);
    const expected = deriveAccount(keystore.organizationKey(organizationId).address, accountId);
    if (canonicalJson(recorded ?? {}) !== canonicalJson(expected) || accountAddress !== expected.address) {
      throw new SignerRefusal('stale', `account ${accountId} is not recorded as it is computed`);
    }
    return expected.address as Address;
  }

  /** Throws SignerRefusal unless all that lets a transaction go stands in the records, at this moment. */
  async function demandEvidence(
    tx: Tx,
    snapshot: TransactionSnapshot,
    votes: StoredTransaction['votes'],
  ): Promise<void> {
    const { now } = snapshot;
    const stored = new Set(snapshot.record.votes.map((vote) => canonicalJson({ ...vote, createdAt: null })));
    const record: StoredTransaction = {
      ...snapshot.record,
      votes: votes.filter((vote) => stored.has(canonicalJson({ ...vote, createdAt: null }))),
    };
    const { id, accountAddress } = record;
    if (record.executionStatus !== 'processing') {
      throw new SignerRefusal('stale', `transaction ${id} is not being executed`);
    }
    if (isExpired(record, now.time)) {
      throw new SignerRefusal('timeout', `transaction ${id} expired before anything of it was signed`);
    }
    const { content } = policyTransactionOf(record);
    const target = checkTarget(record.to, { address: accountAddress, contracts: ACCOUNT_CONTRACTS });
    if (!target.ok) throw new SignerRefusal('stale', `to ${target.refusal.message}`);
    if (record.type !== content.type) {
      throw new SignerRefusal(
        'stale',
        `transaction ${id} is a ${content.type} and recorded as ${record.type}`,
      );
    }
    if (!initiatorVote(record, now)) {
      throw new SignerRefusal('stale', 'the signer finds no valid signature of the initiator');
    }
    const open = { ...record, executionStatus: null, frozen: null, closed: false };
    const { approvals, threshold } = transactionStanding(open, now);
    if (approvals.length < threshold) {
      throw new SignerRefusal(
        'stale',
        `the signer finds ${approvals.length} valid approvals of those who may approve now, and ${threshold} are needed`,
      );
    }
    const refused = await policyRefusal(tx, { record, now }, { except: id });
    if (refused) throw new SignerRefusal(refused.code, refused.message);
    const plain = (usage: UsageOfExecution) => canonicalJson({ ...usage, amount: String(usage.amount) });
    const reserved = await findReservation(tx, id);
    if (!reserved || plain(reserved) !== plain(usageOf(record))) {
      throw new SignerRefusal('stale', `nothing is reserved for transaction ${id} as it is`);
    }
  }

  /** The next nonce of an account by the records. Throws SignerRefusal when the chain is ahead of them. */
  async function nextSafeNonce(tx: Tx, record: StoredTransaction, terms: TransactionTerms): Promise<bigint> {
    const highest = await highestSafeNonce(tx, record);
    const next = highest === undefined ? 0n : highest + 1n;
    if (BigInt(terms.accountNonce) > next) {
      throw new SignerRefusal(
        'stale',
        `account ${record.accountId} has the nonce ${terms.accountNonce} on ${network(record.networkId).name}, and the records explain only those below ${next}: something else was signed with its key; see doctor`,
      );
    }
    return next;
  }

  function safeTransactionOf(attempt: Attempt, account: Address): SafeTransaction {
    return {
      networkId: attempt.networkId,
      account,
      to: attempt.to as Address,
      value: attempt.value,
      data: attempt.data as Hex,
      safeTxGas: attempt.safeTxGas,
      nonce: attempt.safeNonce,
    };
  }

  async function storeAttempt(
    tx: Tx,
    record: StoredTransaction,
    kind: Attempt['kind'],
    content: SafeTransaction,
    fromBlock: string,
  ): Promise<Attempt> {
    const owner = keystore.organizationKey(record.organizationId);
    return insertAttempt(tx, {
      kind,
      organizationId: record.organizationId,
      transactionId: record.id,
      accountId: record.accountId,
      networkId: record.networkId,
      to: content.to,
      value: content.value,
      data: content.data,
      safeNonce: content.nonce,
      safeTxGas: content.safeTxGas,
      safeTxHash: safeTransactionHash(content),
      signature: await signSafeTransaction(owner, content),
      fromBlock: BigInt(fromBlock),
    });
  }

  /** Signs an envelope for something that the account's key has signed, and stores it. */
  async function carry(
    tx: Tx,
    attempt: Attempt,
    account: Address,
    terms: EnvelopeTerms,
    at: { replaces?: Envelope; above?: number },
  ): Promise<Envelope['id']> {
    const content = safeTransactionOf(attempt, account);
    return signEnvelope(tx, {
      attemptId: attempt.id,
      networkId: attempt.networkId,
      call: executionCall(content, attempt.signature as Hex),
      terms,
      ...at,
    });
  }

  /**
   * Gives what was signed for earlier nonces of the account and nobody carries an envelope each, in their order.
   * Answers the highest relayer nonce that carries any of them: what comes later in the account comes later there.
   */
  async function carryEarlier(
    tx: Tx,
    attempt: Pick<Attempt, 'accountId' | 'networkId' | 'safeNonce'>,
    account: Address,
    terms: TransactionTerms,
  ): Promise<number> {
    let above = -1;
    const undecided = await undecidedBelow(tx, attempt, attempt.safeNonce);
    const earlier = undecided.filter(({ safeNonce }) => safeNonce >= BigInt(terms.accountNonce));
    const envelopes = await envelopesOf(tx, earlier);
    for (const nonce of new Set(earlier.map(({ safeNonce }) => safeNonce))) {
      const attempts = earlier.filter(({ safeNonce }) => safeNonce === nonce);
      const live = envelopes.filter(
        ({ attemptId, outcome }) => outcome === null && attempts.some(({ id }) => id === attemptId),
      );
      above = Math.max(above, ...live.map(({ relayerNonce }) => relayerNonce));
      // What takes the nonce from a transaction stands after it.
      const wanted = attempts.at(-1);
      if (live.length > 0 || !wanted) continue;
      const gas = String(executionGas({ safeTxGas: wanted.safeTxGas, data: wanted.data as Hex }));
      const id = await carry(tx, wanted, account, { ...terms, gas }, { above });
      const [stored] = (await envelopesOf(tx, [wanted])).filter((one) => one.id === id);
      above = Math.max(above, stored?.relayerNonce ?? -1);
    }
    return above;
  }

  /** Carries on what is signed at a nonce, or what is to take that nonce. */
  async function carryOn(
    tx: Tx,
    attempt: Attempt,
    account: Address,
    terms: TransactionTerms,
  ): Promise<SigningResult> {
    const atNonce = await attemptsAtNonce(tx, attempt, attempt.safeNonce);
    const envelopes = await envelopesOf(tx, atNonce);
    const live = envelopes.filter(({ outcome }) => outcome === null);
    const own = live.filter(({ attemptId }) => attemptId === attempt.id).at(-1);
    const replaced = envelopes.find(({ id }) => String(id) === terms.replaces);
    if (own && own.id !== replaced?.id) return { envelopeId: String(own.id) };
    const above = await carryEarlier(tx, attempt, account, terms);
    const id = await carry(tx, attempt, account, terms, replaced ? { replaces: replaced } : { above });
    return { envelopeId: String(id) };
  }

  /**
   * Signs a transaction of an account and an envelope that carries it, in one database transaction; or, where it was
   * signed before, only the envelope. While an envelope is undecided it is answered again, unless the terms replace it.
   */
  async function signTransaction(
    input: TransactionRef & { terms: TransactionTerms },
  ): Promise<SigningResult> {
    const { terms } = input;
    return refusable(async () => {
      const { networkId } = await whereItStands(db, input);
      const votes = await verifiedVotes(input);
      return signing(networkId, async (tx) => {
        const snapshot = await read(tx, input, networkId);
        const { record } = snapshot;
        const account = await demandAccount(tx, record);
        const attempts = await attemptsOfTransaction(tx, record.id);
        const undecided = attempts.find(({ kind, outcome }) => kind === 'transaction' && outcome === null);
        if (undecided) {
          const [cancelled] = attempts.filter(
            ({ kind, safeNonce }) => kind === 'cancellation' && safeNonce === undecided.safeNonce,
          );
          return carryOn(tx, cancelled ?? undecided, account, terms);
        }
        await demandEvidence(tx, snapshot, votes);
        const content: SafeTransaction = {
          networkId,
          account,
          to: checksumAddress(record.to),
          value: record.value,
          data: record.calldata.toLowerCase() as Hex,
          safeTxGas: BigInt(terms.safeTxGas),
          nonce: await nextSafeNonce(tx, record, terms),
        };
        if (content.safeTxGas <= 0n) throw new SignerRefusal('stale', 'it has no gas of its own');
        const attempt = await storeAttempt(tx, record, 'transaction', content, terms.fromBlock);
        faultPoint('signer.attemptStored');
        // The row of the attempt holds its transaction: nobody ends the execution from here on, or has already.
        if ((await whereItStands(tx, input)).executionStatus !== 'processing') {
          throw new SignerRefusal('stale', `transaction ${record.id} is not being executed any more`);
        }
        const above = await carryEarlier(tx, attempt, account, terms);
        return { envelopeId: String(await carry(tx, attempt, account, terms, { above })) };
      });
    });
  }

  /**
   * Signs the empty call that takes the nonce from a transaction that was signed, and an envelope for it: at the nonce
   * of the one on its way, where the terms replace it. Whichever is mined decides.
   */
  async function signCancellation(
    input: TransactionRef & { terms: TransactionTerms; attemptId?: string },
  ): Promise<SigningResult> {
    return refusable(async () => {
      const { networkId } = await whereItStands(db, input);
      return signing(networkId, async (tx) => {
        const { record } = await read(tx, input, networkId);
        const account = await demandAccount(tx, record);
        const attempts = await attemptsOfTransaction(tx, record.id);
        const target = attempts.find(({ id, kind, outcome }) =>
          input.attemptId === undefined
            ? kind === 'transaction' && outcome === null
            : kind === 'transaction' && String(id) === input.attemptId,
        );
        if (!target) throw new SignerRefusal('stale', `nothing of transaction ${record.id} is on its way`);
        const { safeNonce, fromBlock } = target;
        const made = attempts.find(
          ({ kind, safeNonce: nonce }) => kind === 'cancellation' && nonce === safeNonce,
        );
        const content = cancellation({ networkId, account, nonce: safeNonce });
        const attempt = made ?? (await storeAttempt(tx, record, 'cancellation', content, String(fromBlock)));
        faultPoint('signer.cancellationStored');
        return carryOn(tx, attempt, account, input.terms);
      });
    });
  }

  /**
   * Signs a transfer of nothing of the relayer to itself at a nonce that nobody needs, so that those behind it can go
   * on. It replaces only what carries something that is decided.
   */
  async function fillNonce(input: {
    networkId: number;
    nonce: number;
    terms: EnvelopeTerms;
  }): Promise<SigningResult> {
    const { networkId, nonce, terms } = input;
    return refusable(() =>
      signing(networkId, async (tx) => {
        const { address } = keystore.relayerKey(networkId, RELAYER_INDEX);
        const there = await envelopeAtNonce(tx, { networkId, relayerAddress: address, nonce });
        if (there) {
          const { kind, attempt } = await carriedBy(tx, there);
          if (String(there.id) !== terms.replaces) {
            if (kind === 'filler') return { envelopeId: String(there.id) };
            throw new SignerRefusal('stale', `nonce ${nonce} of relayer ${address} is used`);
          }
          const isNeeded =
            kind === 'deployment'
              ? await isDeploymentPending(tx, there.attemptId)
              : attempt !== undefined && attempt.outcome === null;
          if (isNeeded) {
            throw new SignerRefusal('stale', `nonce ${nonce} of relayer ${address} carries something`);
          }
        }
        const attemptId = await insertFiller(tx, networkId, address);
        faultPoint('signer.fillerStored');
        const id = await signEnvelope(tx, {
          attemptId,
          networkId,
          call: { to: address, data: '0x' },
          terms: { ...terms, gas: String(FILLER_GAS) },
          ...(there ? { replaces: there } : { at: nonce }),
        });
        return { envelopeId: String(id) };
      }),
    );
  }

  return { signTransaction, signCancellation, fillNonce };
}

/** The activities that sign for accounts, as workflows see them. */
export type TransactionSignerActivities = ReturnType<typeof createTransactionSignerActivities>;
