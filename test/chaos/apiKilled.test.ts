import { Client, Connection } from '@temporalio/client';
import { type Config, loadConfig } from '../../src/config';
import { createDatabase, type Db } from '../../src/db/database';
import { casesToTry } from '../support/cases';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import { makeOrganization, serviceSettings, type TestOrganization } from '../support/service';
import { expectOneOfEverything } from './invariants';
import { askOf, beginJourney, finish, persist, prepare, type Step } from './journey';

let settings: NodeJS.ProcessEnv;
let config: Config;
let db: Db;
let org: TestOrganization;
let workers: ServiceProcess;
let api: ServiceProcess;
let connection: Connection;

beforeAll(async () => {
  settings = await serviceSettings();
  config = loadConfig(settings);
  db = createDatabase(config.databaseUrl, { poolMax: 4 });
  org = await makeOrganization(db);
  connection = await Connection.connect({ address: config.temporal.address });
  [workers, api] = await Promise.all([
    startServiceProcess(settings, { roles: ['worker', 'chain', 'signer'] }),
    startServiceProcess(settings, { roles: ['api'] }),
  ]);
});
afterAll(async () => {
  await Promise.all([workers?.stop(), api?.stop(), connection?.close()]);
  await db?.destroy();
});

const steps: Step[] = ['create', 'sign', 'execute'];

interface Point {
  readonly when: string;
  readonly faultPoint: string;
  /** The step at which it is tried among the first. */
  readonly firstAt?: Step;
}

const points: Point[] = [
  { when: 'before the request is stored', faultPoint: 'api.requestChecked' },
  {
    when: 'after the request is stored, before it is sent',
    faultPoint: 'api.requestStored',
    firstAt: 'create',
  },
  {
    when: 'after the workflow answered, before the answer is stored',
    faultPoint: 'api.workflowAnswered',
    firstAt: 'sign',
  },
  { when: 'after the answer is stored, before it is sent', faultPoint: 'api.answerStored' },
];

const cases = casesToTry(
  points.flatMap(({ firstAt, ...point }) =>
    steps.map((step) => ({ ...point, step, ...(step === firstAt ? { first: true as const } : {}) })),
  ),
);

describe('an API that is killed', () => {
  it.each(cases)(
    '$when ($step), has done it once, and says so when it is back',
    async ({ faultPoint, step }) => {
      const world = {
        http: api.http,
        db,
        org,
        temporal: new Client({ connection }),
        networks: config.networks,
      };
      const victim = await startServiceProcess(settings, { roles: ['api'], faultPoint });
      try {
        const journey = beginJourney();
        await prepare(world, journey, step);
        await expect(victim.http.send(await askOf(world, journey, step))).rejects.toThrow();
        await victim.died();
        await victim.start();
        const answer = await persist(world, journey, step, victim.http);
        const stored = faultPoint === 'api.answerStored';
        expect(answer.headers['idempotency-replayed']).toBe(stored ? 'true' : undefined);
        await finish({ ...world, http: victim.http }, journey);
        await expectOneOfEverything(world, journey);
      } finally {
        await victim.stop();
      }
    },
  );
});
