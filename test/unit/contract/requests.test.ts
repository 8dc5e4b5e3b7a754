import { accountsCreateBody, accountsUpdateBody } from '../../../src/contract/accountChanges';
import { describeIssue, fieldIssues } from '../../../src/contract/issues';
import { addressInput, nameInput } from '../../../src/contract/primitives';
import { signBody } from '../../../src/contract/proposalContract';
import { isId } from '../../../src/domain/schemas';

const ID = 'acc_01jz8k3v5fe5ht0n2m6w9r4xyz';
const OTHER_ID = 'acc_01jz8k3v5fe5ht0n2m6w9r4xy0';

function fieldsOf(
  schema: typeof accountsCreateBody | typeof accountsUpdateBody | typeof signBody,
  value: unknown,
) {
  const parsed = schema.safeParse(value, { error: describeIssue });
  return parsed.success ? [] : fieldIssues(parsed.error).map(({ field }) => field);
}

const account = (change: object = {}) => ({ name: 'Treasury', networkIds: [31337], ...change });

describe('the body that proposes accounts', () => {
  it('keeps name and networks, and drops what only a response has', () => {
    const body = {
      items: [account({ address: '0x', networks: [], createdAt: 'then', updatedAt: 'now' })],
    };
    expect(accountsCreateBody.parse(body)).toEqual({ items: [account()] });
  });

  it.each([
    ['no items', {}, 'items'],
    ['an empty list', { items: [] }, 'items'],
    ['101 items', { items: Array.from({ length: 101 }, (_, i) => account({ name: `a${i}` })) }, 'items'],
    ['an unknown key', { items: [account()], itmes: [] }, 'itmes'],
    ['an unknown key in an item', { items: [account({ nmae: 'x' })] }, 'items[0].nmae'],
    ['a body that is a list', [], 'body'],
    ['a network that is a text', { items: [account({ networkIds: ['31337'] })] }, 'items[0].networkIds[0]'],
    ['a network that is a fraction', { items: [account({ networkIds: [1.5] })] }, 'items[0].networkIds[0]'],
    ['no network', { items: [account({ networkIds: [] })] }, 'items[0].networkIds'],
    ['a network twice', { items: [account({ networkIds: [1, 2, 1] })] }, 'items[0].networkIds[2]'],
    ['an account twice', { items: [account(), account({ name: 'Other' }), account()] }, 'items[2]'],
    [
      'an account twice with its networks in another order',
      { items: [account({ networkIds: [1, 2] }), account({ networkIds: [2, 1] })] },
      'items[1]',
    ],
  ])('refuses %s', (_, body, field) => {
    expect(fieldsOf(accountsCreateBody, body)).toEqual([field]);
  });

  it.each([
    ['empty', ''],
    ['blank', '   '],
    ['300 characters long', 'x'.repeat(300)],
    ['101 characters long', '😀'.repeat(101)],
    ['with a line break', 'a\nb'],
    ['with a control character', 'a\u0007b'],
    ['with a character that turns the text round', 'a\u202Eb'],
    ['no text', 5],
    ['with half a character', 'a\uD800'],
    ['with a Hangul filler (U+3164)', 'a\u3164'],
    ['with an interlinear annotation (U+FFF9)', 'a\ufff9b'],
    ['with a hieroglyph format control (U+13430)', 'a\u{13430}b'],
    ['with a Braille blank (U+2800)', 'a\u2800'],
    ['with a zero width space (U+200B)', 'a\u200Bb'],
    ['with a zero width joiner (U+200D)', 'a\u200Db'],
    ['with a soft hyphen (U+00AD)', 'a\u00ADb'],
    ['with a variation selector (U+FE0F)', 'a\uFE0F'],
    ['with a tag character (U+E0041)', 'a\u{E0041}'],
    ['with the noncharacter U+FFFF', 'a\uFFFF'],
    ['with the noncharacter U+FDD0', 'a\uFDD0'],
    ['with the noncharacter U+10FFFF', 'a\u{10FFFF}'],
    ['with a null notehead (U+1D159)', 'a\u{1D159}'],
  ])('refuses a name that is %s', (_, name) => {
    expect(fieldsOf(accountsCreateBody, { items: [account({ name })] })).toEqual(['items[0].name']);
  });

  it.each(['Café', 'Zürich Süd', '株式会社', 'Ärzte & Söhne', 'مكتب', 'a\u00a0b', '😀'])(
    'takes the name %p',
    (name) => {
      expect(fieldsOf(accountsCreateBody, { items: [account({ name })] })).toEqual([]);
    },
  );

  it.each([
    [
      'Treasury\u200b',
      'invisible, blank or noncharacter code points: character 9 is U+200B ZERO WIDTH SPACE',
    ],
    [
      '😀\ufe0fa',
      'invisible, blank or noncharacter code points: character 2 is U+FE0F VARIATION SELECTOR-16',
    ],
    ['a\u{e0041}', 'invisible, blank or noncharacter code points: character 2 is U+E0041'],
    ['a\tb', 'control characters: character 2 is U+0009'],
    ['ab\u202e', 'bidirectional control characters: character 3 is U+202E RIGHT-TO-LEFT OVERRIDE'],
  ])('names the character that cannot be seen: %j', (name, what) => {
    expect(nameInput.safeParse(name).error?.issues[0]?.message).toBe(`must not contain ${what}`);
  });

  it('counts the characters of a name as a reader does', () => {
    expect(fieldsOf(accountsCreateBody, { items: [account({ name: '😀'.repeat(100) })] })).toEqual([]);
  });

  it('names every bad field, in the order of the document', () => {
    const body = { items: [account({ name: '' }), account({ networkIds: [-1] })] };
    expect(fieldsOf(accountsCreateBody, body)).toEqual(['items[0].name', 'items[1].networkIds[0]']);
  });
});

