import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createPublicClient, type Hex, http as rpcTransport } from 'viem';
import { openKeystore } from '../../src/chain/keystore';
import { executionCall, type SafeTransaction } from '../../src/chain/safeTransaction';
import type { Role } from '../../src/config';
import { verifyAudit } from '../../src/db/audit';
import type { Db } from '../../src/db/database';
import { requireRow } from '../../src/db/rows';
import { command, json, words } from '../cli/command';
import { change, makeAccount, read, type Shown } from '../support/api';
import { anAddress } from '../support/builders';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import { signSafeTransaction } from '../support/safeSignature';
import {
  connectAsOwner,
  databaseSettings,
  fundRelayers,
  makeOrganization,
  serviceSettings,
  type TestOrganization,
} from '../support/service';
import {
  copyDatabase,
  createTestDatabase,
  endpointOf,
  fundOnLocalChain,
  LOCAL_FUNDER,
  rpc,
  temporaryDir,
} from '../support/stack';
import {
  aTransactionBody,
  executeTransaction,
  initiate,
  makePaymentPolicies,
  settledTransaction,
  signed,
} from '../support/transactionApi';
import { NETWORK_ID } from '../support/transactions';
import { until } from '../support/until';

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

function chain() {
  const rpcUrl = endpointOf(requireRow(service.config.networks.find(({ id }) => id === NETWORK_ID)));
  return { rpcUrl, client: createPublicClient({ transport: rpcTransport(rpcUrl) }) };
}

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
  db = connectAsOwner(env, 4);
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
  const keystore = await openKeystore({
    file: service.config.keystore.file,
    passphrase: env.KEYSTORE_PASSPHRASE ?? '',
  });
  org = await makeOrganization(db, { keystore });
  account = await makeAccount(service.http, org, { networkIds: [NETWORK_ID] });
  await fundRelayers(db, service.config);
  await fundOnLocalChain(chain().rpcUrl, account.address);
  policies = await makePaymentPolicies(service.http, org, NETWORK_ID);
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
    await service.start();
    const held = await initiated(policies.auto);
    await executeTransaction(service.http, org, held.transaction);
    const waiting = await until('the rollback is noticed', async () => {
      const row = await db('approvals').where({ id: held.transaction.id }).first('waiting_for');
      return row?.waiting_for;
    });
    expect(waiting).toMatch(/rolled back.*signer reconcile-restore/s);
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
    for (const payment of [before, completed, ofSecond, open, held]) await completes(payment);
    for (const payment of [before, completed, ofSecond, open, held]) expect(await received(payment)).toBe(1n);
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

    expect(await verifyAudit(db, org.id)).toMatchObject({ ok: true });
    const proof = join(temporaryDir(), 'proof.jsonl');
    await command(env, 'audit', 'export', '--org', org.id, '--out', proof);
    expect((await command(env, 'audit', 'prove', proof)).status).toBe(0);
    const { stdout } = await command(env, 'doctor', '--json');
    const failed = JSON.parse(stdout).filter(({ status }: Shown) => status === 'fail');
    expect(failed).toEqual([]);
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
    expect((await command(env, 'signer', 'reconcile-restore', '--new-journal')).stderr).toMatch(/exists/);
    expect(await reconcile('--write')).toMatchObject({
      unknownExecutions: [expect.any(String)],
      written: true,
    });
    expect(await reconcile()).toMatchObject({ unknownExecutions: [], written: false });

    await service.start();
    await executeTransaction(service.http, org, blocked.transaction);
    await completes(blocked);
    expect(await received(blocked)).toBe(1n);
    const entries = await db('audit_log').where({ action: 'account.unknownExecution' });
    expect(entries).toHaveLength(1);
    expect(await verifyAudit(db, org.id)).toMatchObject({ ok: true });
  },
  LIMIT_MS,
);
