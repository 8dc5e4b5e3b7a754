/** @deep */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { auditFreezes } from '../../activities/reconciler/freezes';
import { type ChainClient, createChainClient } from '../../src/chain/clients';
import { checkAuthorizations } from '../../src/cli/doctor/authorizationChecks';
import { checkBlockTime } from '../../src/cli/doctor/clockChecks';
import { compareFindings } from '../../src/cli/doctor/journalChecks';
import type { NetworkConfig } from '../../src/config';
import { createDatabase } from '../../src/db/database';
import { readInstallationId } from '../../src/db/installation';
import { requireRow } from '../../src/db/rows';
import { openJournal } from '../../src/signer/journal/journal';
import { readJournal } from '../../src/signer/journal/journalReader';
import { readJournaledRecord } from '../../src/signer/store/journaledRecords';
import {
  decideAuthorizations,
  insertAuthorization,
  insertRejection,
} from '../../src/signer/store/signedAuthorizations';
import { approvalWorkflowId } from '../../src/temporal/ids';
import { usageOf } from '../../src/transactions/policy';
import { carryOut, makeAccount, propose, type Shown } from '../support/api';
import { aHash, anAddress } from '../support/builders';
import { startTestService, type TestOrganization, type TestService } from '../support/service';
import {
  fundOnLocalChain,
  networksFile,
  rpc,
  sharedStack,
  startOwnChain,
  temporaryDir,
} from '../support/stack';
import { storeAttempt, storeEnvelope, storeTransactionOf, storeUsage } from '../support/storedTrails';
import type { StoredWith } from '../support/storedTransactions';
import { itDeep } from '../support/suite';
import {
  aTransactionBody,
  executeTransaction,
  initiate,
  makePolicies,
  settledTransaction,
} from '../support/transactionApi';
import { NETWORK_ID } from '../support/transactions';
import { until } from '../support/until';
import { command, json, refused, words } from './command';

/** Where a Safe 1.4.1 keeps its nonce. */
const NONCE_SLOT = 5;

const ANYTHING = {
  ...{ name: 'Anything', type: 'AUTO_APPROVAL', transactionType: 'ANY', networkId: NETWORK_ID },
  ...{ accountIds: null, initiatorSetting: null },
};

let own: Awaited<ReturnType<typeof startOwnChain>>;
let service: TestService;
let env: NodeJS.ProcessEnv;
let org: TestOrganization;

beforeAll(async () => {
  own = await startOwnChain(NETWORK_ID);
  const networks: { id: number }[] = JSON.parse(readFileSync(sharedStack().networksFile, 'utf8'));
  const { rpcUrl } = own.current;
  const file = networksFile(networks.map((one) => (one.id === NETWORK_ID ? { ...one, rpcUrl } : one)));
  service = await startTestService({
    env: { TEMPORAL_UI_URL: 'http://127.0.0.1:8233/', NETWORKS_FILE: file },
  });
  env = service.env;
});
beforeEach(async () => {
  org = await service.createOrganization();
});
// What is stored is on no chain and has no workflow: nothing of it is left to the next test.
afterEach(async () => {
  const { db } = service;
  await db('approvals').where({ subject: 'transaction', closed_at: null }).update({ closed_at: db.fn.now() });
  await db('policy_usage')
    .where({ status: 'reserved' })
    .update({ status: 'released', decided_at: db.fn.now() });
  await db('account_networks').delete();
});
afterAll(async () => {
  await service?.stop();
  await own?.stop();
});

const failure = (change: object = {}) => ({
  failure: JSON.stringify({
    code: 'reverted',
    message: 'it reverts: ERC20: transfer amount exceeds balance',
    at: '2025-06-02T00:00:00.000Z',
    attempt: 1,
    ...change,
  }),
});

const store = (columns: object = {}, more: StoredWith = {}) =>
  storeTransactionOf(service.db, org, more, columns);
const ids = (list: Shown[]) => list.map(({ id }) => id);

