import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2020 from 'ajv/dist/2020';
import { endpoints } from '../../../src/api/endpoints';
import { openApiDocument, openApiText } from '../../../src/contract/openapi';

// biome-ignore lint/suspicious/noExplicitAny: a JSON document, walked by the tests
const document = openApiDocument(endpoints) as any;

function references(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner] : references(inner),
  );
}

describe('the OpenAPI document', () => {
  it('is the one that is committed (npm run openapi writes it)', () => {
    const committed = readFileSync(join(__dirname, '../../../openapi.json'), 'utf8');
    expect(committed).toBe(openApiText(endpoints));
  });

  it('has every endpoint once', () => {
    // biome-ignore lint/suspicious/noExplicitAny: as above
    const operations = Object.values<any>(document.paths).flatMap((path) => Object.values<any>(path));
    expect(operations.map((operation) => operation.operationId).sort()).toEqual(
      endpoints.map(({ id }) => id).sort(),
    );
  });

  it('has a target for every reference', () => {
    for (const reference of references(document)) {
      const target = reference
        .replace('#/', '')
        .split('/')
        // biome-ignore lint/suspicious/noExplicitAny: as above
        .reduce<any>((value, part) => value?.[part], document);
      expect([reference, typeof target]).toEqual([reference, 'object']);
    }
  });

  it('says on every endpoint what every endpoint can answer', () => {
    for (const { path, method } of endpoints) {
      const statuses = Object.keys(document.paths[path][method].responses);
      expect(statuses).toEqual(expect.arrayContaining(['400', '401', '426', '429', '500']));
      // A dry run keeps no idempotency key: none is in conflict with it.
      const keeps = method === 'post' && path !== '/policies/evaluate';
      if (keeps) expect(statuses).toEqual(expect.arrayContaining(['409', '422']));
    }
  });

  it('has the errors of the contract on the endpoint that signs', () => {
    const { responses } = document.paths['/accounts/proposals/{proposalId}/signatures'].post;
    expect(Object.keys(responses)).toEqual([
      '200',
      '400',
      '401',
      '403',
      '404',
      '409',
      '422',
      '426',
      '429',
      '500',
    ]);
  });

  it('asks every POST for an idempotency key, and no GET', () => {
    const key = { $ref: '#/components/parameters/IdempotencyKey' };
    for (const { path, method } of endpoints) {
      const { parameters } = document.paths[path][method];
      expect(parameters.some((parameter: unknown) => JSON.stringify(parameter) === JSON.stringify(key))).toBe(
        method === 'post',
      );
    }
  });

  it('has schemas that a JSON Schema validator takes, and examples that fit them', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'openapi', components: document.components });
    for (const name of Object.keys(document.components.schemas)) {
      expect(() => ajv.compile({ $ref: `openapi#/components/schemas/${name}` })).not.toThrow();
    }
    for (const { path, method, exampleBody } of endpoints) {
      if (exampleBody === undefined) continue;
      const { schema } = document.paths[path][method].requestBody.content['application/json'];
      expect(ajv.validate(schema, exampleBody)).toBe(true);
    }
    const { examples } = document.paths['/members'].get.responses['401'].content['application/json'];
    expect(ajv.validate({ $ref: 'openapi#/components/schemas/Error' }, examples.unauthorized.value)).toBe(
      true,
    );
  });
});
