import { appendFileSync, copyFileSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Hex } from 'viem';
import { executionCall, type SafeTransaction } from '../../src/chain/safeTransaction';
import { loadConfig, type Role } from '../../src/config';
import { verifyAudit } from '../../src/db/audit';
import { createDatabase, type Db } from '../../src/db/database';
import { requireRow } from '../../src/db/rows';
import { openKeystore } from '../../src/signer/keys/keystore';
import { command, json, words } from '../cli/command';
import { change, makeAccount, read, type Shown } from '../support/api';
import { anAddress } from '../support/builders';
import { makePayingOrganization, paymentChain } from '../support/payingOrganization';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import { signSafeTransaction } from '../support/safeSignature';
import { connectAsOwner, databaseSettings, serviceSettings, type TestOrganization } from '../support/service';
import {
  copyDatabase,
  createTestDatabase,
  fundOnLocalChain,
  LOCAL_FUNDER,
  rpc,
  sharedStack,
  temporaryDir,
} from '../support/stack';
import {
  aTransactionBody,
  executeTransaction,
  initiate,
  settledTransaction,
  signed,
} from '../support/transactionApi';
import { NETWORK_ID } from '../support/transactions';
import { until } from '../support/until';
import { untilOwned, untilReady, upkeepInJournal } from '../support/upkeepOnChains';

const ROLES: readonly Role[] = ['api', 'worker', 'chain', 'signer'];
const LIMIT_MS = 300_000;

let env: NodeJS.ProcessEnv;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let backup: string;
let service: ServiceProcess;
let db: Db;
let org: TestOrganization;
let account: Shown;
let policies: { auto: Shown; approved: Shown };

/** A payment of the account. */
interface Payment {
  readonly transaction: Shown;
  readonly to: Hex;
}

const chain = () => paymentChain(service);

async function initiated(policy: Shown, of: { id: string } = account): Promise<Payment> {
  const to = anAddress() as Hex;
  const transaction = await initiate(service.http, org, aTransactionBody(org, { account: of, policy, to }));
  return { transaction, to };
}

async function paid(of?: { id: string }): Promise<Payment> {
  const payment = await initiated(policies.auto, of);
  await executeTransaction(service.http, org, payment.transaction);
  expect(await settledTransaction(service.http, org, payment.transaction)).toMatchObject({
    executionStatus: 'completed',
  });
  return payment;
}

function received({ to }: Payment): Promise<bigint> {
  return chain().client.getBalance({ address: to });
}

/** Waits until a transaction is completed. */
async function completes({ transaction: { id } }: Payment): Promise<void> {
  await until(`${id} is completed`, async () => {
    const row = requireRow(await db('approvals').where({ id }).first());
    const { execution_status, failure, waiting_for } = row;
    if (execution_status !== 'completed')
      throw new Error(JSON.stringify({ execution_status, failure, waiting_for }));
    return true;
  });
}

/** The service with the database of the backup; the journal, the keystore and Temporal are as they were. */
async function restore(): Promise<void> {
  await db.destroy();
  await copyDatabase(backup, database.name);
  db = connectAsOwner({ ...env, MIGRATION_DATABASE_URL: database.url }, 4);
}

/** Nothing is left to do: a proof can be written and checked, and doctor finds nothing. */
async function expectSound(): Promise<void> {
  const proof = join(temporaryDir(), 'proof.jsonl');
  // The signer reads outcomes that it has not in its journal every 15 s.
  await until(
    'a proof is written',
    async () => {
      const written = await command(env, 'audit', 'export', '--org', org.id, '--out', proof);
      if (written.status !== 0) throw new Error(written.stderr);
      return true;
    },
    60_000,
  );
  expect((await command(env, 'audit', 'prove', proof)).status).toBe(0);
  expect(await verifyAudit(db, org.id)).toMatchObject({ ok: true });
  const { stdout } = await command(env, 'doctor', '--json');
  const found: Shown[] = JSON.parse(stdout);
  expect(found.filter(({ status }) => status === 'fail')).toEqual([]);
  expect(found.find(({ part }) => part === 'journal')).toMatchObject({ status: 'ok' });
}

