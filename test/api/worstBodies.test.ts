import { sharedApi } from '../support/api';
import { operations, urlOf } from '../support/document';
import type { TestOrganization, TestService } from '../support/service';
import { worstBodies } from '../support/worstBodies';

/** Of an answer that refuses: 100 issues of at most 200 characters each, and what is said of them. */
const MAX_ANSWER_BYTES = 65_536;
const MAX_ISSUES = 100;

let api: TestService;
let org: TestOrganization;

beforeAll(async () => {
  api = await sharedApi();
  org = await api.createOrganization();
});
afterAll(() => api?.stop());

// How long it takes is measured by `npm run bench -- blocking`; here is what bounds the work.
describe.each(operations.filter(({ body }) => body).map((operation) => [operation.id, operation] as const))(
  '%s',
  (_, operation) => {
    it('refuses its worst bodies with few issues, and stores nothing', async () => {
      const before = await org.stored();
      for (const { name, text } of worstBodies(operation)) {
        const answer = await api.http.send({
          key: org.adminKey,
          path: urlOf(operation),
          method: operation.method.toUpperCase(),
          body: text,
        });
        const { issues } = answer.body.error.details;
        const isBounded = issues.length <= MAX_ISSUES && answer.text.length <= MAX_ANSWER_BYTES;
        expect([name, answer.status, isBounded]).toEqual([name, 400, true]);
      }
      expect(await org.stored()).toEqual(before);
    });
  },
);

describe('every GET', () => {
  const queries = [
    Array.from({ length: 2_500 }, (_, i) => `k${i}`).join('&'),
    'k'.repeat(15_000),
    `cursor=${'A'.repeat(15_000)}`,
    `limit=${'9'.repeat(15_000)}`,
  ];

  it.each(
    operations
      .filter(({ method }) => method === 'get')
      .map((operation) => [operation.id, operation] as const),
  )('%s refuses its worst queries with few issues', async (_, operation) => {
    for (const query of queries) {
      const path = urlOf(operation);
      const answer = await api.http.send({
        key: org.adminKey,
        path: `${path}${path.includes('?') ? '&' : '?'}${query}`,
      });
      expect([query.slice(0, 20), answer.status]).toEqual([query.slice(0, 20), 400]);
      expect(answer.body.error.details.issues.length).toBeLessThanOrEqual(MAX_ISSUES);
      expect(answer.text.length).toBeLessThanOrEqual(MAX_ANSWER_BYTES);
    }
  });
});
