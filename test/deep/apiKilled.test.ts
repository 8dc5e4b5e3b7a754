import { Client, Connection } from '@temporalio/client';
import { askOf, beginCreation, completeStep, finish, prepare, type Step } from '../chaos/accountCreation';
import { expectOneOfEverything } from '../chaos/invariants';
import { startServiceProcess } from '../support/process';
import { sharedService, type TestOrganization, type TestService } from '../support/service';

/** Its workers do what the API asked for that is killed. */
let service: TestService;
let org: TestOrganization;
let connection: Connection;

beforeAll(async () => {
  service = await sharedService();
  org = await service.createOrganization();
  connection = await Connection.connect({ address: service.config.temporal.address });
});
afterAll(async () => {
  await Promise.all([service?.stop(), connection?.close()]);
});

const steps: Step[] = ['create', 'sign', 'execute'];

interface Point {
  readonly when: string;
  readonly failpoint: string;
}

const points: Point[] = [
  { when: 'before the request is stored', failpoint: 'api.requestChecked' },
  {
    when: 'after the request is stored, before it is sent',
    failpoint: 'api.requestStored',
  },
  {
    when: 'after the workflow answered, before the answer is stored',
    failpoint: 'api.workflowAnswered',
  },
  { when: 'after the answer is stored, before it is sent', failpoint: 'api.answerStored' },
];

const cases = points.flatMap((point) => steps.map((step) => ({ ...point, step })));

describe('an API that is killed', () => {
  it.each(cases)(
    '$when ($step), has one effect, and reports it after its restart',
    async ({ failpoint, step }) => {
      const { http, db, config } = service;
      const world = { http, db, org, temporal: new Client({ connection }), networks: config.networks };
      const victim = await startServiceProcess(service.env, { roles: ['api'], failpoint });
      try {
        const creation = beginCreation();
        await prepare(world, creation, step);
        await expect(victim.http.send(await askOf(world, creation, step))).rejects.toThrow();
        await victim.died();
        await victim.start();
        const answer = await completeStep(world, creation, step, victim.http);
        const stored = failpoint === 'api.answerStored';
        expect(answer.headers['idempotency-replayed']).toBe(stored ? 'true' : undefined);
        await finish({ ...world, http: victim.http }, creation);
        await expectOneOfEverything(world, creation);
      } finally {
        await victim.stop();
      }
    },
  );
});
