import {
  badField,
  expectRefused,
  makeAccount,
  PROPOSE,
  proposalPath,
  propose,
  type Shown,
  sharedApi,
  UNKNOWN,
  UPDATE,
} from '../support/api';
import type { Ask } from '../support/http';
import type { TestOrganization, TestService } from '../support/service';

let api: TestService;
let org: TestOrganization;
let account: Shown;
let proposal: Shown;

beforeAll(async () => {
  api = await sharedApi();
  org = await api.createOrganization();
  account = await makeAccount(api.http, org, { name: 'Treasury', networkIds: [31337] });
  proposal = await propose(api.http, org, { name: 'Waiting' });
});
afterAll(() => api?.stop());

function refused(ask: Partial<Ask>, field: string, path = PROPOSE) {
  return expectRefused(api.http, org, { key: org.adminKey, path, ...ask }, badField(field));
}

const item = (change: object = {}) => ({ name: 'New', networkIds: [31337], ...change });
const withItem = (change: object) => ({ items: [item(change)] });
const json = JSON.stringify({ items: [item()] });

describe('an invalid JSON body', () => {
  it.each<[string, string | Buffer]>([
    ['cut off', '{"items":['],
    ['of two texts', `${json}${json}`],
    ['with a trailing comma', '{"items":[],}'],
    ['with a comment', '{/* none */"items":[]}'],
    ['with a key given twice', `{"items":[],${json.slice(1)}`],
    ['with a key given twice inside an item', '{"items":[{"name":"a","name":"b","networkIds":[31337]}]}'],
    ['with the key __proto__', `{"__proto__":{},${json.slice(1)}`],
    ['not in UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['with a byte order mark', `\ufeff${json}`],
    ['with a number beyond all numbers', '{"items":[{"name":"a","networkIds":[1e999]}]}'],
    ['nested too deeply', `${'['.repeat(33)}${']'.repeat(33)}`],
    ['of white space only', '   '],
  ])('%s is refused', async (_, body) => {
    await refused({ body }, 'body');
  });

  it('is refused when it is missing', async () => {
    await refused({ method: 'POST' }, 'body');
  });
});

describe('the type of a body', () => {
  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'application/json5',
    'application/problem+json',
    'text/json',
    '',
  ])('%p is refused', async (type) => {
    await refused({ body: json, headers: { 'content-type': type } }, 'Content-Type');
  });

  it.each(['gzip', 'br', 'deflate', 'gzip, identity'])('encoded as %s is refused', async (encoding) => {
    await refused({ body: json, headers: { 'content-encoding': encoding } }, 'Content-Encoding');
  });
});