describe('the body that proposes changes of accounts', () => {
  it('takes a new name, more networks, or both', () => {
    const items = [
      { id: ID, name: 'New' },
      { id: OTHER_ID, networkIds: [31338] },
    ];
    expect(accountsUpdateBody.parse({ items })).toEqual({ items });
  });

  it.each([
    ['an item that changes nothing', [{ id: ID }], 'items[0]'],
    [
      'an account twice',
      [
        { id: ID, name: 'a' },
        { id: ID, name: 'b' },
      ],
      'items[1].id',
    ],
    ['an id of another kind', [{ id: ID.replace('acc', 'mem'), name: 'a' }], 'items[0].id'],
    ['an id that is none', [{ id: 'acc_1', name: 'a' }], 'items[0].id'],
  ])('refuses %s', (_, items, field) => {
    expect(fieldsOf(accountsUpdateBody, { items })).toEqual([field]);
  });
});

describe('the body that signs', () => {
  it('does not execute unless asked', () => {
    expect(signBody.parse({ type: 'approve', signature: '0x' })).toMatchObject({ execute: false });
  });

  it.each([
    ['an unknown type', { type: 'aprove', signature: '0x' }, 'type'],
    ['no signature', { type: 'approve' }, 'signature'],
    ['a reason of 501 characters', { type: 'reject', signature: '0x', reason: 'x'.repeat(501) }, 'reason'],
    ['an answer that is not a boolean', { type: 'reject', signature: '0x', execute: 'yes' }, 'execute'],
  ])('refuses %s', (_, body, field) => {
    expect(fieldsOf(signBody, body)).toEqual([field]);
  });
});

describe('ids', () => {
  it.each([
    [ID, true],
    [ID.toUpperCase(), false],
    [`${ID}0`, false],
    ['acc_81jz8k3v5fe5ht0n2m6w9r4xyz', false],
    ['acc_01jz8k3v5fe5ht0n2m6w9r4xyl', false],
    ['acc_', false],
  ])('%s', (text, expected) => {
    expect(isId('acc', text)).toBe(expected);
  });
});

describe('addresses in requests', () => {
  const checksummed = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

  it.each([
    ['all lower case', checksummed.toLowerCase(), true],
    ['all upper case', `0x${checksummed.slice(2).toUpperCase()}`, true],
    ['a right checksum', checksummed, true],
    ['a wrong checksum', checksummed.replace('dc3A', 'Dc3A'), false],
    ['39 digits', checksummed.slice(0, -1), false],
  ])('%s', (_, text, accepted) => {
    expect(addressInput.safeParse(text).success).toBe(accepted);
  });
});
