import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { endpoints, scopeOf } from '../../../src/api/endpoints';
import { openApiDocument, openApiText } from '../../../src/contract/openapi';
import { descriptionInput, nameInput, reasonInput } from '../../../src/contract/primitives';
import { SESSION_COOKIE, sessionEndpoints } from '../../../src/contract/sessionContract';

// biome-ignore lint/suspicious/noExplicitAny: a JSON document, walked by the tests
const document = openApiDocument(endpoints, scopeOf) as any;

function references(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner] : references(inner),
  );
}

// biome-ignore lint/suspicious/noExplicitAny: as above
function target(reference: string): any {
  const keys = reference.replace('#/', '').split('/');
  // biome-ignore lint/suspicious/noExplicitAny: as above
  return keys.reduce<any>((value, key) => value?.[key], document);
}

/** The operations of the document, with the servers of their paths. */
// biome-ignore lint/suspicious/noExplicitAny: as above
const documented = Object.values<any>(document.paths).flatMap(({ servers, ...methods }) =>
  // biome-ignore lint/suspicious/noExplicitAny: as above
  Object.values<any>(methods).map((operation) => ({ ...operation, servers })),
);

describe('the OpenAPI document', () => {
  it('is the one that is committed (npm run openapi writes it)', () => {
    const committed = readFileSync(join(__dirname, '../../../openapi.json'), 'utf8');
    expect(committed).toBe(openApiText(endpoints, scopeOf));
  });

  it('has every endpoint once', () => {
    expect(documented.map(({ operationId }) => operationId).sort()).toEqual(
      [...endpoints, ...sessionEndpoints].map(({ id }) => id).sort(),
    );
  });

  it('has a target for every reference', () => {
    for (const reference of references(document)) {
      expect([reference, typeof target(reference)]).toEqual([reference, 'object']);
    }
  });

  it('says on every endpoint what every endpoint can answer', () => {
    for (const { path, method, dryRun = false } of endpoints) {
      const statuses = Object.keys(document.paths[path][method].responses);
      expect(statuses).toEqual(expect.arrayContaining(['400', '401', '426', '429', '500']));
      // A dry run keeps no idempotency key: none is in conflict with it.
      if (method !== 'get' && !dryRun) expect(statuses).toEqual(expect.arrayContaining(['409', '422']));
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
      '503',
    ]);
  });

  it('asks whatever changes something for an idempotency key, and no GET', () => {
    const key = { $ref: '#/components/parameters/IdempotencyKey' };
    for (const { path, method } of endpoints) {
      const { parameters } = document.paths[path][method];
      expect(parameters.some((parameter: unknown) => JSON.stringify(parameter) === JSON.stringify(key))).toBe(
        method !== 'get',
      );
    }
  });

  it('takes a key or a session on every endpoint, and only a session on those of sessions', () => {
    expect(document.security).toEqual([{ apiKey: [] }, { session: [] }]);
    expect(document.components.securitySchemes.session).toMatchObject({ in: 'cookie', name: SESSION_COOKIE });
    const own = Object.fromEntries(
      documented
        .filter(({ servers }) => servers)
        .map(({ operationId, servers, security }) => [operationId, [servers[0].url, security]]),
    );
    const session = ['/', [{ session: [] }]];
    const anybody = ['/', []];
    expect(own).toEqual({
      getSessionNonce: anybody,
      startSession: anybody,
      getSession: session,
      endSession: session,
      listSessions: session,
      endOtherSession: session,
      listApiKeys: session,
      createApiKey: session,
      revokeApiKey: session,
      listChannels: session,
      createChannel: session,
      updateChannel: session,
      removeChannel: session,
      confirmChannel: session,
      sendChannelCode: session,
      testChannel: session,
    });
    expect(documented.filter(({ servers, security }) => !servers && security)).toEqual([]);
  });

  it('has schemas that a JSON Schema validator takes, and examples that fit them', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'openapi', components: document.components });
    for (const name of Object.keys(document.components.schemas)) {
      expect(() => ajv.compile({ $ref: `openapi#/components/schemas/${name}` })).not.toThrow();
    }
    for (const { path, method, exampleBody } of [...endpoints, ...sessionEndpoints]) {
      if (exampleBody === undefined) continue;
      const reference = document.paths[path][method].requestBody.$ref;
      const { schema } = target(reference).content['application/json'];
      expect([reference, ajv.validate({ $ref: `openapi${schema.$ref}` }, exampleBody)]).toEqual([
        reference,
        true,
      ]);
    }
    const { examples } = document.components.responses.Unauthorized.content['application/json'];
    expect(ajv.validate({ $ref: 'openapi#/components/schemas/Error' }, examples.unauthorized.value)).toBe(
      true,
    );
  });
});

/** A schema somewhere in the document, with its place. */
// biome-ignore lint/suspicious/noExplicitAny: as above
type Placed = readonly [place: string, schema: any];

