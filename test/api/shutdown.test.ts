/** @deep */

import { randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { leaseFile } from '../../src/signer/journal/journal';
import { requestFreeze } from '../../src/signer/journal/requestFreeze';
import { PROPOSE, propose, startSeparateApi } from '../support/api';
import { checkConformance } from '../support/conformance';
import { listen } from '../support/eventStream';
import type { Answer } from '../support/http';
import { type SeparateService, startServicePart, type TestOrganization } from '../support/service';
import { signIn } from '../support/session';
import { openConnection, parseAnswer } from '../support/sockets';
import { itDeep } from '../support/suite';
import { until } from '../support/until';

let api: SeparateService;
let org: TestOrganization;

const newBody = () => ({ items: [{ name: `Last ${randomUUID()}`, networkIds: [31337] }] });

beforeAll(async () => {
  api = await startSeparateApi();
  org = await api.createOrganization();
  await propose(api.http, org);
});
afterAll(async () => {
  api?.http.close();
  await api?.db.destroy();
});

describe('a service that is stopped', () => {
  it('finishes requests in flight, accepts no others, and exits', async () => {
    const body = JSON.stringify(newBody());
    // One whose body is still being sent, two connections without a request, and many that are being worked on.
    const slow = openConnection(api, 'tls');
    slow.write(
      [
        `POST ${PROPOSE} HTTP/1.1`,
        'Host: x',
        `Authorization: Bearer ${org.adminKey}`,
        `X-Idempotency-Key: ${randomUUID()}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        '',
        body.slice(0, 10),
      ].join('\r\n'),
    );
    const idle = openConnection(api, 'tls');
    idle.write(`GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n`);
    const silent = openConnection(api, 'plain on the TLS port');
    const stream = await listen(api, await signIn(api, org.alice));
    await Promise.all(
      Array.from({ length: 10 }, () => api.http.send({ key: org.readKey, path: '/api/v1/members' })),
    );
    const sent = Array.from({ length: 10 }, () =>
      api.http
        .send({ key: org.adminKey, path: PROPOSE, body: newBody() })
        .catch((error: Error): Error => error),
    );
    await until('requests are being worked on', async () => {
      const rows = await api.db('idempotency_requests').count({ count: '*' });
      return Number(rows[0]?.count) > 1;
    });
    const startedMs = Date.now();
    const stopped = api.part.stop();
    slow.write(body.slice(10));
    const late = parseAnswer(await slow.closed);
    checkConformance({ method: 'POST', path: PROPOSE }, late);
    expect(late.status).toBe(201);
    const answers = await Promise.all(sent);
    await stopped;
    // Nothing waits for a connection that its client would keep.
    expect(Date.now() - startedMs).toBeLessThan(8_000);
    for (const answer of answers) {
      if (!(answer instanceof Error)) expect(answer.headers.connection).toBe('close');
    }
    expect(await idle.closed).toMatch(/^HTTP\/1\.1 200/);
    expect(await silent.closed).toBe('');
    expect(stream.events.map(({ type }) => type)).not.toContain('end');
    expect([stream.status, stream.ended()]).toEqual([200, true]);

    const answered = answers.filter((answer): answer is Answer => !(answer instanceof Error));
    expect(answered.length).toBeGreaterThan(0);
    for (const answer of answered) expect(answer.status).toBe(201);
    // Whoever got no answer had no effect either.
    const proposals = await api.db('approvals').where({ organization_id: org.id });
    expect(proposals).toHaveLength(answered.length + 2);

    const { httpsPort, httpPort } = api.config;
    const refused = await Promise.all(
      [httpsPort, httpPort].map(
        (port) =>
          new Promise((resolve) => {
            connect({ host: '127.0.0.1', port })
              .on('connect', () => resolve('connected'))
              .on('error', ({ code }: NodeJS.ErrnoException) => resolve(code));
          }),
      ),
    );
    expect(refused).toEqual(['ECONNREFUSED', 'ECONNREFUSED']);
  });
});

describe('a signer whose journal cannot be written', () => {
  itDeep('exits with 1, to be started again', async () => {
    // The service of this file has ended: its ports and its journal are free.
    const signer = await startServicePart({ ...api.env, ORGWALLET_ROLES: 'signer' });
    const { journalFile } = api.config;
    const whole = readFileSync(journalFile);
    appendFileSync(journalFile, '{');
    // The next thing to write is a freeze.
    const asked = { type: 'freeze', organizationId: org.id } as const;
    const open = () => Promise.reject(new Error('the signer has ended'));
    const options = { waitMs: 60_000, open, record: async () => undefined };
    const refused = expect(requestFreeze(journalFile, asked, options)).rejects.toThrow(
      'the signer has ended',
    );
    expect(await signer.exited).toMatchObject({ code: 1 });
    await refused;
    expect(readFileSync(signer.logFile, 'utf8')).toContain('something else has written to it');
    writeFileSync(journalFile, whole);
    rmSync(`${journalFile}.requests`, { recursive: true });
  });
});

describe('a signer whose journal another one takes over', () => {
  itDeep('exits with 1, and leaves the lease to the other one', async () => {
    // The service of this file has ended: its ports and its journal are free.
    const signer = await startServicePart({ ...api.env, ORGWALLET_ROLES: 'signer' });
    const file = leaseFile(api.config.journalFile);
    const taken = JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), epoch: 'other' });
    writeFileSync(file, taken);
    expect(await signer.exited).toMatchObject({ code: 1 });
    expect(readFileSync(file, 'utf8')).toBe(taken);
    expect(readFileSync(signer.logFile, 'utf8')).toContain('another signer has taken the journal over');
  });
});
