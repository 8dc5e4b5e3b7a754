import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import pino from 'pino';
import {
  type Address,
  type TransactionSerializedEIP1559 as Eip1559,
  type Hex,
  keccak256,
  numberToHex,
  parseAbi,
  parseTransaction,
} from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { type ChainActivities, createChainActivities } from '../../activities/chainActivities';
import { createRelayerContext, type RelayerDeps } from '../../activities/relayer/relayerContext';
import type { TransactionFollowed, TransactionObservation } from '../../activities/transactions/observation';
import { createLifecycleActivities } from '../../activities/worker';
import { payloadToSign } from '../../src/approvals/signedTransaction';
import { signatureHash } from '../../src/approvals/verifiedVotes';
import { checksumAddress } from '../../src/chain/address';
import { type ChainClient, createChainClients } from '../../src/chain/clients';
import { signerEndpoints } from '../../src/chain/contractSignatures';
import type { Keystore } from '../../src/chain/keys';
import { nestedCallsOf } from '../../src/chain/nestedCalls';
import { relayerIndex } from '../../src/chain/relayerIndex';
import { deriveAccount, SAFE_CONTRACTS } from '../../src/chain/safeAccount';
import { hashTypedPayload } from '../../src/chain/typedData';
import { createIdentifyVoter } from '../../src/chain/voter';
import type { NetworkConfig } from '../../src/config';
import { insertApproval, updateApproval } from '../../src/db/approvals';
import { createDatabase, type Db } from '../../src/db/database';
import { newId } from '../../src/db/ids';
import { findPolicy } from '../../src/db/policies';
import { reserveUsage } from '../../src/db/reservedUsage';
import { requireRow } from '../../src/db/rows';
import { insertTransaction, readTransaction } from '../../src/db/transactions';
import type { VoteType } from '../../src/domain/approval';
import type { JsonValue } from '../../src/domain/canonicalJson';
import type { Edit } from '../../src/domain/governance';
import type { Policy } from '../../src/domain/policy';
import type { TransactionTerms } from '../../src/domain/terms';
import type { AttemptOutcome, TransactionRef } from '../../src/domain/transaction';
import { readContent, type TransactionContent } from '../../src/domain/transactionContent';
import { transactionData } from '../../src/domain/transactionData';
import type { ExecutionResult } from '../../src/domain/transactionState';
import { createSignerActivities, type SignerActivities } from '../../src/signer/activities';
import { type Journal, openJournal } from '../../src/signer/journal/journal';
import { registerRelayers } from '../../src/signer/registerRelayers';
import { createSignerContext, type SignerContext, type SignerDeps } from '../../src/signer/signerContext';
import { usageOf } from '../../src/transactions/policy';
import { readSignedTokens, summaryOf } from '../../src/transactions/summary';
import { balanceSlot } from '../support/contracts';
import { inSlot } from '../support/inSlot';
import {
  decideDirectly,
  makeKeystore,
  makeOrganization,
  signPayload,
  type TestMember,
  type TestOrganization,
} from '../support/service';
import {
  createTestDatabase,
  fundOnLocalChain,
  rpc,
  startOwnChain,
  type TestDatabase,
  temporaryDir,
} from '../support/stack';
import { insertSigned } from '../support/storedTransactions';
import { aPolicy } from '../support/transactions';
import { until } from '../support/until';
import { deployAsFunder, execAsOwner, putCode } from './wallets';

export const GWEI = 10n ** 9n;
export const ETHER = 10n ** 18n;

/** A call that a transaction asks for. */
export interface Asked {
  readonly to: Address;
  readonly value?: bigint;
  readonly data?: Hex;
}

/** How a transaction is stored and who has signed it. */
export interface AskedWith {
  readonly account?: TestAccount;
  readonly policyId?: string;
  readonly initiator?: TestMember;
  readonly approvers?: readonly TestMember[];
  readonly expiresInMs?: number;
  /** Instead of the one that the service makes. */
  readonly summary?: string;
  readonly replaces?: string;
  /** Whether its execution has begun. */
  readonly begun?: false;
}

export interface TestAccount {
  readonly id: string;
  readonly name: string;
  readonly address: Address;
}