describe('transactions list', () => {
  it('shows the newest first with the status of each, of one organization or of all', async () => {
    expect(await json(env, 'transactions', 'list', '--org', org.id)).toEqual([]);
    expect(await words(env, 'transactions', 'list', '--org', org.id)).toBe('There are no transactions.\n');
    const first = await store({ position: 1 });
    const references = { externalId: 'invoice-9', tags: ['rent'], metadata: { costCenter: '4711' } };
    const second = await store(
      { position: 2, execution_status: 'processing', waiting_for: 'a block' },
      { references },
    );
    const own = await json(env, 'transactions', 'list', '--org', org.id);
    expect(ids(own)).toEqual([second.id, first.id]);
    expect(own[0]).toMatchObject({ organizationId: org.id, executionStatus: 'processing', failure: null });
    expect(ids(await json(env, 'transactions', 'list')).slice(0, 2)).toEqual([second.id, first.id]);
    const text = await words(env, 'transactions', 'list', '--org', org.id);
    expect(text).toMatch(
      new RegExp(`^${second.id} .*transfer .* Being executed\\. Waiting: a block\\.`, 'm'),
    );
    expect(text).toMatch(new RegExp(`^${first.id} .*Waits for the signature of its initiator`, 'm'));
    const found = await json(env, 'transactions', 'list', '--external-id', 'invoice-9', '--org', org.id);
    expect([ids(found), found[0].externalId]).toEqual([[second.id], 'invoice-9']);
    expect(await words(env, 'transactions', 'show', second.id)).toContain(
      'External id: invoice-9\n\nTags: rent\n\nMetadata: costCenter: 4711',
    );
    expect(await refused(env, 'transactions', 'list', '--org', 'org_none')).toBe(
      'organization org_none not found\n',
    );
  });

  it('--failed shows those to retry, and none that is closed or expired', async () => {
    const failed = await store({ position: 1, execution_status: 'failed', ...failure() });
    const blocked = await store({
      position: 2,
      execution_status: 'blocked',
      ...failure({ code: 'budget', message: '5 of 5 spent' }),
    });
    await store({ position: 3, execution_status: 'processing' });
    await store({ position: 4, execution_status: 'failed', ...failure(), closed_at: new Date() });
    await store({ position: 5, execution_status: 'failed', ...failure() }, { expiresAt: new Date(0) });
    expect(ids(await json(env, 'transactions', 'list', '--failed', '--org', org.id))).toEqual([
      blocked.id,
      failed.id,
    ]);
    const text = await words(env, 'transactions', 'list', '--failed', '--org', org.id);
    expect(text).toMatch(new RegExp(`^${failed.id} .*waits for a retry.*exceeds balance`, 'm'));
    expect(text).toMatch(new RegExp(`^${blocked.id} .*refused the execution.*5 of 5 spent`, 'm'));
  });
});

