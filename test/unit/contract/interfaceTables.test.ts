import { document, type Json, resolve } from '../../support/document';
import {
  BASE,
  ENDPOINTS,
  type EndpointRow,
  ERROR,
  ERROR_CODES,
  LISTED_CODES,
  PAGE_SIZE,
  PAGINATION,
  PROPOSAL_DATA,
  TRANSACTION_DATA,
} from '../../support/interfaceTables';
import { faultsOf, rowsOf, type Shape } from '../../support/shapes';

/** Paths name their parameters as they like. */
const anonymous = (path: string) => path.replaceAll(/\{\w+\}/g, '{}');
const nameOf = ({ method, path }: EndpointRow) => `${method} ${path}`;

const documented = new Map<string, Json>(
  // Those of sessions are not on the interface page.
  Object.entries<Json>(document.paths).flatMap(([path, { servers, ...methods }]) =>
    Object.entries<Json>(servers ? {} : methods).map(([method, operation]): [string, Json] => [
      `${method} ${anonymous(path)}`,
      operation,
    ]),
  ),
);
const operationOf = (row: EndpointRow): Json => documented.get(anonymous(nameOf(row)));

/** The alternatives of a schema, one by one. */
function variantsOf(schema: Json): Json[] {
  const resolved = resolve(schema);
  const variants = resolved.anyOf ?? resolved.oneOf;
  if (variants) return variants.flatMap(variantsOf);
  return [resolved.type ?? []].flat().map((type: string) => ({ ...resolved, type }));
}

function wordsOf(variants: readonly Json[]): string[] {
  return variants
    .flatMap((schema) => schema.enum ?? (schema.const === undefined ? [] : [schema.const]))
    .sort();
}

function typesOf(variants: readonly Json[]): string {
  return [...new Set(variants.map(({ type }) => type))].join();
}

function typeDifferences(wanted: string, variants: readonly Json[], path: string): string[] {
  const types = typesOf(variants);
  return types === wanted ? [] : [`${path} is ${types}, not ${wanted}`];
}

/** A text of a form. Other forms are only said in words, or in patterns of their own. */
function textDifferences(form: Shape, variants: readonly Json[], path: string): string[] {
  const isTime = form === 'dateTime' || form === 'wholeSeconds';
  return [
    ...typeDifferences('string', variants, path),
    ...(isTime && variants.some(({ format }) => format !== 'date-time')
      ? [`${path} is not a date-time`]
      : []),
    ...(form === 'address' && variants.some(({ pattern }) => pattern !== '^0x[a-fA-F0-9]{40}$')
      ? [`${path} has no pattern of an address`]
      : []),
  ];
}

function fieldDifferences(
  [name, required, shape]: ReturnType<typeof rowsOf>[number],
  variants: readonly Json[],
  path: string,
): string[] {
  const having = variants.filter(({ properties }) => properties?.[name]);
  if (having.length === 0) return [`${path} is missing`];
  const always = variants.every((variant) => variant.required?.includes(name));
  return [
    ...(always === required ? [] : [`${path} is ${required ? 'not always there' : 'required'}`]),
    ...differences(shape, { anyOf: having.map(({ properties }) => properties[name]) }, path),
  ];
}

/** Differences from a shape that cannot be null. */
function differencesOf(
  shape: Exclude<Shape, { orNull: Shape }>,
  variants: readonly Json[],
  path: string,
): string[] {
  if (shape === 'boolean' || shape === 'integer' || shape === 'object') {
    return typeDifferences(shape, variants, path);
  }
  if (typeof shape === 'string' || 'id' in shape) return textDifferences(shape, variants, path);
  if ('oneOf' in shape) {
    const words = [...new Set(wordsOf(variants))];
    return words.join() === [...shape.oneOf].sort().join() ? [] : [`${path} is one of ${words}`];
  }
  if ('listOf' in shape) {
    return [
      ...typeDifferences('array', variants, path),
      ...differences(shape.listOf, { anyOf: variants.map(({ items }) => items) }, `${path}[]`),
    ];
  }
  return [
    ...typeDifferences('object', variants, path),
    ...rowsOf(shape.fields).flatMap((row) => fieldDifferences(row, variants, `${path}.${row[0]}`)),
  ];
}

