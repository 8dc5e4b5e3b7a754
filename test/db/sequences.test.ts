import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { Address } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createProposalActivities } from '../../activities/proposals';
import { createChainClients } from '../../src/chain/clients';
import { deriveAccount } from '../../src/chain/safe';
import { encodeSignature } from '../../src/chain/signatures';
import { createIdentifyVoter } from '../../src/chain/voter';
import { loadConfig } from '../../src/config';
import { verifyAudit } from '../../src/db/audit';
import { createDatabase, type Db } from '../../src/db/database';
import { newId } from '../../src/db/ids';
import { findProposal } from '../../src/db/proposals';
import type { ProposalAction, VoteType } from '../../src/domain/proposal';
import { proposalPayload } from '../../src/domain/signing';
import type { MessageResult } from '../../src/temporal/messages';
// The seed of a run is printed, and TEST_SEED makes the run again.
import { SEED } from '../support/builders';
import { makeOrganization, serviceSettings, type TestOrganization } from '../support/service';
import { storeAccount } from '../workflows/world';

const RUNS = 20;
const LONGEST = 40;
const ADMINS_AT_FIRST = [0, 1, 2, 3];
const PEOPLE = 5;
const NETWORKS = [31337, 31338];
const LIFETIME_MS = 3_600_000;

let owner: Db;
let service: Db;
let activities: ReturnType<typeof createProposalActivities>;

beforeAll(async () => {
  const config = loadConfig(await serviceSettings());
  owner = createDatabase(config.databaseUrl, { poolMax: 2 });
  service = createDatabase(config.databaseUrl, { role: 'orgwallet_service', poolMax: 4 });
  const client = createChainClients(config.networks).get(config.signerNetworkId);
  if (!client) throw new Error('there is a network for contract signers');
  activities = createProposalActivities({
    db: service,
    networks: config.networks,
    identifyVoter: createIdentifyVoter(client),
    deriveAccount,
    readToken: async () => ({ ok: false, reason: 'no token is read here' }),
    refresh: async () => undefined,
    proposalLifetimeMs: LIFETIME_MS,
    maxOpenPerKey: 1_000,
  });
});
afterAll(() => Promise.all([owner, service].map((db) => db?.destroy())));

/** One thing that happens, as small numbers that fast-check shrinks well. `on` picks one of the proposals. */
type Step =
  | { do: 'propose'; kind: 'name' | 'account'; account: number }
  | { do: 'vote'; on: number; who: number; type: VoteType; how: 'right' | 'wrongPayload' | 'again' }
  /** Every admin votes, one after the other. */
  | { do: 'voteAll'; on: number; type: VoteType }
  | { do: 'execute'; on: number; type: VoteType; again: boolean }
  | { do: 'retry'; on: number }
  | { do: 'deployed'; on: number; network: number; ok: boolean }
  /** Every network decides, and the execution ends. */
  | { do: 'deployAll'; on: number; ok: readonly [boolean, boolean] }
  | { do: 'age' | 'expire' | 'finish'; on: number }
  | { do: 'leave' | 'join'; who: number }
  | { do: 'move'; who: number }
  | { do: 'threshold'; to: number };

const on = fc.nat({ max: 2 });
/** The last of the people is no member at all. */
const who = fc.nat({ max: PEOPLE });
const type = fc.constantFrom<VoteType>('approve', 'approve', 'approve', 'reject');
const only = <T extends string>(...values: T[]) => fc.constantFrom(...values);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ do: only('propose'), kind: only('name', 'account'), account: fc.nat({ max: 1 }) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: only('vote'),
      on,
      who,
      type,
      how: fc.constantFrom('right' as const, 'right' as const, 'right' as const, 'wrongPayload', 'again'),
    }),
  },
  { weight: 8, arbitrary: fc.record({ do: only('voteAll'), on, type }) },
  { weight: 9, arbitrary: fc.record({ do: only('execute'), on, type, again: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: only('retry'), on }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: only('deployAll'), on, ok: fc.tuple(fc.boolean(), fc.boolean()) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: only('deployed'), on, network: fc.nat({ max: 1 }), ok: fc.boolean() }),
  },
  {
    weight: 7,
    arbitrary: fc.record({ do: only('finish', 'expire', 'expire', 'age'), on }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: only('leave', 'join', 'join'), who: fc.nat({ max: PEOPLE - 1 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: only('move'), who: fc.nat({ max: PEOPLE - 1 }) }) },
  { weight: 2, arbitrary: fc.record({ do: only('threshold'), to: fc.integer({ min: 1, max: 3 }) }) },
);

