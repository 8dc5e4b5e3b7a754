import { join } from 'node:path';
import pino from 'pino';
import { type Address, getAddress, type Hex, numberToHex } from 'viem';
import { signerEndpoints } from '../../src/chain/contractSignatures';
import { executionGas } from '../../src/chain/gas';
import { deploymentCall, deriveAccount } from '../../src/chain/safeAccount';
import { createIdentifyVoter } from '../../src/chain/voter';
import { insertApproval, updateApproval } from '../../src/db/approvals';
import { createDatabase, type Db } from '../../src/db/database';
import { newId } from '../../src/db/ids';
import { insertDeployments } from '../../src/db/proposals';
import type { Edit } from '../../src/domain/governance';
import type { Policy } from '../../src/domain/policy';
import type { DeploymentKey } from '../../src/domain/proposal';
import type { TransactionTerms } from '../../src/domain/terms';
import type { TransactionRef } from '../../src/domain/transaction';
import { createSignerActivities, type SignerActivities } from '../../src/signer/activities';
import { type Journal, openJournal } from '../../src/signer/journal/journal';
import { createSignerContext } from '../../src/signer/signerContext';
import { Falsifier, type NamedRow } from '../support/falsified';
import { type HostilePostgres, startHostilePostgres } from '../support/hostilePostgres';
import { Liar, type Lie } from '../support/lies';
import { LOCAL_FUNDER, rpc, temporaryDir } from '../support/stack';
import { aTransferPolicy } from '../support/transactions';
import { until } from '../support/until';
import { type Approved, SignedOracle, safeTxHash } from './signedOracle';
import { ETHER, GWEI, type TestAccount, TransactionWorld } from './transactionWorld';
import { deployAsFunder } from './wallets';

/** Where an attacker would have it. */
export const THIEF: Address = getAddress('0x7b1ef00000000000000000000000000000000bad');
export const STOLEN = 7n * ETHER;

/** The part of a budget's window that each account has. */
export const BUDGET = 4n;
export const MAX_GAS = 5_000_000n;
const MAX_FEE = 5_000n * GWEI;
const SAFE_TX_GAS = 60_000n;
/** What a transfer to a new address without code needs. Sources: EIP-150, EIP-2929. */
const NEEDED_GAS = 36_600n;
/** So many are decided on at once. */
const POLICIES = 8;
const ACCOUNTS_OF_POLICY = 5;

/** A point at which the signer ends as by a crash. */
export type Crash = 'journal' | 'key';

/** An account and a policy by which it pays. */
export interface PayingAccount extends TestAccount {
  readonly policyId: string;
}

/** A signer behind a hostile Postgres, a chain, and an oracle that sees all that it signs. */
export class HostileWorld {
  private readonly budgets = new Map<string, bigint>();
  readonly oracle = new SignedOracle({ maxGas: MAX_GAS, maxFeePerGas: MAX_FEE, budgets: this.budgets });
  liar: Liar;
  private opened: { journal: Journal; activities: SignerActivities } | undefined;
  private isJournalFailing = false;
  private readonly accounts: PayingAccount[] = [];
  private readonly addresses = new Map<string, Address>();
  private readonly deployed = new Set<string>();
  private readonly file = join(temporaryDir(), 'journal');

  private constructor(
    readonly world: TransactionWorld,
    readonly proxy: HostilePostgres,
    readonly db: Db,
    private readonly sample: TransactionTerms,
  ) {
    this.liar = this.newLiar();
  }

  static async start(chainId: number): Promise<HostileWorld> {
    const world = await TransactionWorld.start(chainId);
    const proxy = await startHostilePostgres(world.database.signerUrl);
    const db = createDatabase(proxy.url, { poolMax: 4 });
    const sample = await world.terms(await world.transaction({ to: THIEF, value: 1n }));
    const made = new HostileWorld(world, proxy, db, sample);
    await made.open();
    return made;
  }

  async stop(): Promise<void> {
    await this.opened?.journal.close();
    this.proxy.interfere({});
    await this.db.destroy();
    this.proxy.close();
    await this.world.stop();
  }

  get signer(): SignerActivities {
    if (!this.opened) throw new Error('the signer does not run');
    return this.opened.activities;
  }

