import { loadConfig } from '../../src/config';
import { createLogger } from '../../src/logging';
import { startService } from '../../src/service';
import type { Part } from '../../tools/dev/parts';
import { anAddress } from '../support/builders';
import { configurePooler, type Pooler, setForPooler } from '../support/pgbouncer';
import { databaseSettings, serviceSettings, type TestOrganization } from '../support/service';
import { createTestDatabase, sharedStack } from '../support/stack';
import { aTransactionBody, createTransaction, settledTransaction, signed } from '../support/transactionApi';
import { makePayer } from '../workflows/transactionWorld';
import { expectSoundAudit, startWorld, type World } from '../workflows/world';

const NETWORK_ID = 31_337;

type Database = Awaited<ReturnType<typeof createTestDatabase>>;

let database: Database;
let configured: Pooler;
let pooler: Part;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  database = await createTestDatabase();
  configured = await configurePooler(database);
  pooler = await configured.start();
  const { url, serviceUrl, signerUrl } = database;
  env = {
    DATABASE_POOLER: 'transaction',
    DATABASE_LISTEN_URL: serviceUrl,
    ...databaseSettings({
      url,
      serviceUrl: configured.through(serviceUrl),
      signerUrl: configured.through(signerUrl),
    }),
  };
}, 300_000);
afterAll(async () => {
  await pooler?.stop();
  await database?.drop();
});

it('is refused at the start while the logins lack their settings', async () => {
  const settings = await serviceSettings({ database: env, env });
  const started = startService(loadConfig(settings), createLogger('silent'));
  await expect(started).rejects.toThrow(
    /DATABASE_POOLER: TimeZone is .*: ALTER ROLE orgwallet_signer IN DATABASE/,
  );
});

describe('with their settings', () => {
  let world: World;
  let org: TestOrganization;

  beforeAll(async () => {
    await setForPooler(sharedStack().databaseAdminUrl, database.name);
    // Connections to the server that were opened before do not have them.
    await pooler.stop();
    pooler = await configured.start();
    world = await startWorld({ database: env, env });
    org = await world.createOrganization();
  }, 120_000);
  afterAll(() => world?.stop());

  it('proposals and payments, many at once, work as without it', async () => {
    const { http, db } = world;
    const payer = await makePayer(world, org, NETWORK_ID);
    const paid = await Promise.all(
      Array.from({ length: 16 }, async () => {
        const body = aTransactionBody(org, { ...payer, to: anAddress() }, { networkId: NETWORK_ID });
        const transaction = await createTransaction(http, org, body);
        // On a busy machine the response comes before the end.
        await signed(http, org, transaction, org.dave, 'initiator', { execute: true });
        return settledTransaction(http, org, transaction);
      }),
    );
    expect(paid.map(({ executionStatus }) => executionStatus)).toEqual(Array(16).fill('completed'));
    await expectSoundAudit(db, org);
  }, 180_000);
});
