import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import pino from 'pino';
import { type Address, recoverAddress } from 'viem';
import type { ApprovalDeps } from '../../activities/approvals/executableSubject';
import { createLifecycleActivities, type ProposalActivities } from '../../activities/worker';
import { closeApproval } from '../../src/approvals/closing';
import { deriveAccount } from '../../src/chain/safeAccount';
import { hashTypedPayload } from '../../src/chain/typedData';
import { createIdentifyVoter } from '../../src/chain/voter';
import type { NetworkConfig } from '../../src/config';
import { BASE_PATH } from '../../src/contract/endpoint';
import { issueApiKey } from '../../src/credentials/apiKeys';
import { type AdminColumns, adminColumns, adminsInColumns } from '../../src/db/adminColumns';
import { verifyAudit } from '../../src/db/audit';
import { createDatabase, type Db } from '../../src/db/database';
import { newId } from '../../src/db/ids';
import { listProposals, readProposalNow } from '../../src/db/proposals';
import { queryNumbered, requireRow } from '../../src/db/rows';
import { type TimeColumn, timeColumn } from '../../src/db/storedApprovals';
import type { StoredProposal } from '../../src/db/storedProposals';
import { OPERATOR } from '../../src/domain/actor';
import {
  applyEdits,
  type Edit,
  type OrganizationState,
  type ResourceChange,
} from '../../src/domain/governance';
import { policyDefinitionSchema } from '../../src/domain/policy';
import {
  type ProposalAction,
  type ProposalContext,
  type ProposalState,
  proposalState,
  type ResourceType,
} from '../../src/domain/proposal';
import { type ProposalStatement, proposalPayload } from '../../src/domain/signing';
import { operationKindOf } from '../../src/operations';
import { openJournal } from '../../src/signer/journal/journal';
import { sealProposal } from '../../src/signer/seal';
import { createSignerContext, type SignerContext } from '../../src/signer/signerContext';
import type { MessageResult } from '../../src/temporal/messages';
import { foundOrganization } from '../../tools/dev/foundOrganization';
import type { Shown } from '../support/api';
import { writeDecided } from '../support/directDecisions';
import { testKeystore } from '../support/service';
import { createTestDatabase, temporaryDir } from '../support/stack';
import { storeRequest } from '../support/storedRequests';
import { bodyOf, byId, policyDefinition, sorted } from './operationBodies';
import { KEYS, type Key, NOBODY, signed, signerOf, WALLET_KEYS, walletOf } from './operationKeys';
import type { VoteType } from './operations.model';
import type { Member, PolicyContent, Request } from './organization.model';
import { expectProven } from './sealedProof';

/** The name of members who are in the tables only. */
export const INTRUDER = 'Intruder';
export const NETWORK_IDS = [11, 12, 13];
export const NO_NETWORK = 14;
const LIFETIME_MS = 3_600_000;
/** One evidence in so many has its signatures recovered by viem too, which is slow. */
const VIEM_EVERY = 20;

const networks: readonly NetworkConfig[] = NETWORK_IDS.map((id) => ({
  id,
  name: `Network ${id}`,
  rpcUrls: ['http://127.0.0.1:1'],
  signerRpcUrls: [],
  relayers: 1,
  nativeAsset: { symbol: 'ETH', name: 'Ether', decimals: 18 },
  confirmations: 1,
  maxFeePerGas: 1n,
}));

/** The activities on a database of their own, and what all organizations in it share. */
export interface Stage {
  readonly owner: Db;
  readonly service: Db;
  readonly deps: ApprovalDeps;
  readonly activities: ProposalActivities;
  readonly signer: SignerContext;
  /** Proposals whose workflows have been notified to read their record again. */
  readonly refreshed: Set<string>;
  /** A member of another organization. */
  readonly foreignId: string;
  readonly counts: Counts;
  end(): Promise<void>;
}

/** Anything is allowed, as in an organization that has just begun. */
export const FIRST_POLICY: PolicyContent = {
  name: 'Name 0',
  networkId: 11,
  accountIds: null,
  initiator: null,
  approver: null,
};