/** Everything in which the schema of the document is other than a shape of the tables: types, required, enums. */
function differences(shape: Shape, schema: Json, path: string): string[] {
  const all = variantsOf(schema);
  const variants = all.filter(({ type }) => type !== 'null');
  const nullable = all.length > variants.length;
  if (typeof shape === 'object' && 'orNull' in shape) {
    return [
      ...(nullable ? [] : [`${path} cannot be null`]),
      ...differences(shape.orNull, { anyOf: variants }, path),
    ];
  }
  return nullable ? [`${path} can be null`] : differencesOf(shape, variants, path);
}

function answerSchema(row: EndpointRow): Json {
  return resolve(resolve(operationOf(row).responses[row.status]).content['application/json'].schema);
}

/** One variant of the table's proposal, for what the document says about the words of its own kinds only. */
function withOwnWords(row: EndpointRow): Shape {
  const { data, proposals } = row;
  if (!proposals || typeof data !== 'object' || !('fields' in data)) return data;
  return {
    fields: {
      ...data.fields,
      resourceType: { oneOf: proposals.resources },
      action: { oneOf: ownActions(row) },
    },
  };
}

/** The document describes a proposal by its resource; which of its actions an endpoint makes is said in words. */
function ownActions({ proposals }: EndpointRow): string[] {
  const kinds = Object.keys(PROPOSAL_DATA).map((kind) => kind.split('/'));
  return [
    ...new Set(
      kinds.flatMap(([resource, action = '']) =>
        proposals?.resources.some((own) => own === resource) ? [action] : [],
      ),
    ),
  ];
}