/** A login with the rights of service and signer, and no more: it owns nothing. */
async function recoveryLogin(): Promise<string> {
  const name = `recovery_${database.name}`;
  const admin = createDatabase(sharedStack().databaseAdminUrl, { poolMax: 1 });
  await admin.raw(
    `CREATE ROLE ${name} LOGIN PASSWORD 'recovery' IN ROLE orgwallet_service, orgwallet_signer`,
  );
  await admin.destroy();
  const url = new URL(database.url);
  url.username = name;
  url.password = 'recovery';
  return url.href;
}

const reconcile = (...options: string[]) => json(env, 'signer', 'reconcile-restore', ...options);

beforeAll(async () => {
  database = await createTestDatabase();
  backup = `${database.name}_backup`;
  const settings = await serviceSettings({
    database: databaseSettings(database),
    env: { RECONCILE_EVERY: '2s' },
  });
  service = await startServiceProcess(settings, { roles: ROLES });
  env = service.env;
  db = connectAsOwner(env, 4);
  ({ org, account, policies } = await makePayingOrganization(service));
  // The login that owns the tables is not on the host of the signer.
  delete env.MIGRATION_DATABASE_URL;
  env.RECOVERY_DATABASE_URL = await recoveryLogin();
}, LIMIT_MS);
afterAll(async () => {
  await service?.stop();
  await db?.destroy();
});

test(
  'a restored backup gets back what was decided and paid since, and nothing is paid twice',
  async () => {
    const before = await paid();
    await service.stop();
    await copyDatabase(database.name, backup);

    // What the backup does not have: a member, a policy change, an account, payments and a rejection.
    await service.start('chain.sending@SIGUSR2');
    const walletAddress = anAddress();
    await change(service.http, org, '/members/proposals/create', {
      items: [{ name: 'Eve', type: 'user', walletAddress }],
    });
    const second = await makeAccount(service.http, org, { networkIds: [NETWORK_ID] });
    await fundOnLocalChain(chain().rpcUrl, second.address);
    const completed = await paid();
    const ofSecond = await paid(second);
    const rejected = await initiated(policies.approved);
    await signed(service.http, org, rejected.transaction, org.alice, 'reject', { execute: true });
    const open = await initiated(policies.auto);
    await service.arm();
    await executeTransaction(service.http, org, open.transaction).catch(() => undefined);
    await service.died();
    const { raw_transaction: bytes } = requireRow(
      await db('chain_envelopes').orderBy('id', 'desc').first('raw_transaction'),
    );
    expect(await received(open)).toBe(0n);

    await restore();
    await service.startClosed();
    // Whoever were told that there is no such payment would pay again.
    const refused = await until('the rollback is noticed', async () => {
      const { status, body } = await service.http.send({
        key: org.readKey,
        path: `/api/v1/transactions/${completed.transaction.id}`,
      });
      return status === 503 && /lacks 2 decisions, 3 authorizations, 1 rejection/.test(body.message) && body;
    });
    expect(refused).toMatchObject({ code: 'notReconciled' });
    expect((await command(env, 'signer', 'reconcile-restore')).stderr).toMatch(/Stop it first/);
    await service.stop();

    const found = await reconcile();
    expect(found).toMatchObject({
      seals: { [org.id]: [expect.any(Number), expect.any(Number)] },
      authorizations: [completed, ofSecond, open].map(({ transaction }) => transaction.id),
      rejections: [rejected.transaction.id],
      unknownExecutions: [],
      written: false,
    });
    expect(await reconcile('--write')).toMatchObject({ ...found, written: true });
    expect(await words(env, 'signer', 'reconcile-restore')).toMatch(
      /has all that the journal and the chains have/,
    );

    // The bytes that were signed before the restore reach the chain now.
    await rpc(chain().rpcUrl, 'eth_sendRawTransaction', [bytes]);
    await service.start();
    for (const payment of [before, completed, ofSecond, open]) await completes(payment);
    for (const payment of [before, completed, ofSecond, open]) expect(await received(payment)).toBe(1n);
    await until('the account is there', async () => {
      const { body } = await service.http.send({ key: org.readKey, path: `/api/v1/accounts/${second.id}` });
      return body.data?.networks.length === 1;
    });
    const members = await read(service.http, org.readKey, '/api/v1/members');
    expect(members.map(({ name }: Shown) => name)).toContain('Eve');
    expect(await settledTransaction(service.http, org, rejected.transaction)).toMatchObject({
      executionStatus: 'rejected',
    });
    await paid(second);
    expect(await received(rejected)).toBe(0n);

    await expectSound();
  },
  LIMIT_MS,
);