  /** Another liar, which knows nothing of what was said before. */
  newLiar(): Liar {
    const { world } = this;
    const falsifier = new Falsifier({
      addresses: [THIEF, THIEF, world.relayer],
      amounts: [String(STOLEN), String(STOLEN), String(BUDGET + 1n)],
      networkIds: [String(world.network.id + 1), '1', String(world.network.id)],
      data: ['0x', `0xa9059cbb${THIEF.slice(2).toLowerCase().padStart(64, '0')}${'f'.repeat(64)}`],
    });
    this.liar = new Liar(falsifier, (row) => this.hashOf(row));
    return this.liar;
  }

  private hashOf(row: NamedRow): string | undefined {
    const text = (name: string) => row.get(name) ?? '';
    const account = this.addresses.get(text('account_id'));
    if (!account || !row.get('safe_tx_hash')) return undefined;
    try {
      return safeTxHash(
        { account, networkId: Number(text('network_id')) },
        {
          to: text('to_address') as Address,
          value: BigInt(text('value')),
          data: text('data') as Hex,
          safeTxGas: BigInt(text('safe_tx_gas')),
        },
        BigInt(text('safe_nonce')),
      );
    } catch {
      // What is falsified may be no content at all.
      return undefined;
    }
  }

  /** Tells lies from now on. */
  lie(lies: readonly Lie[]): void {
    this.proxy.interfere(lies.length > 0 ? this.liar.telling(lies) : {});
  }