/** What became of an envelope or of its transaction, but not that it waits. */
type Ended = Exclude<TransactionFollowed, { kind: 'waiting' }>;

/** Nobody reads the log of these tests. */
const unreported = {
  logger: pino({ level: 'silent' }),
  countRefusal: () => undefined,
  countUnknownExecution: () => undefined,
};

function chainActivities(deps: RelayerDeps & { maxGas: bigint }): ChainActivities {
  return createChainActivities({ ...createRelayerContext(deps), scanners: new Map() });
}

/** The activities of a signer, whose context is shared. */
export function activitiesOf(context: SignerContext): SignerActivities {
  return createSignerActivities(context);
}

/** A chain, a database and the activities of one test file, without Temporal. */
export class TransactionWorld {
  private deploying: Promise<unknown> = Promise.resolve();
  private accounts = 0;

  private constructor(
    readonly own: Awaited<ReturnType<typeof startOwnChain>>,
    readonly database: TestDatabase & { drop(): Promise<void> },
    readonly db: Db,
    readonly serviceDb: Db,
    readonly signerDb: Db,
    readonly network: NetworkConfig,
    readonly keystore: Keystore,
    public journal: Journal,
    readonly org: TestOrganization,
    readonly client: ChainClient,
    readonly chain: ChainActivities,
    public signer: SignerActivities & SignerActivities,
  ) {}

  /** Starts all of it; `stop` ends it. */
  static async start(
    chainId: number,
    change: Partial<NetworkConfig> = {},
    ownDatabase?: TestDatabase,
  ): Promise<TransactionWorld> {
    const own = await startOwnChain(chainId, change.dataFee === 'opStack' ? { family: 'optimism' } : {});
    const rpcUrl = own.current.rpcUrl;
    // A database of the test's own is the test's to end.
    const database = ownDatabase
      ? { ...ownDatabase, drop: async () => undefined }
      : await createTestDatabase();
    const db = createDatabase(database.url, { poolMax: 3 });
    const serviceDb = createDatabase(database.serviceUrl, { poolMax: 10 });
    const signerDb = createDatabase(database.signerUrl, { poolMax: 10 });
    const network: NetworkConfig = {
      id: chainId,
      name: 'Own Chain',
      rpcUrls: [rpcUrl],
      signerRpcUrls: [rpcUrl],
      relayers: 1,
      nativeAsset: { symbol: 'ETH', name: 'Ether', decimals: 18 },
      confirmations: 1,
      maxFeePerGas: 5_000n * GWEI,
      ...change,
    };
    const dir = temporaryDir();
    const keystore = await makeKeystore(dir, 'pass');
    const journal = await openJournal({ file: join(dir, 'journal'), waitMs: 0 });
    const chains = createChainClients([network]);
    const client = chains.get(chainId);
    if (!client) throw new Error('no client');
    const signerDeps = {
      db: signerDb,
      keystore,
      journal,
      production: false,
      ...unreported,
      networks: [network],
      identifyVoter: createIdentifyVoter(signerEndpoints(network)),
      maxGas: 5_000_000n,
      gasBudgetPerHour: 1_000_000n * ETHER,
      proposalLifetimeMs: 24 * 3_600_000,
    };
    await registerRelayers(signerDeps);
    const org = await makeOrganization(db, { keystore });
    const signer = activitiesOf(createSignerContext(signerDeps));
    const world = new TransactionWorld(
      own,
      database,
      db,
      serviceDb,
      signerDb,
      network,
      keystore,
      journal,
      org,
      client,
      chainActivities({
        db: serviceDb,
        chains,
        pollMs: 20,
        withoutSlot: inSlot,
        stuckAfterMs: 1_500,
        maxGas: 5_000_000n,
      }),
      signer,
    );
    await world.fundRelayer();
    return world;
  }

  async stop(): Promise<void> {
    await this.journal.close();
    await Promise.all([this.db, this.serviceDb, this.signerDb].map((pool) => pool.destroy()));
    await this.database.drop();
    await this.own.stop();
  }

  get url(): string {
    return this.own.current.rpcUrl;
  }

  get relayer(): Address {
    return this.relayerAt(0);
  }

  relayerAt(index: number): Address {
    return this.keystore.relayerKey(this.network.id, index).address;
  }