describe('a body with a bad field', () => {
  const accounts = (count: number) => Array.from({ length: count }, (_, i) => item({ name: `a${i}` }));
  it.each<[string, unknown, string]>([
    ['that is a list', [], 'body'],
    ['that is a text', '"items"', 'body'],
    ['that is null', 'null', 'body'],
    ['without items', {}, 'items'],
    ['whose items are null', { items: null }, 'items'],
    ['whose items are not a list', { items: item() }, 'items'],
    ['whose item is not an object', { items: ['New'] }, 'items[0]'],
    ['without an item', { items: [] }, 'items'],
    ['with 101 items', { items: accounts(101) }, 'items'],
    ['with an item twice', { items: [item(), item({ name: 'Other' }), item()] }, 'items[2]'],
    ['with an unknown key', { items: [item()], note: '' }, 'note'],
    ['with an unknown key in an item', withItem({ threshold: 1 }), 'items[0].threshold'],
    ['with a misspelt key', withItem({ networkIDs: [31337] }), 'items[0].networkIDs'],
    ['without a name', { items: [{ networkIds: [31337] }] }, 'items[0].name'],
    ['with a name of no characters', withItem({ name: '' }), 'items[0].name'],
    ['with a name of 101 characters', withItem({ name: 'x'.repeat(101) }), 'items[0].name'],
    ['with a name of 300 characters', withItem({ name: 'x'.repeat(300) }), 'items[0].name'],
    ['with a name of blanks', withItem({ name: '  ' }), 'items[0].name'],
    ['with a line break in a name', withItem({ name: 'a\nb' }), 'items[0].name'],
    ['with a lone surrogate in a name', withItem({ name: 'a\ud800b' }), 'items[0].name'],
    ['with a control character in a name', withItem({ name: 'a\u0000b' }), 'items[0].name'],
    ['with a name that turns text round', withItem({ name: 'a\u202eb' }), 'items[0].name'],
    ['with a name that cannot be seen', withItem({ name: '\u3164' }), 'items[0].name'],
    ['with a Braille blank in a name', withItem({ name: 'a\u2800b' }), 'items[0].name'],
    ['with a zero width space in a name', withItem({ name: 'a\u200bb' }), 'items[0].name'],
    ['with a soft hyphen in a name', withItem({ name: 'a\u00adb' }), 'items[0].name'],
    ['with a tag character in a name', withItem({ name: 'a\u{e0041}' }), 'items[0].name'],
    ['with a noncharacter in a name', withItem({ name: 'a\uffff' }), 'items[0].name'],
    ['with a name that is a number', withItem({ name: 1 }), 'items[0].name'],
    ['with a name that is null', withItem({ name: null }), 'items[0].name'],
    ['without networks', { items: [{ name: 'New' }] }, 'items[0].networkIds'],
    ['with an empty list of networks', withItem({ networkIds: [] }), 'items[0].networkIds'],
    [
      'with 101 networks',
      withItem({ networkIds: Array.from({ length: 101 }, (_, i) => i + 1) }),
      'items[0].networkIds',
    ],
    ['with a network twice', withItem({ networkIds: [31337, 31337] }), 'items[0].networkIds[1]'],
    ['with a network that is a text', withItem({ networkIds: ['31337'] }), 'items[0].networkIds[0]'],
    ['with a network that is a fraction', withItem({ networkIds: [31337.5] }), 'items[0].networkIds[0]'],
    ['with a negative network', withItem({ networkIds: [-1] }), 'items[0].networkIds[0]'],
    ['with a huge network', withItem({ networkIds: [1e300] }), 'items[0].networkIds[0]'],
    ['with an unknown network', withItem({ networkIds: [31337, 5] }), 'items[0].networkIds[1]'],
    [
      'whose second item is bad',
      { items: [item(), item({ name: 'Other', networkIds: [5] })] },
      'items[1].networkIds[0]',
    ],
  ])('%s is refused', async (_, body, field) => {
    await refused({ body }, field);
  });

  it('is refused with all invalid fields, in their order', async () => {
    const body = { items: [item({ name: '', extra: 1 }), item({ networkIds: ['a', 0] })], more: true };
    const answer = await refused({ body }, 'items[0].name');
    const { details } = answer.body.error;
    expect(details.issues.map(({ field }: { field: string }) => field)).toEqual([
      'items[0].name',
      'items[0].extra',
      'items[1].networkIds[0]',
      'items[1].networkIds[1]',
      'more',
    ]);
    expect(details.message).toBe(details.issues[0].message);
  });

  it('may contain fields that only responses have', async () => {
    const answer = await api.http.send({
      key: org.adminKey,
      path: PROPOSE,
      body: withItem({
        name: 'Sent back',
        address: account.address,
        networks: account.networks,
        createdAt: 'x',
      }),
    });
    expect(answer.status).toBe(201);
    const [{ id, address, ...proposed }] = answer.body.data.data.items;
    expect(proposed).toEqual({ name: 'Sent back', networkIds: [31337] });
    expect(id).not.toBe(account.id);
    expect(address).not.toBe(account.address);
  });

  it('accepts 100 items and a name of 100 code points', async () => {
    const items = accounts(99).concat([item({ name: '😀'.repeat(100) })]);
    const answer = await api.http.send({ key: org.adminKey, path: PROPOSE, body: { items } });
    expect(answer.status).toBe(201);
    expect(answer.body.data.data.items).toHaveLength(100);
  });
});