describe('the OpenAPI document beside the tables of the interface page', () => {
  it('has every endpoint of the table, and no other', () => {
    expect([...documented.keys()].sort()).toEqual(ENDPOINTS.map((row) => anonymous(nameOf(row))).sort());
  });

  it('has its base path', () => {
    expect(document.servers).toEqual([{ url: BASE }]);
    expect(document.info.version).toBe('2.0.0');
  });

  describe.each(ENDPOINTS.map((row) => [nameOf(row), row] as const))('%s', (name, row) => {
    it('answers as the tables say', () => {
      const schema = answerSchema(row);
      const data = withOwnWords(row);
      expect(schema.required).toContain('data');
      expect(
        differences(row.form === 'one' ? data : { listOf: data }, schema.properties.data, 'data'),
      ).toEqual([]);
      const { pagination } = schema.properties;
      if (row.form === 'one') expect(pagination).toBeUndefined();
      else expect(differences(PAGINATION, pagination, 'pagination')).toEqual([]);
      expect(schema.required.includes('pagination')).toBe(row.form === 'page' || row.form === 'feed');
    });

    it('has the statuses and error codes of the tables', () => {
      const { responses } = operationOf(row);
      const successes = Object.keys(responses).filter((status) => Number(status) < 400);
      // What creates something answers with it as it is, where its response is not kept any more.
      expect(successes).toEqual(row.status === 201 ? ['200', '201'] : ['200']);
      const codes = Object.entries<Json>(responses).flatMap(([status, response]) =>
        Object.keys(resolve(response).content['application/json'].examples ?? {}).map(
          (code) => `${status} ${code}`,
        ),
      );
      expect(codes.sort()).toEqual(row.codes.map((code) => `${ERROR_CODES[code]} ${code}`).sort());
      for (const code of LISTED_CODES[name] ?? []) expect(row.codes).toContain(code);
    });

    it('asks for what the tables say', () => {
      const operation = operationOf(row);
      const parameters = operation.parameters.map(resolve);
      const named = (place: string) =>
        parameters
          .filter((parameter: Json) => parameter.in === place)
          .map((parameter: Json) => parameter.name);
      expect(named('path')).toHaveLength(row.path.split('{').length - 1);
      expect(named('header').includes('X-Idempotency-Key')).toBe(row.method !== 'get');
      expect(operation.requestBody !== undefined).toBe(['post', 'patch'].includes(row.method));
      expect(/Requires the API key of an admin of type `api`/.test(operation.description)).toBe(
        row.who === 'A',
      );
      expect(named('query').includes('cursor')).toBe(row.form === 'list' || row.form === 'page');
      expect(named('query').includes('after')).toBe(row.form === 'feed');
      if (row.form === 'one') return;
      const limit = parameters.find((parameter: Json) => parameter.name === 'limit').schema;
      expect([limit.minimum, limit.maximum]).toEqual([PAGE_SIZE.minimum, PAGE_SIZE.maximum]);
    });
  });

  it('has the data of every kind of proposal', () => {
    const listAll = answerSchema(ENDPOINTS.find(({ path }) => path === '/proposals') as EndpointRow);
    const kinds = variantsOf(listAll.properties.data.items);
    const found = kinds.map(
      ({ properties }) => `${properties.resourceType.const}/${properties.action.const}`,
    );
    expect(found.sort()).toEqual(Object.keys(PROPOSAL_DATA).sort());
    for (const { properties } of kinds) {
      const kind = `${properties.resourceType.const}/${properties.action.const}`;
      expect(differences(PROPOSAL_DATA[kind] as Shape, properties.data, kind)).toEqual([]);
    }
  });

  it('has the data of every type of transaction', () => {
    const list = answerSchema(ENDPOINTS.find(({ path }) => path === '/transactions') as EndpointRow);
    const variants = variantsOf(list.properties.data.items);
    const types = variants.map(({ properties }) => properties.type.const);
    expect(types.sort()).toEqual(Object.keys(TRANSACTION_DATA).sort());
    for (const { properties } of variants) {
      const type = properties.type.const;
      expect(differences(TRANSACTION_DATA[type] as Shape, properties.data, type)).toEqual([]);
    }
  });

  it('has the one form of errors', () => {
    expect(differences(ERROR, document.components.schemas.Error, 'body')).toEqual([]);
  });

  it('has the body of a vote', () => {
    for (const [name, operation] of documented) {
      if (!name.endsWith('/signatures')) continue;
      const body = resolve(operation.requestBody).content['application/json'];
      const { properties, required } = resolve(body.schema);
      expect(Object.keys(properties).sort()).toEqual(['execute', 'reason', 'signature', 'type']);
      expect([...required].sort()).toEqual(['signature', 'type']);
      const initiates = name.includes('/transactions') ? ['initiator'] : [];
      expect(resolve(properties.type).enum).toEqual([...initiates, 'approve', 'reject']);
      expect(properties.execute).toMatchObject({ type: 'boolean', default: false });
    }
  });
});

describe('the comparison of a body with a shape', () => {
  it.each<[string, Shape, unknown, boolean]>([
    ['a text', 'string', '', true],
    ['no text', 'string', 1, false],
    ['a fraction', 'integer', 1.5, false],
    ['a time with milliseconds', 'dateTime', '2025-06-01T12:00:00.000Z', true],
    ['a time of another zone', 'dateTime', '2025-06-01T12:00:00.000+01:00', false],
    ['an id', { id: 'mem' }, 'mem_01jz8k3v5fe5ht0n2m6w9r4xyz', true],
    ['an id of another kind', { id: 'mem' }, 'grp_01jz8k3v5fe5ht0n2m6w9r4xyz', false],
    ['a word', { oneOf: ['a', 'b'] }, 'b', true],
    ['another word', { oneOf: ['a', 'b'] }, 'c', false],
    ['nothing', { orNull: 'string' }, null, true],
    ['nothing where something must be', 'string', null, false],
    ['a list', { listOf: 'integer' }, [1, 2], true],
    ['a list with another item', { listOf: 'integer' }, [1, '2'], false],
    ['more than the table has', { fields: { a: 'string' } }, { a: '', b: 1 }, true],
    ['less than the table has', { fields: { a: 'string', b: 'integer' } }, { a: '' }, false],
    ['without what may be absent', { fields: { a: 'string', 'b?': 'integer' } }, { a: '' }, true],
    ['with a wrong field that may be absent', { fields: { 'b?': 'integer' } }, { b: '' }, false],
  ])('%s', (_, shape, value, fits) => {
    expect(faultsOf(shape, value).length === 0).toBe(fits);
  });
});