/** How often what happened. */
export class Counts {
  private readonly byName = new Map<string, number>();
  sequences = 0;
  steps = 0;

  add(what: string): void {
    this.byName.set(what, (this.byName.get(what) ?? 0) + 1);
  }

  of(what: string): number {
    return this.byName.get(what) ?? 0;
  }

  print(): void {
    const lines = [...this.byName].sort(([one], [two]) => (one < two ? -1 : 1));
    process.stderr.write(
      `${this.sequences} sequences, ${this.steps} steps\n${lines.map(([what, count]) => `  ${what}: ${count}\n`).join('')}`,
    );
  }
}

/** Makes a database with nothing in it but one foreign organization. */
export async function setStage(): Promise<Stage> {
  const database = await createTestDatabase();
  const owner = createDatabase(database.url, { poolMax: 4 });
  const service = createDatabase(database.serviceUrl, { poolMax: 8 });
  const signerDb = createDatabase(database.signerUrl, { poolMax: 4 });
  const refreshed = new Set<string>();
  const keystore = await testKeystore();
  const identifyVoter = createIdentifyVoter({ network: networks[0] as NetworkConfig, clients: [] });
  const deps: ApprovalDeps = {
    db: service,
    production: false,
    networks,
    identifyVoter,
    readToken: async () => ({ ok: false, reason: 'no token is read here' }),
    readWalletCode: async () => 'unknown',
    refresh: async ({ id }) => {
      refreshed.add(id);
    },
    proposalLifetimeMs: LIFETIME_MS,
    maxOpenPerKey: 1_000,
  };
  const journal = await openJournal({ file: join(temporaryDir(), 'journal'), waitMs: 0 });
  const foreign = await foundOrganization(
    { db: service, signerDb, keystore },
    {
      name: 'Others',
      threshold: 1,
      members: [{ name: 'Other', type: 'api', admin: true, wallet: walletOf(NOBODY) }],
    },
  );
  return {
    owner,
    service,
    deps,
    activities: createLifecycleActivities(deps),
    signer: createSignerContext({
      db: signerDb,
      production: false,
      keystore,
      journal,
      networks,
      identifyVoter,
      maxGas: 1n,
      gasBudgetPerHour: 1n,
      proposalLifetimeMs: 7 * 24 * 3_600_000,
      logger: pino({ level: 'silent' }),
      countRefusal: () => undefined,
      countUnknownExecution: () => undefined,
    }),
    refreshed,
    foreignId: foreign.memberIds[0] ?? '',
    counts: new Counts(),
    async end() {
      await journal.close();
      await Promise.all([service, signerDb, owner].map((db) => db.destroy()));
      await database.drop();
    },
  };
}