describe('a proposed change of an account', () => {
  it.each<[string, () => unknown, string]>([
    ['without an id', () => ({ items: [{ name: 'x' }] }), 'items[0].id'],
    ['with an id that is none', () => ({ items: [{ id: 'treasury', name: 'x' }] }), 'items[0].id'],
    ['with the id of another kind', () => ({ items: [{ id: org.alice.id, name: 'x' }] }), 'items[0].id'],
    ['with an unknown id', () => ({ items: [{ id: UNKNOWN.account, name: 'x' }] }), 'items[0].id'],
    ['with an id that is a number', () => ({ items: [{ id: 1, name: 'x' }] }), 'items[0].id'],
    ['of nothing', () => ({ items: [{ id: account.id }] }), 'items[0]'],
    ['to the name it has', () => ({ items: [{ id: account.id, name: 'Treasury' }] }), 'items[0]'],
    [
      'to a network it is on',
      () => ({ items: [{ id: account.id, networkIds: [31338, 31337] }] }),
      'items[0].networkIds[1]',
    ],
    [
      'to an unknown network',
      () => ({ items: [{ id: account.id, networkIds: [5] }] }),
      'items[0].networkIds[0]',
    ],
    ['to no networks', () => ({ items: [{ id: account.id, networkIds: [] }] }), 'items[0].networkIds'],
    ['to a name of nothing', () => ({ items: [{ id: account.id, name: '' }] }), 'items[0].name'],
    [
      'twice',
      () => ({
        items: [
          { id: account.id, name: 'x' },
          { id: account.id, networkIds: [31338] },
        ],
      }),
      'items[1].id',
    ],
    [
      'beside an unknown one',
      () => ({
        items: [
          { id: account.id, name: 'x' },
          { id: UNKNOWN.account, name: 'x' },
        ],
      }),
      'items[1].id',
    ],
    ['with an unknown key', () => ({ items: [{ id: account.id, name: 'x', owner: 1 }] }), 'items[0].owner'],
  ])('%s is refused', async (_, body, field) => {
    await refused({ body: body() }, field, UPDATE);
  });
});

describe('a vote with a bad field', () => {
  const vote = (change: object) => ({ type: 'approve', signature: '0x', ...change });
  it.each<[string, unknown, string]>([
    ['without a type', { signature: '0x' }, 'type'],
    ['of an unknown type', vote({ type: 'Approve' }), 'type'],
    ['of the initiator', vote({ type: 'initiator' }), 'type'],
    ['without a signature', { type: 'approve' }, 'signature'],
    ['with a signature that is not a string', vote({ signature: { r: 1 } }), 'signature'],
    ['with execute as a text', vote({ execute: 'true' }), 'execute'],
    ['with execute as null', vote({ execute: null }), 'execute'],
    ['with a reason of 501 characters', vote({ reason: 'x'.repeat(501) }), 'reason'],
    ['with a control character in its reason', vote({ reason: 'a\u0007' }), 'reason'],
    ['with an unknown key', vote({ signer: '0x' }), 'signer'],
  ])('%s is refused', async (_, body, field) => {
    await refused({ body }, field, proposalPath(proposal.id, '/signatures'));
  });

  it.each<[string, unknown, string]>([
    ['without a type', {}, 'type'],
    ['of an unknown type', { type: 'cancel' }, 'type'],
    ['with an unknown key', { type: 'approve', force: true }, 'force'],
    ['that is a list', [{ type: 'approve' }], 'body'],
  ])('an execution %s is refused', async (_, body, field) => {
    await refused({ body }, field, proposalPath(proposal.id, '/execute'));
  });
});
