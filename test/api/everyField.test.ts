import { sharedApi } from '../support/api';
import { WRONG_CHECKSUM } from '../support/builders';
import { type Json, type Operation, operations, urlOf } from '../support/document';
import {
  bodiesFor,
  type Furnished,
  furnish,
  isDryRun,
  newAddress,
  proposesSomething,
} from '../support/furnished';
import { fieldOf, type Path, schemasAt, valuesIn, withValue } from '../support/leaves';
import type { TestService } from '../support/service';
import type { StoredState } from '../support/storedState';
import { NETWORK_ID } from '../support/transactions';

let api: TestService;
let own: Furnished;
let before: StoredState;

/** Much is made before the first test; on a busy machine it takes its time. */
const SET_UP_LIMIT_MS = 240_000;

beforeAll(async () => {
  api = await sharedApi();
  own = await furnish(api, await api.createOrganization());
  before = await own.org.stored();
}, SET_UP_LIMIT_MS);
afterAll(() => api?.stop());

/** Whole bodies, with every field that they can have. */
function bodiesOf(operation: Operation): Json[] {
  if (proposesSomething(operation) || isDryRun(operation)) return bodiesFor(operation.id, own);
  if (operation.path.endsWith('/references')) return bodiesFor(operation.id, own);
  if (operation.path.endsWith('/signatures')) {
    return [{ type: 'approve', signature: '0x', reason: 'because', execute: true }];
  }
  if (operation.path.endsWith('/execute')) return [{ type: 'approve' }];
  if (operation.id === 'importAddressBook') return [{ csv: `address,name\n${newAddress()},ACME\n` }];
  if (['removeAddressBookEntry', 'rotateWebhook'].includes(operation.id)) return [{}];
  if (operation.id === 'resendEvents') {
    return [{ eventIds: ['log_01jz8k3v5fe5ht0n2m6w9r4xyz'] }, { from: '1', to: '2' }, { failed: true }];
  }
  if (operation.path.startsWith('/webhooks')) {
    return [
      { url: 'http://127.0.0.1:9/', types: ['group.created'], description: 'A ledger', enabled: false },
    ];
  }
  if (operation.path.startsWith('/address-book')) {
    return [{ name: 'ACME', address: newAddress(), networkId: NETWORK_ID }];
  }
  if (operation.id === 'registerWallet') return [{ walletAddress: newAddress(), signature: '0x' }];
  throw new Error(`what is a body of ${operation.id}? write one`);
}

/** One thing wrong with a body: where, what is there instead, and the field that is named if it is another. */
interface Fault {
  readonly what: string;
  readonly path: Path;
  readonly value: Json;
  /** Where it is not a list that is too long, the field that is refused. */
  readonly within?: true;
}

const OF_ANOTHER_TYPE: { readonly [type: string]: Json } = {
  string: 7,
  number: '7x',
  boolean: 'true',
  list: {},
  object: ['x'],
};

function typeOf(value: Json): string {
  return Array.isArray(value) ? 'list' : typeof value;
}

/** What a text can be instead that its schema forbids. */
function badTexts(schemas: readonly Json[], text: string): [string, string][] {
  const longest = Math.max(...schemas.map(({ maxLength }) => maxLength ?? 0));
  return [
    ['the NUL character', `${text}\0`],
    ['a lone surrogate', `${text}\ud800`],
    ...(schemas.some((schema) => schema.enum) ? ([['no such word', 'surprise']] as const) : []),
    ...(longest > 0 ? ([['too long', 'x'.repeat(longest + 1)]] as const) : []),
    ...(longest > 0 ? ([['a control character', 'a\u0007b']] as const) : []),
    ...(/^[a-z]{3}_/.test(text) ? ([['an id of another kind', text.replace(/^.../, 'key')]] as const) : []),
    ...(/^0x[0-9a-fA-F]{40}$/.test(text)
      ? ([
          ['an address cut short', text.slice(0, -1)],
          ['a wrong checksum', WRONG_CHECKSUM],
        ] as const)
      : []),
  ].map(([what, value]) => [what, value]);
}