const READ_ORGANIZATION = `SELECT
  (SELECT coalesce(json_agg(json_build_object('id', id, 'name', name, 'type', type, 'walletAddress', wallet_address,
      'walletKind', wallet_kind)
      ORDER BY id), '[]') FROM members WHERE organization_id = $1 AND removed_at IS NULL) AS members,
  (SELECT coalesce(json_agg(json_build_object('id', id, 'name', name, 'memberIds',
      (SELECT coalesce(json_agg(member_id ORDER BY member_id), '[]') FROM group_members WHERE group_id = groups.id))
      ORDER BY id), '[]') FROM groups WHERE organization_id = $1 AND deleted_at IS NULL) AS groups,
  (SELECT coalesce(json_agg(json_build_object('id', id, 'name', name, 'definition', definition) ORDER BY id), '[]')
    FROM policies WHERE organization_id = $1 AND removed_at IS NULL) AS policies,
  (SELECT coalesce(json_agg(json_build_object('id', id, 'name', name, 'address', address, 'networkIds',
      (SELECT coalesce(json_agg(network_id ORDER BY network_id), '[]') FROM account_networks WHERE account_id = accounts.id))
      ORDER BY id), '[]') FROM accounts WHERE organization_id = $1) AS accounts,
  (SELECT threshold FROM admin_sets WHERE organization_id = $1) AS threshold,
  (SELECT id FROM admin_sets WHERE organization_id = $1) AS "adminsId",
  (SELECT state::json FROM sealed_states WHERE organization_id = $1) AS sealed,
  o.projected_sequence::int AS "projectedSequence",
  (SELECT coalesce(json_agg(member_id ORDER BY member_id), '[]') FROM admin_set_members
    WHERE organization_id = $1) AS "adminIds",
  (SELECT coalesce(json_agg(json_build_array(approval_id, claim) ORDER BY claim), '[]') FROM claims
    WHERE organization_id = $1) AS claims,
  (SELECT coalesce(json_agg(json_build_object('id', id, 'proposalId', approval_id, 'resolution', resolution,
      'payload', payload, 'signatures', signatures, 'admins', electorate->'admins', 'threshold', threshold) ORDER BY id), '[]')
    FROM evidence WHERE organization_id = $1 AND id > $2) AS evidence,
  (SELECT coalesce(json_agg(json_build_object('action', action, 'resourceId', resource_id, 'details', details)
      ORDER BY position), '[]') FROM audit_log WHERE organization_id = $1 AND position > $3) AS audit,
  o.domain_salt AS "domainSalt", ${timeColumn}, ${adminColumns('s')}
  FROM organizations o JOIN admin_sets s ON s.organization_id = o.id WHERE o.id = $1`;

/** One outcome and what it was based on. */
interface Evidence {
  readonly id: number;
  readonly proposalId: string;
  readonly resolution: 'approved' | 'rejected';
  readonly payload: string;
  readonly signatures: readonly {
    readonly memberId: string;
    readonly signerAddress: string;
    readonly signature: string;
  }[];
  readonly admins: readonly Member[];
  readonly threshold: number;
}

/** An organization as the database has it; `evidence` and `audit` only what came since the last look. */
export interface Snapshot {
  readonly members: readonly Member[];
  readonly groups: readonly {
    readonly id: string;
    readonly name: string;
    readonly memberIds: readonly string[];
  }[];
  readonly policies: readonly {
    readonly id: string;
    readonly name: string;
    readonly definition: Shown;
  }[];
  readonly accounts: readonly {
    readonly id: string;
    readonly name: string;
    readonly address: string;
    readonly networkIds: readonly number[];
  }[];
  readonly adminsId: string;
  /** What the signer has sealed. */
  readonly sealed: OrganizationState;
  /** How many of its decisions are in these tables. */
  readonly projectedSequence: number;
  readonly threshold: number;
  readonly adminIds: readonly string[];
  readonly claims: readonly (readonly [string, string])[];
  readonly evidence: readonly Evidence[];
  readonly audit: readonly {
    readonly action: string;
    readonly resourceId: string;
    readonly details: Shown;
  }[];
  readonly domainSalt: string;
  /** In the order of their creation. */
  readonly proposals: readonly StoredProposal[];
  readonly now: ProposalContext;
}

/** Fails with a readable difference, but costs little when there is none. */
export function expectSame(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
}

/** An organization in the database, and what is done to it. */
export class World {
  private evidenceSeen = 0;
  private auditSeen = 0;
  private readonly apiKeyId: string;
  readonly organizationId: string;
  last: Snapshot;

  private constructor(
    readonly stage: Stage,
    private readonly made: {
      readonly organizationId: string;
      readonly apiKeyId: string;
      readonly firstChanges: readonly ResourceChange[];
    },
    first: Snapshot,
  ) {
    this.organizationId = made.organizationId;
    this.apiKeyId = made.apiKeyId;
    this.last = first;
    this.auditSeen = first.audit.length;
  }