describe('transactions show', () => {
  it('shows the transaction, its initiator, policy and signatures, and the link to its workflow', async () => {
    const stored = await store({}, { description: 'rent for June' });
    const workflowId = approvalWorkflowId({ subject: 'transaction', organizationId: org.id, id: stored.id });
    const link = `http://127.0.0.1:8233/namespaces/default/workflows/${encodeURIComponent(workflowId)}`;
    expect(await json(env, 'transactions', 'show', stored.id)).toMatchObject({
      id: stored.id,
      organizationId: org.id,
      status: 'Waits for the signature of its initiator.',
      open: true,
      attempts: [],
      usage: [],
      votes: [],
      workflowId,
      temporalUiUrl: link,
    });
    const text = await words(env, 'transactions', 'show', stored.id);
    for (const part of [
      stored.summary.replaceAll('\n', '; '),
      stored.accountId,
      `${stored.policyId} "Everything`,
      '"Dave"',
      'rent for June',
      'No signatures yet.',
      'No attempt has been signed.',
      'No budget usage.',
      link,
    ]) {
      expect(text).toContain(part);
    }
  });

  it('shows every attempt with its envelopes, and its budget usage', async () => {
    const stored = await store({ execution_status: 'processing', waiting_for: '1 of 2 confirmations' });
    const { db } = service;
    const relayerAddress = '0x00000000000000000000000000000000000000Aa';
    const first = await storeAttempt(db, stored, {
      outcome: 'reverted',
      outcome_hash: '0xdead',
      block_number: 7,
      decided_at: db.fn.now(),
    });
    const mined = await storeEnvelope(
      db,
      { attemptId: first, relayerAddress },
      { outcome: 'mined', decided_at: db.fn.now(), sent_at: db.fn.now() },
    );
    const second = await storeAttempt(db, stored, { kind: 'cancellation', confirmations: 1 });
    const dropped = await storeEnvelope(
      db,
      { attemptId: second, relayerAddress },
      { relayer_nonce: 1, outcome: 'dropped', decided_at: db.fn.now(), sent_at: db.fn.now() },
    );
    const live = await storeEnvelope(
      db,
      { attemptId: second, relayerAddress },
      { relayer_nonce: 1, max_fee_per_gas: 5_500_000_000 },
    );
    await storeUsage(db, stored, { status: 'released', decided_at: db.fn.now() });
    await storeUsage(db, stored);

    const shown = await json(env, 'transactions', 'show', stored.id);
    expect(shown.attempts).toMatchObject([
      { kind: 'transaction', safeNonce: '0', outcome: 'reverted', blockNumber: '7', envelopes: [{}] },
      {
        kind: 'cancellation',
        safeNonce: '0',
        outcome: null,
        confirmations: 1,
        envelopes: [
          { transactionHash: dropped, relayerNonce: '1', outcome: 'dropped' },
          { transactionHash: live, maxFeePerGas: '5500000000', sentAt: null, outcome: null },
        ],
      },
    ]);
    expect(shown.usage).toMatchObject([{ status: 'released' }, { status: 'reserved', amount: '1' }]);

    const text = await words(env, 'transactions', 'show', stored.id);
    expect(text).toMatch(new RegExp(`transaction +0 +reverted in block 7 +${mined} +0 of ${relayerAddress}`));
    expect(text).toMatch(
      new RegExp(`cancellation +0 +undecided, 1 confirmations +${dropped} .* dropped$`, 'm'),
    );
    expect(text).toMatch(
      new RegExp(`^ +${live} +1 of ${relayerAddress} +5.5 gwei +not yet +undecided$`, 'm'),
    );
    expect(text).toMatch(/^released +0\.0{17}1 "ETH" +0x0{40} /m);
    expect(text).toMatch(/^reserved +0\.0{17}1 "ETH" +0x0{40} /m);
    expect(text).toContain(`Cancel: ./orgwallet transactions cancel ${stored.id}`);
    expect(text).not.toContain('Retry:');
  });

  it('shows why it failed, what to do, and how to retry', async () => {
    const stored = await store({ execution_status: 'failed', ...failure() });
    const text = await words(env, 'transactions', 'show', stored.id);
    expect(text).toContain('Failure: reverted, attempt 1');
    expect(text).toContain('exceeds balance');
    expect(text).toMatch(/What to do: .*nothing was sent/);
    expect(text).toContain(`Retry: ./orgwallet transactions retry ${stored.id}`);
  });

  it.each([
    ['show', 'txn_none'],
    ['retry', 'txn_01jz8k3v5fe5ht0n2m6w9r4xyz'],
    ['cancel', 'txn_01jz8k3v5fe5ht0n2m6w9r4xyz'],
  ])('%s is refused for %s, which does not exist', async (verb, id) => {
    expect(await refused(env, 'transactions', verb, id)).toBe(`transaction ${id} not found\n`);
  });

  it.each(['retry', 'cancel'])('%s of what is closed is refused', async (verb) => {
    const { id } = await store({ closed_at: new Date(), execution_status: 'failed', ...failure() });
    expect(await refused(env, 'transactions', verb, id)).toMatch(
      new RegExp(`^transaction ${id} is closed: there is nothing to ${verb}\\.`),
    );
  });
});