/** What a list can be instead that its schema forbids. */
function badLists(schemas: readonly Json[], path: Path, list: readonly Json[]): Fault[] {
  const longest = Math.max(...schemas.map(({ maxItems }) => maxItems ?? 0));
  const faults: Fault[] = [];
  if (schemas.some(({ minItems }) => minItems > 0)) faults.push({ what: 'an empty list', path, value: [] });
  if (longest > 0) {
    const many = Array.from({ length: longest + 1 }, () => list[0]);
    faults.push({ what: 'too many', path, value: many, within: true });
  }
  if (list.length > 0) {
    faults.push({ what: 'one of them twice', path, value: [list[0], list[0]], within: true });
  }
  return faults;
}

/** What can be wrong with the keys of an object. */
function badKeys(schemas: readonly Json[], path: Path, names: readonly string[]): Fault[] {
  const objects = schemas.filter(({ type }) => type !== 'null');
  const always = names.filter((name) => objects.every(({ required = [] }) => required.includes(name)));
  return [
    { what: 'an unknown key', path: [...path, 'surprise'], value: 1 },
    ...always.map((name) => ({ what: 'missing', path: [...path, name], value: undefined })),
  ];
}

/** What can be wrong with a value that is of a type that its schema allows. */
function faultsWithin(schemas: readonly Json[], path: Path, value: Json): Fault[] {
  if (typeof value === 'string') {
    return badTexts(schemas, value).map(([what, text]) => ({ what, path, value: text }));
  }
  if (typeof value === 'number') {
    return [
      { what: 'a fraction', path, value: 1.5 },
      { what: 'a negative number', path, value: -1 },
    ];
  }
  if (Array.isArray(value)) return badLists(schemas, path, value);
  return typeof value === 'object' && value !== null ? badKeys(schemas, path, Object.keys(value)) : [];
}

/** Everything that can be wrong at one place of a body. */
function faultsAt(schema: Json, path: Path, value: Json): Fault[] {
  const schemas = schemasAt(schema, path);
  const nullable = schemas.some(({ type }) => [type].flat().includes('null'));
  return [
    { what: 'another type', path, value: OF_ANOTHER_TYPE[typeOf(value)] },
    ...(nullable ? [] : [{ what: 'null', path, value: null }]),
    ...faultsWithin(schemas, path, value),
  ];
}

const mutations = operations.filter(({ body }) => body !== undefined);

describe.each(mutations.map((operation) => [operation.id, operation] as const))(
  'a body of %s',
  (_, operation) => {
    it('is refused for each invalid field, by its name', async () => {
      const asked: [string, string, number, string, string][] = [];
      const bodies = bodiesOf(operation);
      const faults = bodies.flatMap((body) =>
        [...valuesIn(body)].flatMap(([path, value]) =>
          value === null
            ? []
            : faultsAt(operation.body?.schema, path, value).map((fault) => ({ body, ...fault })),
        ),
      );
      expect(faults.length).toBeGreaterThan(Object.keys(bodies[0] ?? {}).length + 1);
      for (const { body, what, path, value, within } of faults) {
        const bad = withValue(body, path, value);
        const answer = await api.http.send({
          key: own.org.adminKey,
          method: operation.method.toUpperCase(),
          path: urlOf(operation),
          body: JSON.stringify(bad),
        });
        const field: string = answer.body.error?.details?.field ?? 'none';
        const wanted = fieldOf(path);
        const named = within && field.startsWith(wanted) ? wanted : field;
        asked.push([wanted, what, answer.status, answer.body.code ?? 'none', named]);
      }
      expect(asked.filter(([wanted, , ...got]) => got.join() !== `400,validationError,${wanted}`)).toEqual(
        [],
      );
      expect(await own.org.stored()).toEqual(before);
    });
  },
);