  /** Three persons and a bot who are admins, two of whom decide; two more members, a group, a policy and an account. */
  static async make(stage: Stage): Promise<World> {
    const { owner, service, signer } = stage;
    const { organizationId, memberIds } = await foundOrganization(
      { db: service, signerDb: signer.db, keystore: signer.keystore },
      {
        name: 'Test Organization',
        threshold: 2,
        members: ['Alice', 'Bob', 'Carol', 'Bot', 'Dave', 'Other Bot'].map((name, i) => ({
          name,
          type: name.endsWith('Bot') ? 'api' : 'user',
          admin: i < 4,
          wallet: walletOf(requireRow(WALLET_KEYS[i])),
        })),
      },
    );
    const founders = [memberIds[0], memberIds[4]].map(requireRow);
    const firstChanges = await decideFirst(stage, organizationId, founders);
    const bot = memberIds[3] ?? '';
    const { id: apiKeyId } = await owner.transaction((tx) =>
      issueApiKey(tx, { organizationId, memberIds: [bot], actor: OPERATOR }),
    );
    const first = await readSnapshot(stage, organizationId, { evidence: 0, audit: 0 });
    return new World(stage, { organizationId, apiKeyId, firstChanges }, first);
  }

  /** The same organization as it was seen last, with other activities. */
  with(activities: ProposalActivities): World {
    return new World({ ...this.stage, activities }, this.made, this.last);
  }

  /** Looks at the organization again. */
  async look(): Promise<Snapshot> {
    const before = this.last;
    const now = await readSnapshot(this.stage, this.organizationId, {
      evidence: this.evidenceSeen,
      audit: this.auditSeen,
    });
    this.evidenceSeen = Math.max(this.evidenceSeen, ...now.evidence.map(({ id }) => id));
    this.auditSeen += now.audit.length;
    this.last = now;
    await expectInvariants(before, now);
    return now;
  }

  record(proposalId: string): StoredProposal {
    const record = this.last.proposals.find(({ id }) => id === proposalId);
    if (!record) throw new Error(`proposal ${proposalId} has not been seen`);
    return record;
  }

  private ref(id: string) {
    return { subject: 'proposal' as const, organizationId: this.organizationId, id };
  }

  /** Proposes as the API does: stores the request, then creates what it asks for. Answers the refusal, if any. */
  async propose(request: Request): Promise<{ id: string; refusal: string | undefined }> {
    const { owner, activities } = this.stage;
    const id = newId('prop');
    const [resourceType, action] = request.kind.split('/') as [ResourceType, ProposalAction];
    const json = bodyOf(request);
    const path =
      resourceType === 'policies' && action !== 'remove'
        ? '/policies/proposals'
        : `/${resourceType}/proposals/${action}`;
    const endpoint = operationKindOf(resourceType, action).requests.find(
      (candidate) => candidate.path === path,
    );
    if (!endpoint) throw new Error(`nothing is proposed at ${path}`);
    const parsed = endpoint.body.safeParse(json);
    if (!parsed.success) return { id, refusal: 'validationError' };
    const requestId = await storeRequest(owner, {
      ...{ organizationId: this.organizationId, credentialId: this.apiKeyId },
      ...{ path: `${BASE_PATH}${path}`, body: parsed.data as object, resourceId: id },
    });
    const result = await activities.createApproval({ ...this.ref(id), resourceType, action, requestId });
    if (!result.ok) return { id, refusal: result.refusal.code };
    expect(result.state).toEqual(await activities.readApproval(this.ref(id)));
    return { id, refusal: undefined };
  }

  /** Sends a signature. */
  async recordVote(
    proposalId: string,
    type: VoteType,
    by: {
      readonly signer: Address;
      readonly key?: Key;
      readonly statement?: ProposalStatement;
      readonly content?: Partial<StoredProposal>;
      readonly messageId?: string;
      readonly execute?: boolean;
    },
  ): Promise<MessageResult<ProposalState>> {
    const statement = by.statement ?? (type === 'approve' ? 'ApproveProposal' : 'RejectProposal');
    const record = { ...this.record(proposalId), ...by.content };
    const payload = proposalPayload(statement, this.last.domainSalt, record);
    const key = by.key ?? KEYS.get(by.signer);
    if (!key) throw new Error(`nobody has the key of ${by.signer}`);
    return this.stage.activities.recordVote({
      ...this.ref(proposalId),
      messageId: by.messageId ?? randomUUID(),
      type,
      signature: signed(payload, key, by.signer),
      ...(by.execute === undefined ? {} : { execute: by.execute }),
    });
  }