describe('doctor about transactions', () => {
  /** What doctor finds, by part. On a busy machine a part may not answer within doctor's limits: then it is asked again. */
  function examine(): Promise<(part: string) => Shown> {
    return until('doctor examines transactions', async () => {
      const { stdout } = await command(env, 'doctor', '--json');
      const findings: readonly Shown[] = JSON.parse(stdout);
      const of = (part: string) => findings.find((one) => one.part === part) as Shown;
      return of('attempts') && of;
    });
  }

  async function finding(part: string): Promise<Shown> {
    return (await examine())(part);
  }

  it('reports nothing when there is no problem', async () => {
    const of = await examine();
    expect(of('attempts')).toMatchObject({ status: 'ok' });
    expect(of('budgets')).toMatchObject({ status: 'ok' });
    expect(of(`nonces ${NETWORK_ID}`)).toMatchObject({
      status: 'ok',
      found: expect.stringMatching(/^next \d+, 0 in flight$/),
    });
    expect(of(`accounts ${NETWORK_ID}`)).toMatchObject({ status: 'ok' });
  });

  it('names transactions without progress, failed and overdue ones, besides proposals', async () => {
    const old = service.db.raw(`now() - interval '1 hour'`);
    const [processing, failed, overdue] = [
      await store({ execution_status: 'processing', updated_at: old }),
      await store({ execution_status: 'blocked', ...failure() }),
      await store({}, { expiresAt: new Date(0) }),
    ];
    const of = await examine();
    expect(of('executions').found).toContain(processing.id);
    expect(of('failures').found).toContain(failed.id);
    expect(of('expiries').found).toContain(overdue.id);
  });

  itDeep('names budgets without an execution and transactions that wait for native currency', async () => {
    const stored = await store({ execution_status: 'failed', ...failure() });
    await service.db('transactions').where({ id: stored.id }).update({ awaits_relayer_wei: '1200' });
    await storeUsage(service.db, stored);
    const of = await examine();
    expect(of('budgets')).toMatchObject({
      status: 'warn',
      found: expect.stringContaining(stored.id),
    });
    expect(of('funds')).toMatchObject({
      status: 'warn',
      found: `1 transaction waits for funds of a relayer of network ${NETWORK_ID}: up to 0.0000000000000012 ETH`,
    });
  });

  itDeep('names a chain whose blocks are from the future', async () => {
    const [network] = service.config.networks;
    const at = (aheadMs: number) => {
      const timestamp = BigInt(Math.floor((Date.now() + aheadMs) / 1_000));
      return { network, rpc: { getBlock: async () => ({ timestamp }) } } as unknown as ChainClient;
    };
    expect(await checkBlockTime(at(10_800_000), service.db)).toMatchObject([
      {
        part: `clock ${NETWORK_ID}`,
        status: 'warn',
        found: expect.stringMatching(/ is 3 h from the future$/),
      },
    ]);
    expect(await checkBlockTime(at(-7_200_000), service.db)).toEqual([]);
    expect(await finding('clock')).toMatchObject({ status: 'ok' });
  });

  itDeep('names an account without a contract at its recorded address', async () => {
    const { accountId } = await store();
    expect(await finding(`accounts ${NETWORK_ID}`)).toMatchObject({
      status: 'fail',
      found: `no contract at the address of ${accountId}`,
    });
  });

  itDeep('names an account whose nonce is higher than recorded', async () => {
    const { result } = await carryOut(service.http, org, await propose(service.http, org));
    const [{ id }] = result.resources;
    expect(await finding(`accounts ${NETWORK_ID}`)).toMatchObject({
      status: 'ok',
      found: '1 account: all nonces match the record',
    });
    const { address } = requireRow(await service.db('accounts').where({ id }).first());
    const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`;
    await rpc(own.current.rpcUrl, 'anvil_setStorageAt', [address, word(NONCE_SLOT), word(2)]);
    expect(await finding(`accounts ${NETWORK_ID}`)).toMatchObject({
      status: 'fail',
      found: `nonce on chain is higher than recorded: ${id} (2 on chain, 0 recorded)`,
    });
    const stored = await store({}, { accountId: id });
    const decided = { outcome: 'executed', decided_at: service.db.fn.now() };
    await storeAttempt(service.db, stored, { safe_nonce: 1, ...decided });
    expect(await finding(`accounts ${NETWORK_ID}`)).toMatchObject({ status: 'ok' });
  });

  it('names rejections and outcomes that only the journal has, and authorizations that it lacks', async () => {
    const { db } = service;
    const file = join(temporaryDir(), 'journal');
    const journal = await openJournal({ file, waitMs: 0 });
    const compared = async () => {
      const reader = await readJournal(file);
      return (await compareFindings(reader, db).finally(() => reader.close()))[0];
    };
    try {
      await journal.append({ type: 'created', installationId: await readInstallationId(db) });
      expect(await compared()).toMatchObject({ status: 'ok' });
      const [rejected, decided] = [await store(), await store()];
      await journal.append({
        type: 'rejection',
        ...usageOf(rejected),
        amount: '1',
        replaces: null,
        expiresAt: null,
        record: requireRow(await readJournaledRecord(db, rejected.id)),
      });
      expect(await compared()).toMatchObject({
        status: 'fail',
        found: `the database lacks 1 rejection of the journal: ${rejected.id}`,
        todo: expect.stringContaining('./orgwallet signer reconcile-restore'),
      });
      const at = new Date();
      await db.transaction(async (tx) => {
        await insertRejection(tx, usageOf(rejected));
        const taken = { safeNonce: 0n, safeTxHash: aHash(), authorizedAt: at };
        await insertAuthorization(tx, { ...usageOf(decided), ...taken });
      });
      const { id: transactionId, organizationId } = decided;
      const outcome = 'executed';
      await journal.append({
        type: 'outcome',
        organizationId,
        transactionId,
        outcome,
        blockAt: at.toISOString(),
      });
      expect(await compared()).toMatchObject({
        status: 'warn',
        found: `the database lacks 1 outcome of the journal: ${decided.id}`,
        todo: expect.stringContaining('./orgwallet signer reconcile-restore'),
      });
      await decideAuthorizations(db, [{ transactionId: decided.id, outcome, blockAt: at }]);
      expect(await compared()).toMatchObject({
        status: 'warn',
        found: `1 authorization is not in the journal yet: ${decided.id}`,
      });
    } finally {
      await journal.close();
    }
  });

  it('looks up every authorization on chain', async () => {
    const { db, http, config } = service;
    const account = await makeAccount(http, org, { networkIds: [NETWORK_ID] });
    await fundOnLocalChain(own.current.rpcUrl, account.address);
    const [policy] = await makePolicies(http, org, ANYTHING);
    const transaction = await initiate(
      http,
      org,
      aTransactionBody(org, { account, policy, to: anAddress() }),
    );
    await executeTransaction(http, org, transaction);
    await settledTransaction(http, org, transaction);
    const { id } = transaction;
    const part = `authorizations ${NETWORK_ID}`;
    const found = async () => {
      const { stdout } = await command(env, 'doctor', '--json');
      const own = (one: Shown) => one.part === part && one.found.includes(id);
      return JSON.parse(stdout)
        .filter(own)
        .map((one: Shown) => `${one.status}: ${one.found}`);
    };
    expect(await found()).toEqual([]);

    await decideAuthorizations(db, [{ transactionId: id, outcome: 'reverted', blockAt: new Date() }]);
    const otherwise = `fail: the chain shows another outcome than recorded: ${id} (reverted)`;
    expect(await found()).toEqual([otherwise]);
    await decideAuthorizations(db, [{ transactionId: id, outcome: null, usedAt: null }]);

    const row = () => db('authorizations').where({ transaction_id: id });
    await row().update({ safe_tx_hash: aHash() });
    const missing = expect.stringMatching(`^fail: recorded, and not on chain: .*${id} \\(executed\\)`);
    expect(await found()).toEqual([missing]);
    const undecided = { outcome: null, decided_at: null, block_number: null };
    // The service may decide it again meanwhile, as what is left over.
    const untilUndecided = (status: string) =>
      until(`doctor has it as ${status}`, async () => {
        await db('chain_attempts').where({ transaction_id: id }).update(undecided);
        await decideAuthorizations(db, [{ transactionId: id, outcome: null, usedAt: null }]);
        return isDeepStrictEqual(await found(), [`${status}: something else has used the nonce of ${id}`]);
      });
    await untilUndecided('warn');
    await row().update({ authorized_at: new Date(0) });
    await untilUndecided('fail');

    const network = config.networks.find((one) => one.id === NETWORK_ID) as NetworkConfig;
    const silent = createChainClient({ ...network, rpcUrls: ['http://127.0.0.1:1'] });
    expect(await checkAuthorizations(silent, db)).toMatchObject([
      {
        part,
        status: 'warn',
        found: expect.stringMatching(/^\d+ authoriz.* not compared: .* is unavailable/),
      },
    ]);
  });

  it('names an unused nonce of the relayer, and the envelopes behind it', async () => {
    const stored = await store({ execution_status: 'processing' });
    const { address: relayerAddress } = requireRow(
      await service
        .db('relayers')
        .where({ network_id: BigInt(NETWORK_ID) })
        .first(),
    );
    const attemptId = await storeAttempt(service.db, stored);
    await storeEnvelope(service.db, { attemptId, relayerAddress }, { relayer_nonce: 1_000_000 });
    expect(await finding(`nonces ${NETWORK_ID}`)).toMatchObject({
      status: 'warn',
      found: expect.stringMatching(
        new RegExp(`^nonce \\d+ of ${relayerAddress} is unused; pending behind it: 1$`),
      ),
    });
    await service.db('chain_envelopes').where({ attempt_id: attemptId }).delete();
  });
});

describe('freeze and unfreeze', () => {
  it('take effect in the signer that runs, and are audited', async () => {
    const { db } = service;
    expect(await json(env, 'freeze', '--org', org.id)).toEqual({ frozen: org.id, cancellations: [] });
    const reader = await readJournal(service.config.journalFile);
    expect(reader.freezeOf(org.id)).toBeDefined();
    await reader.close();
    expect(await words(env, 'unfreeze', '--org', org.id)).toBe(`Not frozen any more: ${org.id}.\n`);
    const asService = createDatabase(env.DATABASE_URL ?? '', { poolMax: 2 });
    await Promise.all([auditFreezes(asService), auditFreezes(asService)]).finally(() => asService.destroy());
    const actions = await db('audit_log')
      .where({ organization_id: org.id, resource_type: 'organization' })
      .orderBy('position')
      .pluck('action');
    expect(actions).toEqual(['organization.created', 'organization.frozen', 'organization.unfrozen']);
    expect(await refused(env, 'freeze', '--org', 'org_none')).toContain('organization org_none not found');
  });

  it('--cancel-open cancels what is signed and not mined', async () => {
    const { db, http } = service;
    const { rpcUrl } = own.current;
    const account = await makeAccount(http, org, { networkIds: [NETWORK_ID] });
    await fundOnLocalChain(rpcUrl, account.address);
    const [policy] = await makePolicies(http, org, ANYTHING);
    // What is completed is not asked: the signer reads no outcome of it.
    const paid = await initiate(http, org, aTransactionBody(org, { account, policy, to: anAddress() }));
    await executeTransaction(http, org, paid);
    expect(await settledTransaction(http, org, paid)).toMatchObject({ executionStatus: 'completed' });
    const to = anAddress();
    const transaction = await initiate(http, org, aTransactionBody(org, { account, policy, to }));
    const { id } = transaction;
    const isSent = (kind: 'transaction' | 'cancellation') =>
      until(`the ${kind} is sent`, async () => {
        const attempts = db('chain_attempts').where({ transaction_id: id, kind }).select('id');
        const sent = await db('chain_envelopes')
          .whereIn('attempt_id', attempts)
          .whereNotNull('sent_at')
          .first();
        return sent !== undefined;
      });
    await rpc(rpcUrl, 'evm_setAutomine', [false]);
    let executing: Promise<unknown>;
    try {
      executing = executeTransaction(http, org, transaction);
      await isSent('transaction');
      expect(await json(env, 'freeze', '--org', org.id, '--cancel-open')).toEqual({
        frozen: org.id,
        cancellations: [{ id, refusal: null }],
      });
      await isSent('cancellation');
      // The journal has what the database hides.
      const row = await db('authorizations').where({ transaction_id: id }).first();
      await db.transaction(async (tx) => {
        await tx.raw('ALTER TABLE authorizations DISABLE TRIGGER authorizations_kept');
        await tx('authorizations').where({ transaction_id: id }).delete();
        await tx.raw('ALTER TABLE authorizations ENABLE TRIGGER authorizations_kept');
      });
      try {
        expect(await json(env, 'freeze', '--org', org.id, '--cancel-open')).toEqual({
          frozen: org.id,
          cancellations: [{ id, refusal: null }],
        });
      } finally {
        const { counted_from: _generated, ...stored } = requireRow(row);
        await db('authorizations').insert(stored);
      }
    } finally {
      await rpc(rpcUrl, 'evm_setAutomine', [true]);
      await rpc(rpcUrl, 'anvil_mine', ['0x1']);
    }
    await executing;
    expect(await settledTransaction(http, org, transaction)).toMatchObject({
      executionStatus: 'failed',
      failure: { code: 'timeout', retryable: false },
    });
    expect(BigInt(await rpc<string>(rpcUrl, 'eth_getBalance', [to, 'latest']))).toBe(0n);
    expect(await words(env, 'freeze', '--org', org.id, '--cancel-open')).toMatch(
      /^Cancellation requested: 0 transactions\.$/m,
    );
  });
});