/** A schema and every schema in it, without following references. */
// biome-ignore lint/suspicious/noExplicitAny: as above
function schemasIn(schema: any, place: string): Placed[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {}, items, allOf = [], anyOf = [], oneOf = [] } = schema;
  return [
    [place, schema],
    ...Object.entries(properties).flatMap(([name, field]) => schemasIn(field, `${place}.${name}`)),
    ...schemasIn(items, `${place}[]`),
    ...[...allOf, ...anyOf, ...oneOf].flatMap((variant, i) => schemasIn(variant, `${place}/${i}`)),
  ];
}

/** The name of a schema that is referred to. */
const nameOf = (reference: string): string => reference.replace('#/components/schemas/', '');

const named: Placed[] = Object.entries(document.components.schemas);
const all: Placed[] = named.flatMap(([name, schema]) => schemasIn(schema, name));

/** The names of the schemas that a request can contain. */
function namesInRequests(): Set<string> {
  const found = new Set<string>();
  const visit = (part: unknown): void => {
    for (const reference of references(part)) {
      const name = nameOf(reference);
      if (found.has(name)) continue;
      found.add(name);
      visit(target(reference));
    }
  };
  visit(Object.values(document.components.requestBodies));
  return found;
}

describe('the components of the OpenAPI document', () => {
  it('fit in 480 KB with everything else', () => {
    expect(Buffer.byteLength(openApiText(endpoints, scopeOf))).toBeLessThan(480_000);
  });

  it('hold every error response and every request body', () => {
    for (const { operationId, responses, requestBody } of documented) {
      for (const status of Object.keys(responses).filter((one) => Number(one) >= 400)) {
        expect([operationId, responses[status]]).toEqual([
          operationId,
          { $ref: expect.stringMatching('^#/components/responses/') },
        ]);
      }
      if (!requestBody) continue;
      const { schema } = target(requestBody.$ref).content['application/json'];
      expect([operationId, schema]).toEqual([
        operationId,
        { $ref: expect.stringMatching('^#/components/schemas/\\w+Request$') },
      ]);
    }
  });

  it('hold every response body under a name', () => {
    for (const { responses } of documented) {
      for (const response of Object.values<{ $ref?: string }>(responses)) {
        const { content } = response.$ref ? target(response.$ref) : response;
        const [{ schema }] = Object.values<{ schema: object }>(content) as [{ schema: object }];
        expect(schema).toEqual({ $ref: expect.any(String) });
      }
    }
  });

  it('hold every enum under a name', () => {
    const enums = all.filter(([, schema]) => schema.enum?.length > 1).map(([place]) => place);
    expect(enums).toEqual(enums.filter((place) => /^\w+$/.test(place)));
    expect(enums).toEqual(expect.arrayContaining(['SignatureStatus', 'ExecutionStatus', 'ErrorCode']));
  });

  it('hold what variants have in common as a base', () => {
    for (const [base, variant] of [
      ['ProposalBase', 'AccountsCreateProposal'],
      ['TransactionBase', 'TokenTransferTransaction'],
      ['PolicyBase', 'AnyTransactionPolicy'],
      ['PolicyInput', 'AddedPolicy'],
    ] as const) {
      expect(document.components.schemas[variant].allOf[0]).toEqual({ $ref: `#/components/schemas/${base}` });
    }
  });

  it('have a discriminator for every variant of a oneOf, and no oneOf of one', () => {
    const unions = all.filter(([, { oneOf }]) => oneOf);
    expect(unions.length).toBeGreaterThan(8);
    for (const [place, { oneOf, discriminator }] of unions) {
      const variants = oneOf.map(({ $ref }: { $ref: string }) => $ref).sort();
      expect([place, variants.length > 1]).toEqual([place, true]);
      expect([place, [...new Set(Object.values(discriminator.mapping))].sort()]).toEqual([place, variants]);
    }
  });

  it('have anyOf for null, and where no field tells variants apart', () => {
    const withoutField = ['Remaining', 'TransactionSigningPayloads'];
    for (const [place, { anyOf }] of all) {
      if (!anyOf || withoutField.includes(place)) continue;
      expect([place, anyOf.length, anyOf[1]]).toEqual([place, 2, { type: 'null' }]);
    }
  });

  it('have no property that can only be null', () => {
    const onlyNull = all.filter(([place, { type }]) => type === 'null' && !/\/\d+$/.test(place));
    expect(onlyNull.map(([place]) => place)).toEqual([]);
  });

  it('have no boolean with fewer than two values', () => {
    // openapi-generator's java makes an enum of texts of it, which does not compile.
    const limited = all.filter(
      ([, { type, ...more }]) => type === 'boolean' && ('const' in more || 'enum' in more),
    );
    expect(limited.map(([place]) => place)).toEqual([]);
  });

  it('have nothing beside a reference that changes what it allows', () => {
    const parameters = Object.entries<{ schema: object }>(document.components.parameters);
    const schemas = [...all, ...parameters.map(([name, { schema }]) => [name, schema] as const)];
    const beside = schemas
      .filter(([, schema]) => '$ref' in schema)
      .map(([place, { $ref: _, description: __, readOnly: ___, ...others }]) => [place, Object.keys(others)]);
    expect(beside.filter(([, others]) => others?.length)).toEqual([]);
  });

  it('have no union as a variant of a union', () => {
    const unions = new Set(named.filter(([, { oneOf, anyOf }]) => oneOf || anyOf).map(([name]) => name));
    const variants = all.flatMap(([place, { oneOf = [], anyOf = [] }]) =>
      // What is null or a union is not a union of a union.
      (anyOf[1]?.type === 'null' ? [] : [...oneOf, ...anyOf]).map(({ $ref = '' }) => [place, nameOf($ref)]),
    );
    expect(variants.filter(([, name]) => unions.has(name ?? ''))).toEqual([]);
  });

  it('have no name that is a constructor of another one', () => {
    const names = new Set(named.map(([name]) => name));
    const constructors = [...names].flatMap((name) => [`New${name}`, `Nullable${name}`]);
    expect(constructors.filter((name) => names.has(name))).toEqual([]);
  });

  it('have no parameter with the name of a schema that is not its own', () => {
    const parameters = Object.entries<{ schema: { $ref?: string } }>(document.components.parameters);
    const others = parameters.filter(([name, { schema }]) => schema.$ref && nameOf(schema.$ref) !== name);
    const names = new Set(named.map(([name]) => name));
    expect(others.map(([name]) => name).filter((name) => names.has(name))).toEqual([]);
  });

  it('have headers and queries of texts, numbers and enums without a format', () => {
    for (const { schema, name } of Object.values<{ schema: object; name: string }>(
      document.components.parameters,
    ))
      expect([name, 'format' in schema]).toEqual([name, false]);
  });

  it('say of every part of a request what it is', () => {
    const names = namesInRequests();
    const parts = named.filter(([name]) => names.has(name)).flatMap(([name, one]) => schemasIn(one, name));
    expect(parts.length).toBeGreaterThan(100);
    for (const [place, schema] of parts) {
      const says = ['type', '$ref', 'anyOf', 'oneOf', 'allOf'].some((key) => key in schema);
      expect([place, says]).toEqual([place, true]);
    }
  });

  it('refuse duplicates in every list of a request', () => {
    const names = namesInRequests();
    const lists = named
      .filter(([name]) => names.has(name))
      .flatMap(([name, schema]) => schemasIn(schema, name))
      .filter(([, schema]) => schema.type === 'array' && schema.maxItems !== undefined);
    expect(lists.length).toBeGreaterThan(15);
    for (const [place, schema] of lists) expect([place, schema.uniqueItems]).toEqual([place, true]);
  });

  it('have examples that fit', () => {
    const ajv = new Ajv2020({ strict: false });
    addFormats(ajv);
    ajv.addSchema({ $id: 'openapi', components: document.components });
    const examples = all.flatMap(([place, schema]) =>
      [...(schema.examples ?? []), ...('default' in schema ? [schema.default] : [])].map(
        (example) => [place, schema, example] as const,
      ),
    );
    expect(examples.length).toBeGreaterThan(40);
    for (const [place, schema, example] of examples) {
      const text = JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/');
      expect([place, ajv.validate(JSON.parse(text), example)]).toEqual([place, true]);
    }
  });

  it('give X-Request-Id no pattern, because none is enforced', () => {
    expect(document.components.headers.RequestId.schema).not.toHaveProperty('pattern');
    expect(JSON.stringify(document.components.parameters)).not.toContain('X-Request-Id');
  });

  it('refuse the code points of a name that the service refuses, as far as a pattern can say it', () => {
    const { pattern } = document.components.schemas.Name;
    const expression = new RegExp(pattern, 'u');
    const differing: string[] = [];
    for (let point = 0; point <= 0xffff; point++) {
      if (point >= 0xd800 && point <= 0xdfff) continue;
      const name = `a${String.fromCodePoint(point)}`;
      if (expression.test(name) !== nameInput.safeParse(name).success) differing.push(point.toString(16));
    }
    expect(differing).toEqual([]);
    expect(expression.test('  ')).toBe(false);
  });

  it('refuse the control characters of texts that the service refuses', () => {
    for (const [name, schema] of [
      ['Description', descriptionInput],
      ['Reason', reasonInput],
    ] as const) {
      const expression = new RegExp(document.components.schemas[name].pattern, 'u');
      for (let point = 0; point < 0xd800; point++) {
        const text = String.fromCodePoint(point);
        if (expression.test(text) !== schema.safeParse(text).success) {
          throw new Error(`${name} and its pattern differ on U+${point.toString(16)}`);
        }
      }
    }
  });
});