  /** The same; returns why it was refused. */
  async vote(...vote: Parameters<World['recordVote']>): Promise<string | undefined> {
    const result = await this.recordVote(...vote);
    return result.ok ? undefined : result.refusal.code;
  }

  /** Wishes for an outcome: the execution begins, the signer seals it, and the worker writes what is sealed. */
  async execute(
    proposalId: string,
    type: VoteType,
    options: { readonly again?: boolean; readonly byOperator?: boolean; readonly begun?: ProposalState } = {},
  ): Promise<{ readonly refusal: string | undefined; readonly noted: boolean }> {
    const { activities } = this.stage;
    const { begun } = options;
    const input = {
      ...this.ref(proposalId),
      messageId: randomUUID(),
      type,
      ...(options.byOperator ? { actor: 'operator' as const } : {}),
    };
    const result = begun ? ({ ok: true, state: begun } as const) : await activities.beginExecution(input);
    if (!result.ok) return { refusal: result.refusal.code, noted: false };
    const { state } = result;
    if (options.again) {
      const again = await activities.beginExecution(input);
      expectSame(again.ok && again.state.version, state.version);
    }
    const isToBeSealed = state.executionStatus === 'processing' && !state.applied;
    const noted = isToBeSealed && (await this.seal(proposalId, state, options.again === true));
    return { refusal: undefined, noted };
  }

  /** Has a decision sealed and written. Returns whether others may have notes of it. */
  private async seal(proposalId: string, { version }: ProposalState, again: boolean): Promise<boolean> {
    const { activities, signer } = this.stage;
    const key = { organizationId: this.organizationId, id: proposalId };
    if (again) {
      // Nobody but the signer can say that something is sealed.
      const early = await activities.applySeal({ ...key, result: { sealed: 1 } });
      expectSame([early.state.executionStatus, early.state.version], ['processing', version]);
    }
    const result = await sealProposal(signer, key);
    if (again) expectSame(await sealProposal(signer, key), result);
    const { state, noted } = await activities.applySeal({ ...key, result });
    if (again) {
      const repeated = await activities.applySeal({ ...key, result });
      expectSame(repeated.state.version, state.version);
    }
    return noted;
  }

  /** Notifies the workflows of the proposals that an execution was noted on. Returns which. */
  async refreshNoted(proposalId: string): Promise<ReadonlySet<string>> {
    const { activities, refreshed } = this.stage;
    refreshed.clear();
    await activities.refreshNoted(this.ref(proposalId));
    return refreshed;
  }

  async deploy(
    proposalId: string,
    { accountId, networkId }: { readonly accountId: string; readonly networkId: number },
    ok: boolean,
  ): Promise<void> {
    await this.stage.activities.recordDeployment({
      organizationId: this.organizationId,
      proposalId,
      accountId,
      networkId,
      result: ok
        ? { status: 'completed', transactionHash: `0x${'ab'.repeat(32)}`, blockNumber: '7' }
        : { status: 'failed', failure: { code: 'relayerFunds', message: 'insufficient funds' } },
    });
  }

  async finish(proposalId: string): Promise<void> {
    await this.stage.activities.finishDeployments(this.ref(proposalId));
  }

  /** Lets the time of a proposal pass. */
  async age(proposalId: string): Promise<void> {
    await this.stage.owner.raw(
      `UPDATE approvals SET expires_at = date_trunc('second', now()) - interval '1 second' WHERE id = ?`,
      [proposalId],
    );
  }

  async expire(proposalId: string): Promise<void> {
    await this.stage.activities.expireApproval(this.ref(proposalId));
  }

  async close(proposalId: string): Promise<boolean> {
    const { resourceType, action } = this.record(proposalId);
    const ref = { ...this.ref(proposalId), resourceType, action };
    return closeApproval(this.stage.service, ref, {
      reason: 'its workflow was terminated',
      mayClose: ({ record, isPartlyDone }) => record.executionStatus !== 'processing' && !isPartlyDone,
    });
  }

