import { randomUUID } from 'node:crypto';
import { PROPOSE, sharedApi } from '../support/api';
import { checkConformance } from '../support/conformance';
import { type Operation, operations, urlOf } from '../support/document';
import type { Answer } from '../support/http';
import { valuesIn, withValue } from '../support/leaves';
import type { TestOrganization, TestService } from '../support/service';
import { openConnection, parseAnswer } from '../support/sockets';

let api: TestService;
let org: TestOrganization;

beforeAll(async () => {
  api = await sharedApi();
  org = await api.createOrganization();
});
afterAll(() => api?.stop());

/** NUL, a lone surrogate in UTF-8 and a byte that UTF-8 has not, in a URL. */
const UNSTORABLE = ['%00', '%ED%A0%80', '%FF'];

/** Text that can be stored but is easily taken for text that cannot: the body may be refused, but is answered. */
const STORABLE = ['\\u0000', '\uffff', '\u{10ffff}', "'; \u007f", 'x'.repeat(200_000)];

const withParams = operations.filter(({ params }) => params.length > 0);
const withQuery = operations.filter(({ query }) => query.length > 0);
const withBody = operations.filter(({ body }) => body);

function ask({ method, body }: Operation, path: string): Promise<Answer> {
  return api.http.send({
    key: org.adminKey,
    path,
    method: method.toUpperCase(),
    ...(body ? { body: body.example } : {}),
  });
}

describe('text that cannot be stored', () => {
  it.each(withParams.map((operation) => [operation.id, operation] as const))(
    'is 404 as an id in the path of %s',
    async (_, operation) => {
      for (const text of UNSTORABLE) {
        for (const { name } of operation.params) {
          const path = urlOf(operation, (id, other) => (other === name ? `${id}${text}` : id));
          const answer = await ask(operation, path);
          expect([path, answer.status, answer.body.code]).toEqual([path, 404, 'notFound']);
        }
      }
    },
  );

  it.each(withQuery.map((operation) => [operation.id, operation] as const))(
    'is refused in each parameter of the query of %s',
    async (_, operation) => {
      for (const { name, schema } of operation.query) {
        const given = schema.examples?.[0] ?? schema.enum?.[0] ?? '1';
        const path = `${urlOf(operation).split('?')[0]}?${name}=${encodeURIComponent(given)}%00`;
        const answer = await ask(operation, path);
        expect([path, answer.status, answer.body.error.details?.field]).toEqual([path, 400, name]);
      }
    },
  );

  it.each(['\0', '\ud800', '\udc00\ud800'])('is refused in a key of a body: %j', async (text) => {
    const body = `{"items":[{"name":"x","networkIds":[31337],${JSON.stringify(`a${text}`)}:1}]}`;
    const answer = await api.http.send({ key: org.adminKey, path: PROPOSE, body });
    expect([answer.status, answer.body.error.details?.field]).toEqual([400, 'items[0]']);
  });

  it.each([
    ['Authorization', 401],
    ['X-Idempotency-Key', 400],
    ['Content-Type', 400],
    ['Content-Encoding', 400],
    ['X-Request-Id', 201],
    ['X-Forwarded-For', 201],
    ['X-Forwarded-Proto', 201],
  ] as const)('in the header %s is answered with %d', async (name, status) => {
    const body = JSON.stringify({ items: [{ name: `Of ${name}`, networkIds: [31337] }] });
    const headers = {
      Host: 'x',
      Authorization: `Bearer ${org.adminKey}`,
      'X-Idempotency-Key': randomUUID(),
      'Content-Type': 'application/json',
      'Content-Length': String(body.length),
      Connection: 'close',
    };
    for (const [text, expected] of [
      ['\u00ff\u00fe', status],
      ['\0', 400],
    ] as const) {
      const lines = Object.entries({ ...headers, [name]: `Bearer ${text}` });
      const connection = openConnection(api, 'tls');
      connection.write(
        Buffer.from(
          `POST ${PROPOSE} HTTP/1.1\r\n${lines.map((line) => line.join(': ')).join('\r\n')}\r\n\r\n${body}`,
          'latin1',
        ),
      );
      const answer = parseAnswer(await connection.closed);
      checkConformance({ method: 'POST', path: PROPOSE }, answer);
      expect([text, answer.status]).toEqual([text, expected]);
    }
  });
});

describe('text that can be stored', () => {
  it.each(withBody.map((operation) => [operation.id, operation] as const))(
    'gives no 500 in any field of a body of %s',
    async (_, operation) => {
      const example = operation.body?.example;
      const texts = [...valuesIn(example)].filter(([, value]) => typeof value === 'string');
      const bodies = texts.flatMap(([path]) => STORABLE.map((text) => withValue(example, path, text)));
      const answers = await Promise.all(
        bodies.map((body) => api.http.send({ key: org.adminKey, path: urlOf(operation), body })),
      );
      expect(answers.filter(({ status }) => status >= 500).map(({ text }) => text)).toEqual([]);
    },
  );
});