test(
  'an execution that nobody knows is decided as such, once, and a lost journal is made anew',
  async () => {
    const keystore = await openKeystore({
      file: service.config.keystore.file,
      passphrase: env.KEYSTORE_PASSPHRASE ?? '',
    });
    const { client, rpcUrl } = chain();
    const nonce = await client.readContract({
      address: account.address,
      abi: [
        {
          type: 'function',
          name: 'nonce',
          inputs: [],
          outputs: [{ type: 'uint256' }],
          stateMutability: 'view',
        },
      ],
      functionName: 'nonce',
    });
    const to = anAddress() as Hex;
    const stolen: SafeTransaction = {
      ...{ networkId: NETWORK_ID, account: account.address, to, value: 3n, data: '0x', safeTxGas: 100_000n },
      nonce: nonce as bigint,
    };
    const signature = await signSafeTransaction(keystore.organizationKey(org.id), stolen);
    const hash = await rpc<Hex>(rpcUrl, 'eth_sendTransaction', [
      { from: LOCAL_FUNDER.address, ...executionCall(stolen, signature), gas: '0x7a120' },
    ]);
    await client.waitForTransactionReceipt({ hash });
    const blocked = await initiated(policies.auto);
    await executeTransaction(service.http, org, blocked.transaction);
    expect(await settledTransaction(service.http, org, blocked.transaction)).toMatchObject({
      executionStatus: 'blocked',
    });

    // The journal is lost as well.
    await service.stop();
    rmSync(service.config.journalFile);
    expect((await command(env, 'signer', 'reconcile-restore')).stderr).toMatch(/--new-journal/);
    const made = await words(env, 'signer', 'reconcile-restore', '--new-journal');
    expect(made).toMatch(new RegExp(`made anew, .*ALARM: nonce ${nonce} of ${account.id}`, 's'));
    expect(made).toContain(`${blocked.transaction.id}: requested before the journal was completed`);
    expect((await command(env, 'signer', 'reconcile-restore', '--new-journal')).stderr).toMatch(/exists/);
    expect(await reconcile('--write')).toMatchObject({
      unknownExecutions: [expect.any(String)],
      written: true,
    });
    expect(await reconcile()).toMatchObject({ unknownExecutions: [], written: false });
    // Nobody knows in which budget it counts.
    await words(env, 'unfreeze', '--org', org.id);

    await service.start();
    // Whether it was paid before, nobody can say any more.
    await executeTransaction(service.http, org, blocked.transaction);
    expect(await settledTransaction(service.http, org, blocked.transaction)).toMatchObject({
      executionStatus: 'blocked',
      failure: { message: expect.stringContaining('create it again') },
    });
    expect(await received(blocked)).toBe(0n);
    expect(await received(await paid())).toBe(1n);
    const entries = await db('audit_log').where({ action: 'account.unknownExecution' });
    expect(entries).toHaveLength(1);
    await expectSound();
  },
  LIMIT_MS,
);

