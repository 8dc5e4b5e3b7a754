import { randomUUID } from 'node:crypto';
import type { Db } from '../../src/db/database';
import { requireRow } from '../../src/db/rows';
import { isTemporary } from '../chaos/accountCreation';
import { startServiceProcess } from '../support/process';
import { sharedService, type TestOrganization, type TestService } from '../support/service';
import { until } from '../support/until';

let service: TestService;
let db: Db;
let org: TestOrganization;

beforeAll(async () => {
  service = await sharedService();
  db = service.db;
});
beforeEach(async () => {
  org = await service.createOrganization();
});
afterAll(() => service?.stop());

describe('an API that is killed while a member registers', () => {
  it.each([
    { when: 'before the request is stored', failpoint: 'api.requestChecked' },
    {
      when: 'after the request is stored, before it has an effect',
      failpoint: 'api.requestStored',
    },
    {
      when: 'after its effect is committed, before the answer is stored',
      failpoint: 'api.workflowAnswered',
    },
    { when: 'after the answer is stored, before it is sent', failpoint: 'api.answerStored' },
  ])('$when has registered them once, and reports it after its restart', async ({ failpoint }) => {
    const { wallet, id } = org.dave;
    const path = '/api/v1/members/registrations';
    const registrations = () => db('audit_log').where({ resource_id: id, action: 'member.registered' });
    const victim = await startServiceProcess(service.env, { roles: ['api'], failpoint });
    try {
      const payload = await victim.http.send({
        key: org.readKey,
        path: `${path}/payload?walletAddress=${wallet.address}`,
      });
      const signature = await wallet.signMessage({ message: payload.body.data.messageToSign });
      const body = { walletAddress: wallet.address, signature };
      const ask = { key: org.readKey, path, body, idempotencyKey: randomUUID() };
      await expect(victim.http.send(ask)).rejects.toThrow();
      await victim.died();
      const committed = ['api.workflowAnswered', 'api.answerStored'].includes(failpoint);
      const { registered_at: then } = requireRow(await db('members').where({ id }).first());
      expect([then !== null, (await registrations()).length]).toEqual([committed, committed ? 1 : 0]);
      // However late the request comes back: it finds what it did.
      if (committed)
        await db('registration_challenges')
          .where({ member_id: id })
          .update({ expires_at: new Date(0) });
      await victim.start();
      const answer = await until('it is answered', async () => {
        const given = await victim.http.send(ask);
        if (isTemporary(given)) throw new Error(given.text);
        return given;
      });
      const { registered_at: registeredAt } = requireRow(await db('members').where({ id }).first());
      if (committed) expect(registeredAt).toEqual(then);
      const data = {
        walletAddress: wallet.address,
        registered: true,
        registeredAt: registeredAt?.toISOString(),
      };
      expect([answer.status, answer.body]).toEqual([200, { data }]);
      const stored = failpoint === 'api.answerStored';
      expect(answer.headers['idempotency-replayed']).toBe(stored ? 'true' : undefined);
      const again = await victim.http.send(ask);
      expect([again.text, again.headers['idempotency-replayed']]).toEqual([answer.text, 'true']);
      expect(await registrations()).toHaveLength(1);
    } finally {
      await victim.stop();
    }
  });
});