  async intrude(member: Member): Promise<void> {
    await this.stage.owner('members').insert({
      id: member.id,
      organization_id: this.organizationId,
      name: member.name,
      type: member.type,
      wallet_address: member.walletAddress,
      position: 0,
    });
  }

  /** What only has to hold in the end. */
  async expectSound(): Promise<void> {
    const { owner, signer } = this.stage;
    await expectProven(
      { db: owner, sealKey: signer.keystore.sealKey(this.organizationId).address },
      this.organizationId,
      this.made.firstChanges,
    );
    expect(await verifyAudit(owner, this.organizationId)).toMatchObject({ ok: true });
    const open = await listProposals(owner, {
      organizationId: this.organizationId,
      status: 'open',
      limit: 1_000,
    });
    const { time } = await readProposalNow(owner, this.organizationId);
    const states = this.last.proposals.filter(
      (record) => proposalState(record, { ...this.last.now, time }).open,
    );
    expectSame(open.map(({ id }) => id).sort(), states.map(({ id }) => id).sort());
  }
}

/** Decides about the first group, account and policy as if the founders had. */
async function decideFirst(
  { owner, signer: { keystore } }: Stage,
  organizationId: string,
  groupMembers: readonly string[],
): Promise<readonly ResourceChange[]> {
  const networkId = requireRow(NETWORK_IDS[0]);
  const [groupId, accountId, policyId] = [newId('grp'), newId('acc'), newId('pol')];
  const changesOf = (state: OrganizationState): readonly ResourceChange[] => {
    const { address } = deriveAccount(state.signingKey, accountId);
    const edits: Edit[] = [
      {
        type: 'group',
        id: groupId,
        after: { id: groupId, name: 'Name 0', memberIds: [...groupMembers].sort() },
      },
      {
        type: 'account',
        id: accountId,
        after: { id: accountId, name: 'Name 0', address, networkIds: [networkId] },
      },
      {
        type: 'policy',
        id: policyId,
        after: {
          id: policyId,
          definition: policyDefinitionSchema.parse(policyDefinition(FIRST_POLICY)),
        },
      },
    ];
    // They belong to the state that the organization begins with.
    const first = applyEdits({ ...state, sequence: -1 }, edits);
    if (!first.ok) throw new Error(first.refusal.message);
    return first.value.changes;
  };
  return owner.transaction(async (tx) => {
    const changes = await writeDecided(tx, keystore, organizationId, changesOf);
    await tx('account_networks').insert({ account_id: accountId, network_id: networkId });
    return changes;
  });
}

type SnapshotColumns = Omit<Snapshot, 'proposals' | 'now'> & AdminColumns & TimeColumn;

async function readSnapshot(
  { owner }: Stage,
  organizationId: string,
  since: { readonly evidence: number; readonly audit: number },
): Promise<Snapshot> {
  const [[found], proposals] = await Promise.all([
    queryNumbered<SnapshotColumns>(owner, READ_ORGANIZATION, [organizationId, since.evidence, since.audit]),
    listProposals(owner, { organizationId, limit: 1_000 }),
  ]);
  const row = requireRow(found);
  return { ...row, proposals: proposals.reverse(), now: { time: row.read_at, admins: adminsInColumns(row) } };
}

let evidenceCount = 0;

/** The tables show what is sealed, resource by resource; an intruder is nothing but a row. */
function expectProjected(now: Snapshot): void {
  const { sealed } = now;
  const withoutRevision = <T extends { readonly id: string; readonly revision: number }>(of: {
    readonly [id: string]: T;
  }) =>
    Object.values(of)
      .map(({ revision: _, ...resource }) => resource)
      .sort(byId);
  const decided = new Set(Object.keys(sealed.members));
  expectSame(
    sorted({
      sequence: now.projectedSequence,
      members: now.members.filter(({ id, name }) => decided.has(id) || name !== INTRUDER),
      groups: now.groups,
      policies: now.policies.map(({ id, name, definition }) => ({ id, definition: { ...definition, name } })),
      accounts: now.accounts.map(({ networkIds: _, ...account }) => account),
      admins: { id: now.adminsId, memberIds: now.adminIds, threshold: now.threshold },
    }),
    sorted({
      sequence: sealed.sequence,
      members: withoutRevision(sealed.members),
      groups: withoutRevision(sealed.groups),
      policies: withoutRevision(sealed.policies),
      accounts: withoutRevision(sealed.accounts).map(({ networkIds: _, ...account }) => account),
      admins: withoutRevision({ admins: sealed.admins })[0],
    }),
  );
  for (const { id, networkIds } of now.accounts) {
    expect(sealed.accounts[id]?.networkIds).toEqual(expect.arrayContaining([...networkIds]));
  }
}