/** A proposal as the rules of the product say that it must be. */
interface Modelled {
  readonly id: string;
  readonly action: ProposalAction;
  /** What a proposal of a name claims and changes. */
  readonly accountId: string | undefined;
  readonly name: string;
  /** `person/type/wallet` of each vote. */
  readonly votes: string[];
  status: 'processing' | 'completed' | 'rejected' | 'failed' | null;
  attempts: number;
  aged: boolean;
  expired: boolean;
  closed: boolean;
  claims: boolean;
  /** Of an account proposal, once it is carried out off chain. */
  deployments: ('pending' | 'completed' | 'failed')[];
  evidence: number;
  audit: string[];
  /** Who had approved and rejected, and the threshold, when it was frozen. */
  frozen: { approvals: string[]; rejections: string[]; threshold: number } | undefined;
}

/** An organization and its proposals, in the database and as a model, changed together and compared. */
class Pair {
  private readonly proposals: Modelled[] = [];
  private readonly admins = new Set(ADMINS_AT_FIRST);
  private readonly wallets: Address[];
  private readonly keys = new Map<Address, ReturnType<typeof privateKeyToAccount>>();
  private readonly names = new Map<string, string>();
  private threshold = 2;
  private last = new Map<string, string>();
  private executedWith = new Map<string, NonNullable<Modelled['frozen']>>();

  private constructor(
    private readonly org: TestOrganization,
    private readonly accountIds: readonly string[],
  ) {
    this.wallets = [...this.people.map(({ wallet }) => wallet.address), this.newWallet()];
    for (const { wallet } of this.people) this.keys.set(wallet.address, wallet);
    for (const id of accountIds) this.names.set(id, 'Before');
  }

  static async make(): Promise<Pair> {
    const org = await makeOrganization(owner);
    const accountIds = [await storeAccount(owner, org, 'Before'), await storeAccount(owner, org, 'Before')];
    // The address does not matter here: nothing is sent to a chain.
    await owner('signing_keys').insert({ organization_id: org.id, address: org.alice.wallet.address });
    return new Pair(org, accountIds);
  }

  private get people() {
    const { alice, bob, carol, bot, dave } = this.org;
    return [alice, bob, carol, bot, dave];
  }

  private newWallet(): Address {
    const account = privateKeyToAccount(generatePrivateKey());
    this.keys.set(account.address, account);
    return account.address;
  }

  private idOf(person: number): string {
    return this.people[person]?.id ?? 'nobody';
  }

  private walletOf(person: number): Address {
    const wallet = this.wallets[person];
    if (!wallet) throw new Error(`there is no person ${person}`);
    return wallet;
  }

  private pick(index: number): Modelled | undefined {
    return this.proposals.length === 0 ? undefined : this.proposals[index % this.proposals.length];
  }

  private counted(proposal: Modelled, type: VoteType): string[] {
    return [...this.admins]
      .filter((person) => proposal.votes.includes(`${person}/${type}/${this.walletOf(person)}`))
      .map((person) => this.idOf(person))
      .sort();
  }

  private standing(proposal: Modelled) {
    return {
      approvals: this.counted(proposal, 'approve'),
      rejections: this.counted(proposal, 'reject'),
      threshold: this.threshold,
    };
  }