  fundRelayer(index = 0): Promise<void> {
    return fundOnLocalChain(this.url, this.relayerAt(index));
  }

  /** Other activities on the same database: another network configuration, other times. */
  chainWith(change: Partial<NetworkConfig>, more: Partial<RelayerDeps & { maxGas: bigint }> = {}) {
    return chainActivities({
      db: this.serviceDb,
      chains: createChainClients([{ ...this.network, ...change }]),
      pollMs: 20,
      withoutSlot: inSlot,
      stuckAfterMs: 1_500,
      maxGas: 5_000_000n,
      ...more,
    });
  }

  signerWith(change: Partial<SignerDeps>) {
    return activitiesOf(this.signerContext(change));
  }

  /** What the activities of another signer share. */
  signerContext(change: Partial<SignerDeps> = {}): SignerContext {
    return createSignerContext({
      db: this.signerDb,
      production: false,
      keystore: this.keystore,
      journal: this.journal,
      ...unreported,
      networks: [this.network],
      identifyVoter: createIdentifyVoter(signerEndpoints(this.network)),
      maxGas: 5_000_000n,
      gasBudgetPerHour: 1_000_000n * ETHER,
      proposalLifetimeMs: 24 * 3_600_000,
      ...change,
    });
  }

  /** Ends the signer, and starts it again with the journal that it has left. */
  async restartSigner(): Promise<void> {
    const { file } = this.journal;
    await this.journal.close();
    this.journal = await openJournal({ file, waitMs: 0 });
    this.signer = this.signerWith({});
  }

  /** An account that is deployed, with 1 ETH; `relayer`: the index of the one that pays for it, of those of the network. */
  async account({ relayer = 0 }: { readonly relayer?: number } = {}): Promise<TestAccount> {
    let id = newId('acc');
    while (relayerIndex(id, this.network.relayers) !== relayer) id = newId('acc');
    const account = deriveAccount(this.keystore.organizationKey(this.org.id).address, id);
    // The node gives the funder one nonce twice when it is asked twice at once.
    this.deploying = this.deploying.then(() => deployAsFunder(this.url, account));
    await this.deploying;
    this.accounts += 1;
    const name = `Treasury ${this.accounts}`;
    const after = { id, name, address: account.address, networkIds: [this.network.id] };
    await this.decide([{ type: 'account', id, after }]);
    await this.db('account_networks').insert({
      account_id: id,
      network_id: this.network.id,
      deployed_at: new Date(),
    });
    const address = account.address as Address;
    await this.setBalance(address, ETHER);
    return { id, name, address };
  }

  /** As an operator does it. */
  async requestCancellation({ transactionId }: TransactionRef): Promise<void> {
    await this.db('transactions').where({ id: transactionId }).update({ cancelling: true });
  }