test(
  'a journal from a backup is refused, and completed from database and chain',
  async () => {
    const { journalFile } = service.config;
    await service.stop();
    copyFileSync(journalFile, `${journalFile}.backup`);
    await service.start();
    for (let payment = 0; payment < 3; payment += 1) await paid();
    await change(service.http, org, '/members/proposals/create', {
      items: [{ name: 'Frank', type: 'user', walletAddress: anAddress() }],
    });
    const rejected = await initiated(policies.approved);
    await signed(service.http, org, rejected.transaction, org.alice, 'reject', { execute: true });
    await service.stop();
    const lines = readFileSync(journalFile, 'utf8').split('\n').length;
    renameSync(`${journalFile}.backup`, journalFile);

    await expect(service.start()).rejects.toThrow(/it is a copy or a backup/);
    const found = await reconcile();
    expect(found).toMatchObject({ completedLines: 0, written: false });
    expect(found.unjournaled).toHaveLength(4);
    // To look changes nothing.
    await expect(service.start()).rejects.toThrow(/it is a copy or a backup/);
    expect(await words(env, 'signer', 'reconcile-restore', '--write')).toMatch(/completed with \d+ lines/);
    expect(await reconcile()).toMatchObject({ unjournaled: [], unvoted: [], written: false });
    expect(readFileSync(journalFile, 'utf8').split('\n').length).toBeLessThanOrEqual(lines);
    await service.start();
    await expectSound();
    await paid();
    await expectSound();
  },
  LIMIT_MS,
);

test(
  'an older position in the database admits no older journal, and the newest one goes on with what is open',
  async () => {
    const { journalFile } = service.config;
    const newest = `${journalFile}.newest`;
    const older = `${journalFile}.older`;
    const lease = () => db('signer_lease').first();
    const use = (file: string) => copyFileSync(file, journalFile);
    await service.stop();
    copyFileSync(journalFile, older);
    const before = await lease();
    await service.start();
    await paid();
    const open = await initiated(policies.auto);
    await service.stop();
    copyFileSync(journalFile, newest);
    const after = await lease();

    // Whoever owns the tables moves the position back, and somebody restores a backup of the journal.
    await db('signer_lease').update({ ...before });
    use(older);
    await expect(service.start()).rejects.toThrow(/shows txn_\w+ signed, which is not in the journal/);
    // With the newest one it goes on, whatever the position was.
    use(newest);
    await service.start();
    await service.stop();
    expect((await lease())?.journal_lines).toBeGreaterThanOrEqual(after?.journal_lines ?? 0n);
    copyFileSync(journalFile, newest);

    await db('signer_lease').delete();
    await db.raw('INSERT INTO signer_lease DEFAULT VALUES');
    await expect(service.start()).rejects.toThrow(/how far the journal went is unknown/);
    // It has all that the database shows and the chains have executed: nothing is cut off.
    const found = await reconcile('--write');
    expect(found).toMatchObject({ completedLines: 0, unknownExecutions: [] });
    expect(found.cutOff).not.toContain(open.transaction.id);
    await service.start();
    await executeTransaction(service.http, org, open.transaction);
    await completes(open);
    const next = await initiated(policies.auto);
    await service.stop();

    // A backup has not: it is completed, and what is open is cut off.
    await db('signer_lease').delete();
    await db.raw('INSERT INTO signer_lease DEFAULT VALUES');
    use(older);
    const completed = await reconcile('--write');
    expect(completed.completedLines).toBeGreaterThan(0);
    expect(completed.cutOff).toContain(next.transaction.id);
    await service.start();
    await paid();
    await expectSound();
  },
  LIMIT_MS,
);