  private ref(proposal: Modelled) {
    return { organizationId: this.org.id, proposalId: proposal.id };
  }

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case 'propose':
        return this.propose(step);
      case 'leave':
        // The rules of who may be an admin are those of admin proposals; here it only has to change.
        this.admins.delete(step.who);
        await owner('admin_set_members')
          .where({ member_id: this.idOf(step.who) })
          .delete();
        return;
      case 'join':
        this.admins.add(step.who);
        await owner('admin_set_members')
          .insert({ organization_id: this.org.id, member_id: this.idOf(step.who) })
          .onConflict(['organization_id', 'member_id'])
          .ignore();
        return;
      case 'move':
        this.wallets[step.who] = this.newWallet();
        await owner('members')
          .where({ id: this.idOf(step.who) })
          .update({ wallet_address: this.walletOf(step.who) });
        return;
      case 'threshold':
        this.threshold = step.to;
        await owner('admin_sets').where({ organization_id: this.org.id }).update({ threshold: step.to });
        return;
      default: {
        const proposal = this.pick(step.on);
        if (proposal) await this.takeOn(proposal, step);
      }
    }
  }

  private async takeOn(proposal: Modelled, step: Step): Promise<void> {
    switch (step.do) {
      case 'vote':
        return this.vote(proposal, step);
      case 'voteAll':
        for (const who of [...this.admins]) await this.vote(proposal, { who, type: step.type, how: 'right' });
        return;
      case 'execute':
        return this.execute(proposal, step);
      case 'retry':
        return this.execute(proposal, { type: 'approve', again: false, operator: true });
      case 'deployed':
        return this.deployed(proposal, step);
      case 'deployAll':
        for (const network of [0, 1])
          await this.deployed(proposal, { network, ok: step.ok[network] ?? false });
        return this.finish(proposal);
      case 'finish':
        return this.finish(proposal);
      case 'age':
        // What was signed stays signed; only time goes by.
        proposal.aged = true;
        await owner.raw(`UPDATE proposals SET expires_at = now() - interval '1 second' WHERE id = ?`, [
          proposal.id,
        ]);
        return;
      case 'expire':
        return this.expire(proposal);
    }
  }

  private async propose({ kind, account }: { kind: 'name' | 'account'; account: number }) {
    const id = newId('prop');
    const name = `Name ${this.proposals.length}`;
    const accountId = kind === 'name' ? this.accountIds[account] : undefined;
    const action = kind === 'name' ? 'update' : 'create';
    const requestId = randomUUID();
    const item = accountId === undefined ? { name, networkIds: NETWORKS } : { id: accountId, name };
    await owner('idempotency_requests').insert({
      id: requestId,
      organization_id: this.org.id,
      key: randomUUID(),
      api_key_id: this.org.adminKeyId,
      method: 'POST',
      path: `/api/v1/accounts/proposals/${action}`,
      request_hash: Buffer.alloc(32),
      body: JSON.stringify({ items: [item] }),
      resource_id: id,
      lease_owner: randomUUID(),
      lease_until: new Date(),
    });
    const input = {
      organizationId: this.org.id,
      proposalId: id,
      resourceType: 'accounts' as const,
      action: action as ProposalAction,
      requestId,
    };
    const result = await activities.createProposal(input);
    const claimed =
      accountId !== undefined && this.proposals.some((p) => p.claims && p.accountId === accountId);
    this.expectOutcome(result, claimed ? 'conflict' : undefined);
    if (claimed) {
      expect(await findProposal(owner, this.org.id, id)).toBeUndefined();
      return;
    }
    // The same create again finds its own effect.
    expect(await activities.createProposal(input)).toMatchObject({ ok: true, state: { proposalId: id } });
    this.proposals.push({
      id,
      action,
      accountId,
      name,
      votes: [],
      status: null,
      attempts: 0,
      aged: false,
      expired: false,
      closed: false,
      claims: accountId !== undefined,
      deployments: [],
      evidence: 0,
      audit: ['proposal.created'],
      frozen: undefined,
    });
  }

  private expectOutcome(result: MessageResult, refusal: string | undefined) {
    expect(result.ok ? undefined : result.refusal.code).toBe(refusal);
  }

  private settled({ status }: Modelled): boolean {
    return status === 'processing' || status === 'completed' || status === 'rejected';
  }

  private async vote(
    proposal: Modelled,
    { who, type, how }: { who: number; type: VoteType; how: 'right' | 'wrongPayload' | 'again' },
  ) {
    const record = await findProposal(owner, this.org.id, proposal.id);
    const { domain_salt: salt } = await owner('organizations')
      .where({ id: this.org.id })
      .first('domain_salt');
    if (!record) throw new Error('it is stored');
    const statement =
      (type === 'approve') === (how !== 'wrongPayload') ? 'ApproveProposal' : 'RejectProposal';
    const payload = proposalPayload(statement, salt, record);
    const wallet = this.walletOf(who);
    const signed = await this.keys.get(wallet)?.signTypedData(JSON.parse(payload));
    if (!signed) throw new Error('every wallet has a key');
    const messageId = (how === 'again' && this.last.get(proposal.id)) || randomUUID();
    const taken = messageId === this.last.get(proposal.id);
    const result = await activities.recordVote({
      ...this.ref(proposal),
      messageId,
      type,
      signature: encodeSignature(wallet, signed),
    });
    const vote = `${who}/${type}/${wallet}`;
    const refused = taken
      ? undefined
      : how === 'wrongPayload'
        ? 'invalidSignature'
        : !this.admins.has(who)
          ? 'forbidden'
          : this.settled(proposal)
            ? 'conflict'
            : proposal.closed || proposal.aged
              ? 'proposalExpired'
              : proposal.votes.includes(vote)
                ? 'conflict'
                : undefined;
    this.expectOutcome(result, refused);
    if (taken || refused !== undefined) return;
    proposal.votes.push(vote);
    proposal.audit.push('proposal.signed');
    this.last.set(proposal.id, messageId);
  }

  private async execute(
    proposal: Modelled,
    { type, again, operator = false }: { type: VoteType; again: boolean; operator?: boolean },
  ) {
    const messageId = randomUUID();
    const input = {
      ...this.ref(proposal),
      messageId,
      type,
      ...(operator ? { actor: 'operator' as const } : {}),
    };
    const standing = this.standing(proposal);
    const votes = type === 'approve' ? standing.approvals : standing.rejections;
    const partly = proposal.deployments.includes('completed');
    const refused = this.settled(proposal)
      ? 'conflict'
      : proposal.closed
        ? 'proposalExpired'
        : proposal.aged
          ? type === 'approve' && partly
            ? undefined
            : 'proposalExpired'
          : votes.length < this.threshold
            ? 'thresholdNotMet'
            : type === 'reject' && partly
              ? 'conflict'
              : undefined;
    const result = await activities.beginExecution(input);
    this.expectOutcome(
      result,
      refused ?? (operator && proposal.status !== 'failed' ? 'conflict' : undefined),
    );
    if (!result.ok) return;
    if (again) {
      expect(await activities.beginExecution(input)).toMatchObject({
        ok: true,
        state: { version: result.state.version },
      });
    }
    if (type === 'reject') {
      Object.assign(proposal, { status: 'rejected', closed: true, claims: false, frozen: standing });
      proposal.evidence += 1;
      proposal.audit.push('proposal.rejected');
      return;
    }
    proposal.attempts += 1;
    this.executedWith.set(proposal.id, standing);
    if (proposal.status === 'failed') {
      proposal.status = 'processing';
      proposal.deployments = proposal.deployments.map((d) => (d === 'failed' ? 'pending' : d));
      proposal.audit.push('proposal.executionRetried');
      return;
    }
    proposal.evidence += 1;
    if (proposal.accountId === undefined) {
      proposal.status = 'processing';
      proposal.deployments = NETWORKS.map(() => 'pending');
      proposal.audit.push('proposal.executionStarted');
      return;
    }
    Object.assign(proposal, { status: 'completed', closed: true, claims: false, frozen: standing });
    proposal.audit.push('proposal.executed');
    this.names.set(proposal.accountId, proposal.name);
  }

  private async deployed(proposal: Modelled, { network, ok }: { network: number; ok: boolean }) {
    const networkId = NETWORKS[network];
    const [row] = await owner('proposal_deployments').where({ proposal_id: proposal.id });
    if (!row || networkId === undefined) return;
    await activities.recordDeployment({
      ...this.ref(proposal),
      accountId: row.account_id,
      networkId,
      result: ok
        ? { status: 'completed', transactionHash: `0x${'ab'.repeat(32)}`, blockNumber: '7' }
        : { status: 'failed', failure: { code: 'funds', message: 'no coin' } },
    });
    if (proposal.deployments[network] === 'pending')
      proposal.deployments[network] = ok ? 'completed' : 'failed';
  }

  private async finish(proposal: Modelled) {
    await activities.finishExecution(this.ref(proposal));
    if (proposal.status !== 'processing' || proposal.deployments.includes('pending')) return;
    if (proposal.deployments.includes('failed')) {
      proposal.status = 'failed';
      proposal.audit.push('proposal.executionFailed');
      return;
    }
    proposal.frozen ??= this.executedWith.get(proposal.id);
    Object.assign(proposal, { status: 'completed', closed: true });
    proposal.audit.push('proposal.executed');
  }

  private async expire(proposal: Modelled) {
    await activities.expireProposal(this.ref(proposal));
    if (!proposal.aged || proposal.closed || proposal.expired || proposal.status === 'processing') return;
    proposal.expired = true;
    proposal.claims = false;
    proposal.closed = !proposal.deployments.includes('completed');
    proposal.frozen = this.standing(proposal);
    proposal.audit.push('proposal.expired');
  }

  private statusOf(proposal: Modelled): string {
    if (proposal.expired) return 'expired';
    if (!proposal.closed && proposal.aged && proposal.status !== 'processing') return 'expired';
    const { approvals, rejections, threshold } = proposal.frozen ?? this.standing(proposal);
    const approved = approvals.length >= threshold;
    const rejected = rejections.length >= threshold;
    if (approved) return rejected ? 'approvalAndRejectionReady' : 'approvalReady';
    return rejected ? 'rejectionReady' : 'pendingReviewSignatures';
  }

  /** The database is what the model is. */
  async compare(): Promise<void> {
    const [rows, votes, claims, evidence, accounts, audit] = await Promise.all([
      owner('proposals').where({ organization_id: this.org.id }).orderBy('position'),
      owner('proposal_votes').whereIn(
        'proposal_id',
        this.proposals.map(({ id }) => id),
      ),
      owner('proposal_claims').where({ organization_id: this.org.id }),
      owner('evidence').where({ organization_id: this.org.id }),
      owner('accounts').whereIn('id', [...this.accountIds]),
      owner('audit_log').where({ organization_id: this.org.id }).orderBy('position'),
    ]);
    expect(rows.map(({ id }) => id)).toEqual(this.proposals.map(({ id }) => id));
    expect(Object.fromEntries(accounts.map(({ id, name }) => [id, name]))).toEqual(
      Object.fromEntries(this.names),
    );
    const ids = (members: readonly { id: string }[]) => members.map(({ id }) => id).sort();
    for (const [index, proposal] of this.proposals.entries()) {
      const row = rows[index];
      const mine = (all: readonly { proposal_id: string }[]) =>
        all.filter((r) => r.proposal_id === proposal.id);
      const state = await activities.readProposal(this.ref(proposal));
      const standing = proposal.frozen ?? this.standing(proposal);
      expect({
        status: row.execution_status,
        closed: row.closed_at !== null,
        expired: row.expired_at !== null,
        attempts: row.execution_attempt,
        votes: mine(votes).length,
        claims: mine(claims).length,
        evidence: evidence.filter(({ subject_id }) => subject_id === proposal.id).length,
        deployments: state.deployments.map(({ status }) => status),
        signatureStatus: state.signatureStatus,
        approvals: ids(state.approvals),
        rejections: ids(state.rejections),
        threshold: state.threshold,
        audit: audit.filter(({ resource_id }) => resource_id === proposal.id).map(({ action }) => action),
      }).toEqual({
        status: proposal.status,
        closed: proposal.closed,
        expired: proposal.expired,
        attempts: proposal.attempts,
        votes: proposal.votes.length,
        claims: proposal.claims ? 1 : 0,
        evidence: proposal.evidence,
        deployments: proposal.deployments,
        signatureStatus: this.statusOf(proposal),
        approvals: standing.approvals,
        rejections: standing.rejections,
        threshold: standing.threshold,
        audit: proposal.audit,
      });
    }
  }

  /** Where each proposal has come to. */
  outcomes(): string[] {
    return this.proposals.map(({ status, expired }) => `${expired ? 'expired ' : ''}${status}`);
  }

  async finalCheck(): Promise<void> {
    expect(await verifyAudit(owner, this.org.id)).toMatchObject({ ok: true });
  }
}

test('whatever members and strangers do, in whatever order, the database is what the rules say', async () => {
  let steps = 0;
  const reached = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: LONGEST, size: 'max' }), async (sequence) => {
      const pair = await Pair.make();
      for (const kind of ['account', 'name', 'account'] as const) {
        await pair.take({ do: 'propose', kind, account: 0 });
      }
      for (const next of sequence) {
        await pair.take(next);
        await pair.compare();
        steps += 1;
      }
      await pair.finalCheck();
      for (const proposal of pair.outcomes()) reached.set(proposal, (reached.get(proposal) ?? 0) + 1);
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: false, interruptAfterTimeLimit: 45_000 },
  );
  process.stderr.write(`${steps} steps; proposals ended as ${JSON.stringify(Object.fromEntries(reached))}\n`);
});