  /** Executes something else at the next nonce of an account, as whoever has copied its key can. */
  async executeUnknown(account: TestAccount): Promise<void> {
    const key = this.keystore.organizationKey(this.org.id);
    const owner = {
      signTypedData: (typed: object) =>
        key.sign({
          hash: hashTypedPayload(
            JSON.stringify(typed, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
          ),
        }),
    } as unknown as PrivateKeyAccount;
    const call = {
      signature: 'setFallbackHandler(address handler)',
      args: [SAFE_CONTRACTS.fallbackHandler.address],
    };
    await execAsOwner(this.client, owner, account.address, call);
  }

  setBalance(address: Address, wei: bigint): Promise<unknown> {
    return rpc(this.url, 'anvil_setBalance', [address, numberToHex(wei)]);
  }

  /** Stores a policy; one of everything on the network, unless changed. */
  async policy(change: Partial<Policy> = {}): Promise<string> {
    const policy = aPolicy({ networkId: this.network.id, ...change, id: newId('pol') });
    await this.storePolicy(policy);
    return policy.id;
  }

  async storePolicy({ id, ...definition }: Policy): Promise<void> {
    await this.decide([{ type: 'policy', id, after: { id, definition } }]);
  }

  /** Decides as the admins do. */
  decide(edits: readonly Edit[]): Promise<void> {
    return decideDirectly(this.db, this.keystore, this.org.id, edits);
  }

  /** A contract with that code; `balances` are of one of the test tokens. */
  async contract(
    seed: string,
    code: Hex,
    balances: Readonly<Record<Address, bigint>> = {},
  ): Promise<Address> {
    const address = checksumAddress(await putCode(this.url, seed, code));
    for (const [of, amount] of Object.entries(balances)) {
      const slot = balanceSlot(of as Address);
      await rpc(this.url, 'anvil_setStorageAt', [address, slot, numberToHex(amount, { size: 32 })]);
    }
    return address;
  }

  /** A stored, signed transaction whose execution has begun. */
  async transaction(asked: Asked, how: AskedWith = {}): Promise<TransactionRef> {
    const { initiator = this.org.dave, approvers = [], expiresInMs = 3_600_000 } = how;
    const account = how.account ?? (await this.account());
    const policyId = how.policyId ?? (await this.policy());
    const { to, value = 0n, data = '0x' } = asked;
    const content = readContent({ to: checksumAddress(to), value, data }, checksumAddress);
    if (!content.ok) throw new Error(content.refusal.message);
    const transactionId = newId('txn');
    const { replaces = null } = how;
    const call = { account, policyId, to, value, data, content: content.value, replaces };
    const summary = how.summary ?? (await this.summary(call));
    await this.serviceDb.transaction(async (tx) => {
      await insertApproval(tx, 'transaction', {
        id: transactionId,
        organizationId: this.org.id,
        summary,
        mentions: [],
        createdBy: null,
        position: 0n,
        expiresAt: new Date(Math.floor((Date.now() + expiresInMs) / 1_000) * 1_000),
      });
      await insertTransaction(tx, {
        id: transactionId,
        accountId: account.id,
        networkId: this.network.id,
        policyId,
        initiatorId: initiator.id,
        description: '',
        type: content.value.type,
        to: checksumAddress(to),
        value,
        calldata: data,
        content: this.shown(content.value, { account, data, replaces }),
        replaces,
        organizationId: this.org.id,
        summary,
        position: 0n,
      });
    });
    const ref = { organizationId: this.org.id, transactionId };
    await this.vote(ref, initiator, 'initiator');
    for (const approver of approvers) await this.vote(ref, approver, 'approve');
    if (how.begun !== false) await this.begin(ref);
    return ref;
  }

  /** The summary that the service makes of a call. */
  /** The content of a transaction as the service stores it. */
  private shown(
    content: TransactionContent,
    call: { readonly account: TestAccount; readonly data: Hex; readonly replaces: string | null },
  ): JsonValue {
    const { account, data: calldata, replaces } = call;
    const token = { symbol: 'TST', name: 'Test token', decimals: 18, logoUrl: null };
    const facts = { network: this.network, account, calldata, token, replaces, call: null };
    return transactionData(content, facts) as unknown as JsonValue;
  }

  private async summary(call: {
    readonly account: TestAccount;
    readonly policyId: string;
    readonly to: string;
    readonly value: bigint;
    readonly data: Hex;
    readonly content: TransactionContent;
    readonly replaces: string | null;
  }): Promise<string> {
    const { content, to, value, data: calldata, replaces } = call;
    const nested = nestedCallsOf({ to, value, data: calldata });
    const policy = requireRow(await findPolicy(this.db, this.org.id, call.policyId));
    const account = requireRow(await this.db('accounts').where({ id: call.account.id }).first());
    const tokens = await readSignedTokens(
      this.db,
      this.org.id,
      this.network.id,
      { content, calldata },
      policy,
    );
    return summaryOf({
      network: this.network,
      ...{ account, calldata, tokens, policy, content, nested, replaces },
    });
  }

  async vote(ref: TransactionRef, member: TestMember, type: VoteType): Promise<void> {
    const seen = await this.snapshot(ref);
    const payload = payloadToSign(seen.record, seen.now, type);
    if (payload === undefined) throw new Error('the initiator comes first');
    const signature = await signPayload(member, payload);
    const initiated = seen.record.votes.find((vote) => vote.type === 'initiator');
    await this.db.transaction((tx) =>
      insertSigned(tx, ref.transactionId, {
        memberId: member.id,
        type,
        signerAddress: member.wallet.address,
        scheme: 'eoa',
        signature,
        signatureHash: signatureHash(signature),
        initiatorSignatureHash: type === 'initiator' ? null : (initiated?.signatureHash ?? null),
        reason: null,
        credentialId: null,
      }),
    );
  }

  /** Begins an execution, or another one, past the checks of the service. */
  async begin(ref: TransactionRef): Promise<void> {
    const { record } = await this.snapshot(ref);
    await this.db.transaction(async (tx) => {
      await reserveUsage(tx, usageOf(record));
      await updateApproval(tx, record.id, {
        executionStatus: 'processing',
        executionAttempt: record.executionAttempt + 1,
        failure: null,
      });
    });
  }

  async snapshot(ref: TransactionRef) {
    const found = await readTransaction(this.db, ref);
    if (!found) throw new Error('there is no such transaction');
    return found;
  }

  async record(ref: TransactionRef) {
    return (await this.snapshot(ref)).record;
  }

  prepare(ref: TransactionRef, cancel = false): Promise<TransactionObservation> {
    return this.chain.prepareTransaction({ ...ref, networkId: this.network.id, cancel });
  }

  async terms(ref: TransactionRef): Promise<TransactionTerms> {
    const seen = await this.prepare(ref);
    if (seen.kind !== 'needsEnvelope') throw new Error(`it is ${JSON.stringify(seen)}`);
    return seen.terms;
  }

  /** Signs with these terms, or those of now; answers the envelope. */
  async sign(ref: TransactionRef, change: Partial<TransactionTerms> = {}): Promise<string> {
    const terms = { ...(await this.terms(ref)), ...change };
    return envelopeOf(await this.signer.signTransaction({ ...ref, terms }));
  }

  /** Signs an envelope that reverts as a whole: the signer refuses so little gas, so its stored one is changed. */
  async signShortOfGas(ref: TransactionRef): Promise<string> {
    const envelopeId = await this.sign(ref);
    const stored = () => this.db('chain_envelopes').where({ id: BigInt(envelopeId) });
    const { raw_transaction } = requireRow(await stored().first());
    const { r: _r, s: _s, v: _v, yParity: _y, ...signed } = parseTransaction(raw_transaction as Eip1559);
    const gas = (signed.gas ?? 0n) - 90_000n;
    const raw = await this.keystore.relayerKey(this.network.id, 0).signTransaction({ ...signed, gas });
    await stored().update({
      gas: String(gas),
      raw_transaction: raw,
      transaction_hash: keccak256(raw),
    });
    return envelopeId;
  }

  follow(
    ref: TransactionRef,
    envelopeId: string,
    reported: string | null = null,
  ): Promise<TransactionFollowed> {
    const input = { ...ref, envelopeId, networkId: this.network.id, reported };
    return new MockActivityEnvironment().run(this.chain.followTransaction, input);
  }

  /** Follows an envelope past everything that it only waits for. */
  async followToEnd(ref: TransactionRef, envelopeId: string): Promise<Ended> {
    let reported: string | null = null;
    for (;;) {
      const followed = await this.follow(ref, envelopeId, reported);
      if (followed.kind !== 'waiting') return followed;
      reported = followed.message;
    }
  }

  /** Carries a transaction to the chain's decision, as its workflow does, and ends its record with it. */
  async execute(ref: TransactionRef, options: { cancel?: boolean } = {}): Promise<TransactionObservation> {
    const { cancel = false } = options;
    for (;;) {
      const seen = await this.prepare(ref, cancel);
      if (seen.kind === 'decided') await this.finish(ref, seen);
      if (seen.kind === 'decided' || seen.kind === 'failed') return seen;
      const envelopeId = await this.carried(ref, seen);
      if (envelopeId === undefined) continue;
      const followed = await this.followToEnd(ref, envelopeId);
      if (followed.kind === 'decided') {
        await this.finish(ref, followed);
        return followed;
      }
      if (followed.kind === 'stuck') await this.signAs(ref, followed);
      if (followed.kind === 'gap') {
        const { nonce, terms } = followed;
        envelopeOf(await this.signer.fillNonce({ networkId: this.network.id, nonce, terms }));
      }
    }
  }

  /** The envelope to follow, signed where one is needed; undefined where the chain is to be looked at again. */
  private async carried(ref: TransactionRef, seen: TransactionObservation): Promise<string | undefined> {
    if (seen.kind === 'inFlight') return seen.envelopeId;
    if (seen.kind === 'confirming' && seen.unconfirmed) await this.signer.confirmOutcome(ref);
    return seen.kind === 'needsEnvelope' ? this.signAs(ref, seen) : undefined;
  }

  /** Signs the transaction, or the empty call that cancels it; answers the envelope. */
  private async signAs(
    ref: TransactionRef,
    { terms, cancels }: { terms: TransactionTerms; cancels: boolean },
  ): Promise<string> {
    const sign = cancels ? this.signer.signCancellation : this.signer.signTransaction;
    return envelopeOf(await sign({ ...ref, terms }));
  }

  /** Ends the record with what the chain decided. */
  async finish(
    ref: TransactionRef,
    { outcome }: Extract<TransactionFollowed, { kind: 'decided' }>,
  ): Promise<void> {
    if (outcome.kind !== 'executed' || outcome.reversed) {
      expect(await this.signer.confirmOutcome(ref)).toEqual({ outcome: outcome.kind });
    }
    await this.finishWith(ref, outcome);
  }

  /** Ends a record with an outcome, as its workflow does with what it was told. */
  finishWith(ref: TransactionRef, outcome: AttemptOutcome): Promise<void> {
    return this.end(ref, { status: 'decided', outcome });
  }

  /** Ends a record with a result, as its workflow does. */
  async end(ref: TransactionRef, result: ExecutionResult): Promise<void> {
    const { finishTransaction } = createLifecycleActivities({
      db: this.serviceDb,
      production: false,
      networks: [this.network],
      identifyVoter: createIdentifyVoter(signerEndpoints(this.network)),
      refresh: async () => undefined,
      readToken: async () => ({ ok: false, reason: 'no token is read here' }),
      readWalletCode: async () => 'unknown',
      proposalLifetimeMs: 1_000,
      maxOpenPerKey: 1_000,
    });
    const { organizationId, transactionId: id } = ref;
    await finishTransaction({ organizationId, id, result });
  }

  attempts({ transactionId }: TransactionRef) {
    return this.db('chain_attempts').where({ transaction_id: transactionId }).orderBy('id');
  }

  envelopes(ref: TransactionRef) {
    return this.db('chain_envelopes')
      .whereIn('attempt_id', this.attempts(ref).clearOrder().select('id'))
      .orderBy('id');
  }

  /** What the signer has recorded of what it has authorized. */
  authorization({ transactionId }: TransactionRef) {
    return this.db('authorizations').where({ transaction_id: transactionId }).first();
  }

  usage({ transactionId }: TransactionRef) {
    return this.db('policy_usage').where({ transaction_id: transactionId }).orderBy('id');
  }

  nonceOf({ address }: TestAccount): Promise<bigint> {
    return this.client.rpc.readContract({
      address,
      abi: parseAbi(['function nonce() view returns (uint256)']),
      functionName: 'nonce',
    });
  }

  balanceOf(address: Address): Promise<bigint> {
    return this.client.rpc.getBalance({ address });
  }

  /** Mines nothing by itself while `work` runs: what is sent stays pending until it says so. */
  async withoutMining<T>(work: () => Promise<T>): Promise<T> {
    await rpc(this.url, 'evm_setAutomine', [false]);
    // A block with transactions is followed by another one soon; an empty one is not.
    await this.mine();
    try {
      return await work();
    } finally {
      await rpc(this.url, 'evm_setAutomine', [true]);
      await rpc(this.url, 'anvil_mine', ['0x1']);
    }
  }

  mine(blocks = 1): Promise<unknown> {
    return rpc(this.url, 'anvil_mine', [numberToHex(blocks)]);
  }

  /** Waits until the node holds that many transactions that are in no block. */
  pending(count: number): Promise<unknown> {
    return until(`${count} are pending`, async () => {
      const status = await rpc<{ pending: Hex; queued: Hex }>(this.url, 'txpool_status', []);
      return Number(status.pending) + Number(status.queued) >= count;
    });
  }
}

/** The envelope that was signed. Throws with the refusal. */
export function envelopeOf(signed: { envelopeId: string } | object): string {
  if ('envelopeId' in signed) return signed.envelopeId;
  throw new Error(JSON.stringify(signed));
}
