import { PayloadMismatch } from '@orgwallet/client';
import { compareDigest } from '../../../console/src/domain/digestComparison.ts';
import { NotGenesis, readGenesis } from '../../../console/src/domain/genesisFile.ts';
import { comparisonText, signatureFile } from '../../../console/src/text/founding.ts';
import { genesisPayload } from '../../../src/chain/genesisPayload';
import type { OrganizationState } from '../../../src/domain/governance';

const salt = `0x${'ab'.repeat(32)}`;
const id = `org_${'0'.repeat(26)}`;
const ann = {
  ...{ id: `mem_${'0'.repeat(26)}`, name: 'Ann', type: 'user', revision: 0 },
  ...{ walletAddress: `0x${'1'.repeat(40)}`, walletKind: 'key' },
};
const state = {
  ...{ id, name: 'Acme', sequence: 0, domainSalt: salt, groups: {}, policies: {}, accounts: {} },
  ...{ signingKey: `0x${'2'.repeat(40)}`, sealKey: `0x${'3'.repeat(40)}`, members: { [ann.id]: ann } },
  admins: { id: `adm_${'0'.repeat(26)}`, memberIds: [ann.id], threshold: 1, revision: 0 },
} as unknown as OrganizationState;
const payload = genesisPayload(state);
const unknown = () => undefined;

describe('a genesis that is pasted', () => {
  it.each([
    ['as it is written', payload],
    ['with a line break at its end', `\n${payload}\n`],
    ['over many lines', JSON.stringify(JSON.parse(payload), null, 2)],
  ])('is read %s', (_, text) => {
    expect(readGenesis(text, unknown)).toMatchObject({ genesis: { state, admins: [ann] } });
  });

  it.each([
    ['nothing', ' '],
    ['no JSON', payload.slice(1)],
    ['null', 'null'],
    ['the file of the organization', '{"name":"Acme","threshold":1,"members":[]}'],
    ['a vote', payload.replace('"primaryType":"FoundOrganization"', '"primaryType":"ApproveProposal"')],
  ])('is not %s', (_, text) => {
    expect(readGenesis(text, unknown)).toEqual({ problem: expect.any(NotGenesis) });
  });

  it('is refused at the field that was changed', () => {
    const changed = payload.replace('Found \\"Acme\\"', 'Found \\"Acne\\"');
    expect(changed).not.toBe(payload);
    expect(readGenesis(changed, unknown)).toEqual({ problem: expect.any(PayloadMismatch) });
    expect(readGenesis(changed, unknown)).toMatchObject({ problem: { field: 'message.summary[0]' } });
  });

  it('is refused where this browser knows the organization with another salt', () => {
    const other = `0x${'cd'.repeat(32)}`;
    expect(readGenesis(payload, () => ({ organization: id, salt }))).toHaveProperty('genesis');
    expect(readGenesis(payload, () => ({ organization: id, salt: other }))).toMatchObject({
      problem: { field: 'domain.salt', asked: other, got: salt },
    });
  });
});

describe('the digest on the board', () => {
  const digest = `0x${'0123456789abcdef'.repeat(4)}`;
  const groups = digest.slice(2).match(/.{8}/g) ?? [];

  it.each([
    ['nothing', '', { is: 'absent' }],
    ['blanks', ' \n', { is: 'absent' }],
    ['the digest', digest, { is: 'same' }],
    ['the digest in groups and capitals', groups.join(' ').toUpperCase(), { is: 'same' }],
    ['the digest without 0x', digest.slice(2), { is: 'same' }],
    ['its beginning', '0x01234567 89', { is: 'partial', digits: 10 }],
    ['another first digit', `1${digest.slice(3)}`, { is: 'different', group: 1 }],
    ['another last digit', `${digest.slice(0, -1)}0`, { is: 'different', group: 8 }],
    ['a digit in the third group', '01234567 89abcdef 0123x', { is: 'different', group: 3 }],
    ['a digit too many', `${digest}0`, { is: 'different', group: 8 }],
  ] as const)('is compared: %s', (_, typed, expected) => {
    const comparison = compareDigest(digest, typed);
    expect(comparison).toEqual(expected);
    expect('error' in comparisonText(comparison)).toBe(expected.is === 'different');
  });
});

describe('the file with a signature', () => {
  it.each([
    ['Ann', 'signature-ann.json'],
    ['Dr. Ann-Marie  O’Neil', 'signature-dr-ann-marie-o-neil.json'],
    ['../../x', 'signature-x.json'],
    ['安', `signature-${ann.id}.json`],
  ])('of %s is named %s, and says who signed what', (name, file) => {
    const founder = { ...ann, name } as Parameters<typeof signatureFile>[1];
    const made = signatureFile({ digest: '0x12', state }, founder, '0x34');
    const { walletAddress } = ann;
    expect(made.name).toBe(file);
    const signed = { organization: id, digest: '0x12', name, walletAddress, signature: '0x34' };
    expect(JSON.parse(made.text)).toEqual(signed);
  });
});