/** What holds whatever the model says, after one step or after several at once. */
async function expectInvariants(before: Snapshot, now: Snapshot): Promise<void> {
  expectProjected(now);
  const memberIds = new Set(now.members.map(({ id }) => id));
  const admins = now.members.filter(({ id }) => now.adminIds.includes(id));
  expectSame(
    {
      adminsAreMembers: admins.length === now.adminIds.length,
      thresholdIsInRange: now.threshold >= 1 && now.threshold <= admins.length,
      aBotIsAdmin: admins.some(({ type }) => type === 'api'),
      walletsDiffer: new Set(now.members.map((m) => m.walletAddress.toLowerCase())).size,
      groupsHaveMembers: now.groups.every((group) => group.memberIds.every((id) => memberIds.has(id))),
    },
    {
      adminsAreMembers: true,
      thresholdIsInRange: true,
      aBotIsAdmin: true,
      walletsDiffer: now.members.length,
      groupsHaveMembers: true,
    },
  );
  const open = new Map(
    now.proposals.filter(({ closed, finalTally: frozen }) => !closed && !frozen).map((p) => [p.id, p]),
  );
  expectSame(
    now.claims.filter(([proposalId]) => !open.has(proposalId)),
    [],
  );
  const queued = now.proposals.filter(({ resourceType, closed }) => resourceType === 'admins' && !closed);
  expect(queued.length).toBeLessThanOrEqual(1);
  // Who decided at some time during the step: the admins before it, and those that it made.
  const sets = [
    { threshold: before.threshold, memberIds: [...before.adminIds] },
    ...now.audit.filter(({ action }) => action === 'admins.updated').map(({ details }) => details.after),
  ].map(({ threshold, memberIds: ids }) => JSON.stringify([threshold, [...ids].sort()]));
  for (const evidence of now.evidence) {
    const record = now.proposals.find(({ id }) => id === evidence.proposalId);
    if (!record) throw new Error('there is evidence of no proposal');
    const approved = evidence.resolution === 'approved';
    const statement = approved ? 'ApproveProposal' : 'RejectProposal';
    expectSame(evidence.payload, proposalPayload(statement, now.domainSalt, record));
    expect(sets).toContain(JSON.stringify([evidence.threshold, evidence.admins.map(({ id }) => id).sort()]));
    expect(evidence.signatures.length).toBeGreaterThanOrEqual(evidence.threshold);
    expectSame(new Set(evidence.signatures.map(({ memberId }) => memberId)).size, evidence.signatures.length);
    const hash = hashTypedPayload(evidence.payload);
    for (const { memberId, signerAddress, signature } of evidence.signatures) {
      const { claimed, bytes, found } = signerOf(hash, signature);
      const admin = evidence.admins.find(({ id }) => id === memberId);
      expectSame([admin?.walletAddress, claimed, signerAddress], [found, found, found]);
      evidenceCount += 1;
      if (evidenceCount % VIEM_EVERY === 0) {
        expectSame(await recoverAddress({ hash, signature: bytes }), found);
      }
    }
  }
  for (const { id, executionStatus, result, closed } of before.proposals) {
    if (!closed) continue;
    const later = now.proposals.find((proposal) => proposal.id === id);
    expectSame([later?.executionStatus, later?.result, later?.closed], [executionStatus, result, true]);
  }
}