  private makeActivities(journal: Journal): SignerActivities {
    const { world } = this;
    const failing = new Proxy(journal, {
      get: (target, name) => {
        if (name === 'append' && this.isJournalFailing) {
          return () => Promise.reject(new Error('the process has ended'));
        }
        const value = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const context = createSignerContext({
      db: this.db,
      production: false,
      keystore: this.oracle.watching(world.keystore),
      journal: failing,
      logger: pino({ level: 'silent' }),
      countRefusal: () => undefined,
      countUnknownExecution: () => undefined,
      // A second one, with the same relayers: what is on one network must not be signed for the other.
      networks: [world.network, { ...world.network, id: world.network.id + 1, name: 'Other Chain' }],
      identifyVoter: createIdentifyVoter(signerEndpoints(world.network)),
      maxGas: MAX_GAS,
      gasBudgetPerHour: 1_000_000n * ETHER,
      proposalLifetimeMs: 7 * 24 * 3_600_000,
    });
    return createSignerActivities(context);
  }

  private async open(): Promise<void> {
    const journal = await openJournal({ file: this.file, waitMs: 0 });
    this.opened = { journal, activities: this.makeActivities(journal) };
  }

  /** Makes what one process of the signer keeps in memory anew. */
  forgetMemory(): void {
    if (this.opened) this.opened.activities = this.makeActivities(this.opened.journal);
  }

  /** Ends the signer and starts it again with its journal. */
  async restart(): Promise<void> {
    await this.opened?.journal.close();
    await this.open();
  }

  /** Has the signer end at that point of `work`, which fails or ends before, and start again. */
  async crashing<T>(crash: Crash, work: () => Promise<T>): Promise<T | undefined> {
    this.isJournalFailing = crash === 'journal';
    this.oracle.failing = crash === 'key';
    try {
      return await work().catch(() => undefined);
    } finally {
      this.isJournalFailing = false;
      this.oracle.failing = false;
      this.forgetMemory();
    }
  }

  /** Throws Unauthorized where something was signed that nobody has authorized. */
  check(): Promise<void> {
    return this.oracle.check(this.file);
  }

  /** An account that the admins have decided on, with a policy for it. It is on no chain yet. */
  async account(): Promise<PayingAccount> {
    if (this.accounts.length === 0) await this.decideAccounts();
    return this.accounts.pop() as PayingAccount;
  }

  /** Decides on many accounts at once. Few share a policy: the signer looks up all that was paid under it. */
  private async decideAccounts(): Promise<void> {
    const { world } = this;
    const { id: networkId } = world.network;
    const policies = Array.from({ length: POLICIES }, () => this.policy());
    const made = policies.flatMap(({ id: policyId }) =>
      Array.from({ length: ACCOUNTS_OF_POLICY }, () => {
        const id = newId('acc');
        const derived = deriveAccount(world.keystore.organizationKey(world.org.id).address, id);
        this.addresses.set(id, derived.address as Address);
        this.oracle.permitDeployment({ networkId, ...deploymentCall(derived) });
        return { id, name: `Treasury ${id}`, address: derived.address as Address, policyId };
      }),
    );
    await world.decide([
      ...policies.map(({ id, ...definition }): Edit => ({ type: 'policy', id, after: { id, definition } })),
      ...made.map(({ policyId: _, ...account }): Edit => {
        const after = { ...account, networkIds: [networkId] };
        return { type: 'account', id: account.id, after };
      }),
    ]);
    await world
      .db('account_networks')
      .insert(made.map(({ id }) => ({ account_id: id, network_id: networkId, deployed_at: new Date() })));
    this.accounts.push(...made);
  }

  /** A policy by which Alice approves, with a budget for each account. */
  private policy(): Policy {
    const { network, org } = this.world;
    const all = 'ALL_ITEMS' as const;
    const policy = aTransferPolicy(
      { amountThreshold: String(BUDGET) },
      {
        id: newId('pol'),
        networkId: network.id,
        type: 'MANUAL_APPROVAL',
        approverSetting: { type: 'user', memberId: org.alice.id, excludeInitiator: true },
        limitation: {
          hours: 24,
          initiatorScope: all,
          sourceAccountScope: 'PER_ITEM',
          destinationScope: all,
        },
      },
    );
    this.budgets.set(policy.id, BUDGET);
    return policy;
  }

  /** Deploys an account, with more than a thief would take. */
  async deploy({ id, address }: TestAccount): Promise<void> {
    if (this.deployed.has(id)) return;
    this.deployed.add(id);
    const { world } = this;
    await deployAsFunder(world.url, deriveAccount(world.keystore.organizationKey(world.org.id).address, id));
    await world.setBalance(address, 10n * ETHER);
  }

  /** A stored transaction, as the oracle knows it. */
  async payment(
    account: PayingAccount,
    { to, value, isApproved }: { to: Address; value: bigint; isApproved: boolean | 'rejected' },
  ): Promise<Approved & TransactionRef> {
    const { world } = this;
    const { alice, dave } = world.org;
    const { policyId } = account;
    const approvers = isApproved === true ? [alice] : [];
    const how = { account, policyId, approvers, initiator: dave };
    const ref = await world.transaction(
      { to, value },
      isApproved === 'rejected' ? { ...how, begun: false } : how,
    );
    if (isApproved === 'rejected') await world.vote(ref, alice, 'reject');
    return this.oracle.approve({
      ...ref,
      accountId: account.id,
      account: account.address,
      networkId: world.network.id,
      policyId,
      initiatorId: dave.id,
      to,
      value,
      data: '0x',
      safeTxGas: NEEDED_GAS,
      isApproved: isApproved === true,
      isCancelling: false,
      isCancelled: false,
    });
  }

  /** A proposal that is deploying an account, as the tables show it. */
  async deployment({ id: accountId }: Pick<TestAccount, 'id'>): Promise<DeploymentKey> {
    const { db, org, network } = this.world;
    const proposalId = newId('prop');
    const key = { organizationId: org.id, proposalId, accountId, networkId: network.id };
    await db.transaction(async (tx) => {
      await insertApproval(tx, 'proposal', {
        id: proposalId,
        organizationId: org.id,
        summary: 'Create an account',
        mentions: [],
        createdBy: null,
        position: 0n,
        expiresAt: new Date(Date.now() + 3_600_000),
      });
      await updateApproval(tx, proposalId, { executionStatus: 'processing' });
      const data = JSON.stringify({ items: [] });
      await tx('proposals').insert({ id: proposalId, resource_type: 'accounts', action: 'create', data });
      await insertDeployments(tx, proposalId, [key]);
    });
    return key;
  }

  /** The terms of a first envelope, as an honest worker proposes them. */
  terms(accountNonce = 0n, safeTxGas = SAFE_TX_GAS): TransactionTerms {
    const { relayer: relayerAddress } = this.world;
    return {
      ...this.sample,
      safeTxGas: String(safeTxGas),
      gas: String(executionGas({ safeTxGas, data: '0x' })),
      relayerAddress,
      accountNonce: String(accountNonce),
      chainNonce: this.oracle.nextRelayerNonce(),
    };
  }

  /** Sends calls from somebody else's account, each with gas enough, and waits for their blocks. */
  async send({ to, data }: { readonly to: Address; readonly data: Hex }): Promise<boolean> {
    const { url } = this.world;
    const call = { from: LOCAL_FUNDER.address, to, data, gas: numberToHex(1_000_000n) };
    const hash = await rpc<Hex>(url, 'eth_sendTransaction', [call]);
    const receipt = await until(`${hash} is in a block`, () =>
      rpc<{ status: Hex } | null>(url, 'eth_getTransactionReceipt', [hash]),
    );
    return receipt.status === '0x1';
  }
}