test(
  'a journal that is moved aside because of its clock is made anew with all that was authorized',
  async () => {
    const { journalFile } = service.config;
    await paid();
    const isRead = async () => !(await db('authorizations').whereNull('outcome').first());
    await until('the signer has read every outcome', isRead, 60_000);
    await service.stop();
    const authorizations = await db('authorizations').whereNotNull('safe_nonce').count().first();
    renameSync(journalFile, `${journalFile}.ahead`);
    // Whoever owns the tables says that nothing was spent.
    const spent = await db('authorizations').whereNotNull('safe_nonce').where('amount', '>', '0');
    await db('authorizations').whereNotNull('safe_nonce').update({ amount: '0' });
    await words(env, 'signer', 'reconcile-restore', '--new-journal');
    for (const { transaction_id: id, amount } of spent)
      await db('authorizations').where({ transaction_id: id }).update({ amount });
    const text = readFileSync(journalFile, 'utf8');
    expect(text.match(/"type":"authorization"/g)).toHaveLength(Number(authorizations?.count));
    // All are bound by their votes.
    expect(text).not.toContain('"evidence":null');
    expect(spent.length).toBeGreaterThan(0);
    for (const { transaction_id: id, amount } of spent) {
      const line = text.split('\n').find((one) => one.includes('"type":"authorization"') && one.includes(id));
      expect(JSON.parse(line ?? '{}').entry.amount).toBe(amount);
    }
    await service.start();
    await expectSound();
    await paid();
    await expectSound();
  },
  LIMIT_MS,
);

test(
  'a torn last line, a keystore from its backup, and a move to another folder need no more than a start',
  async () => {
    const { journalFile, keystore } = service.config;
    await service.kill();
    appendFileSync(journalFile, '{"line":');
    await service.start();
    await expectSound();

    const backup = join(temporaryDir(), 'keystore.json');
    await words(env, 'keystore', 'backup', '--out', backup);
    await service.stop();
    rmSync(keystore.file);
    copyFileSync(backup, keystore.file);
    await service.start();
    await expectSound();

    await service.stop();
    const folder = join(dirname(keystore.file), 'moved');
    mkdirSync(folder);
    for (const file of [keystore.file, journalFile])
      renameSync(file, join(folder, file.slice(dirname(file).length)));
    Object.assign(env, { KEYSTORE_FILE: join(folder, 'keystore.json') });
    await service.start();
    await paid();
    await expectSound();
  },
  LIMIT_MS,
);

describe.each([
  { what: "the admins' Safe was made", body: { threshold: 2, onChain: { enabled: true } } },
  { what: 'its owners were changed', body: { threshold: 3 } },
])('a backup from before $what', ({ body }) => {
  test(
    'is completed, and nothing of it is signed twice',
    async () => {
      // The keystore and the journal may have moved since the service was first started.
      const { networks, ...config } = loadConfig(env);
      const onChain = {
        config: { ...config, networks: networks.filter(({ id }) => id === NETWORK_ID) },
        keystore: () =>
          openKeystore({ file: config.keystore.file, passphrase: env.KEYSTORE_PASSPHRASE ?? '' }),
      };
      const admins = [org.alice, org.bob, org.carol, org.bot];
      const owned = () => untilOwned(onChain, org, { ...body, admins }, 180_000);
      const ready = () => untilReady(service, org, 180_000);
      const signed = () => upkeepInJournal(config.journalFile, org);
      await service.stop();
      await copyDatabase(database.name, backup);
      await service.start();
      await change(service.http, org, '/admins/proposals/update', { updates: [], ...body });
      await owned();
      await ready();
      await service.stop();
      const before = await signed();
      expect(before.size).toBeGreaterThan(0);

      await restore();
      expect(await reconcile()).toMatchObject({ seals: { [org.id]: [expect.any(Number)] }, written: false });
      await reconcile('--write');
      await service.start();
      await owned();
      await ready();
      expect(await received(await paid())).toBe(1n);
      await expectSound();
      expect(await signed()).toEqual(before);
    },
    2 * LIMIT_MS,
  );
});
