import fc from 'fast-check';
import { concat, encodeAbiParameters, type Hex, keccak256, parseAbiParameters, stringToBytes } from 'viem';
import { hashTypedPayload } from '../../../src/chain/typedData';
import { quoted } from '../../../src/domain/quoted';
import { type ProposalStatement, type ProposalToSign, proposalPayload } from '../../../src/domain/signing';
import { dataIn } from '../../support/signedData';

const SALT = `0x${'5a'.repeat(32)}` as const;
const OTHER_SALT = `0x${'5b'.repeat(32)}` as const;
const STATEMENTS: readonly ProposalStatement[] = ['ApproveProposal', 'RejectProposal', 'InitiateProposal'];

const PROPOSAL: ProposalToSign = {
  id: 'prop_01jwnqv8x0e1tvn5c9k3b7h2ma',
  organizationId: 'org_01jwnqv8x0e1tvn5c9k3b7h2mb',
  resourceType: 'accounts',
  action: 'create',
  summary: 'Create the account "Treasury" on network 31337\nand another',
  data: { items: [{ networkIds: [31_337], name: 'Treasury' }] },
  expiresAt: new Date('2025-06-08T12:00:00.000Z'),
};

const TYPE_FIELDS =
  'string organization,string proposalId,string resourceType,string action,string[] summary,string data,uint256 expiresAt';

const DOMAIN =
  '[{"name":"name","type":"string"},{"name":"version","type":"string"},{"name":"salt","type":"bytes32"}]';
const FIELDS =
  '[{"name":"organization","type":"string"},{"name":"proposalId","type":"string"},{"name":"resourceType","type":"string"},' +
  '{"name":"action","type":"string"},{"name":"summary","type":"string[]"},{"name":"data","type":"string"},{"name":"expiresAt","type":"uint256"}]';

function golden(statement: string): string {
  const types = [`"EIP712Domain":${DOMAIN}`, `"${statement}":${FIELDS}`].sort();
  return (
    `{"domain":{"name":"orgwallet","salt":"0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a","version":"1"},` +
    String.raw`"message":{"action":"create","data":"{\"items\":[{\"name\":\"Treasury\",\"networkIds\":[31337]}]}",` +
    `"expiresAt":"1749384000","organization":"org_01jwnqv8x0e1tvn5c9k3b7h2mb","proposalId":"prop_01jwnqv8x0e1tvn5c9k3b7h2ma",` +
    String.raw`"resourceType":"accounts","summary":["Create the account \"Treasury\" on network 31337","and another"]},` +
    `"primaryType":"${statement}","types":{${types.join(',')}}}`
  );
}

const hashOf = (text: string): Hex => keccak256(stringToBytes(text));

/** The EIP-712 digest, worked out from the standard by hand. */
function digest(statement: string, data: string): Hex {
  const domain = keccak256(
    encodeAbiParameters(parseAbiParameters('bytes32, bytes32, bytes32, bytes32'), [
      hashOf('EIP712Domain(string name,string version,bytes32 salt)'),
      hashOf('orgwallet'),
      hashOf('1'),
      SALT,
    ]),
  );
  const texts = [PROPOSAL.organizationId, PROPOSAL.id, PROPOSAL.resourceType, PROPOSAL.action];
  const lines = keccak256(concat(PROPOSAL.summary.split('\n').map(hashOf)));
  const message = keccak256(
    concat([
      hashOf(`${statement}(${TYPE_FIELDS})`),
      ...texts.map(hashOf),
      lines,
      hashOf(data),
      encodeAbiParameters(parseAbiParameters('uint256'), [1_749_384_000n]),
    ]),
  );
  return keccak256(concat(['0x1901', domain, message]));
}

describe('the payload that is signed', () => {
  it.each(STATEMENTS)('is, for %s, exactly this text', (statement) => {
    expect(proposalPayload(statement, SALT, PROPOSAL)).toBe(golden(statement));
  });

  it.each(STATEMENTS)('has, for %s, the digest that EIP-712 defines', (statement) => {
    const data = '{"items":[{"name":"Treasury","networkIds":[31337]}]}';
    expect(hashTypedPayload(proposalPayload(statement, SALT, PROPOSAL))).toBe(digest(statement, data));
  });

  it.each(STATEMENTS)(
    'declares, for %s, one type besides the domain, and it is the primary one',
    (statement) => {
      const payload = JSON.parse(proposalPayload(statement, SALT, PROPOSAL));
      expect(payload.primaryType).toBe(statement);
      expect(Object.keys(payload.types).sort()).toEqual(['EIP712Domain', statement].sort());
      expect(Object.keys(payload.message).sort()).toEqual(
        payload.types[statement].map((field: { name: string }) => field.name).sort(),
      );
      expect(Object.keys(payload.domain).sort()).toEqual(['name', 'salt', 'version']);
    },
  );

  it('has one digest for each statement: an approval is never a rejection', () => {
    const digests = STATEMENTS.map((statement) =>
      hashTypedPayload(proposalPayload(statement, SALT, PROPOSAL)),
    );
    expect(new Set(digests).size).toBe(STATEMENTS.length);
  });

  it('differs in nothing but the name of the type between approving and rejecting', () => {
    const approve = proposalPayload('ApproveProposal', SALT, PROPOSAL);
    const reject = JSON.parse(proposalPayload('RejectProposal', SALT, PROPOSAL));
    expect(JSON.parse(approve.replaceAll('ApproveProposal', 'RejectProposal'))).toEqual(reject);
  });

  it('does not depend on the order in which data was stored', () => {
    const data = { items: [{ name: 'Treasury', networkIds: [31_337] }] };
    expect(proposalPayload('ApproveProposal', SALT, { ...PROPOSAL, data })).toBe(
      proposalPayload('ApproveProposal', SALT, PROPOSAL),
    );
  });

  it('does not cover what is not part of the statement', () => {
    const stored = { ...PROPOSAL, version: 7, executionStatus: 'failed', votes: [{ memberId: 'mem_1' }] };
    expect(proposalPayload('ApproveProposal', SALT, stored)).toBe(
      proposalPayload('ApproveProposal', SALT, PROPOSAL),
    );
  });

  it.each<[string, Partial<ProposalToSign>]>([
    ['proposal', { id: 'prop_01jwnqv8x0e1tvn5c9k3b7h2mc' }],
    ['organization', { organizationId: 'org_01jwnqv8x0e1tvn5c9k3b7h2md' }],
    ['kind of resource', { resourceType: 'members' }],
    ['action', { action: 'update' }],
    ['summary', { summary: 'Create the account "Treasury" on network 31338' }],
    ['data', { data: { items: [{ networkIds: [31_338], name: 'Treasury' }] } }],
    ['order of a list in data', { data: { items: [{ networkIds: [1, 31_337], name: 'Treasury' }] } }],
    ['expiry', { expiresAt: new Date('2025-06-08T12:00:01.000Z') }],
  ])('is another when the %s is another', (_, change) => {
    for (const statement of STATEMENTS) {
      const changed = proposalPayload(statement, SALT, { ...PROPOSAL, ...change });
      expect(changed).not.toBe(proposalPayload(statement, SALT, PROPOSAL));
      expect(hashTypedPayload(changed)).not.toBe(
        hashTypedPayload(proposalPayload(statement, SALT, PROPOSAL)),
      );
    }
  });

  it('is another for another salt, so a restored copy of a deployment shares no signature', () => {
    const here = proposalPayload('ApproveProposal', SALT, PROPOSAL);
    const there = proposalPayload('ApproveProposal', OTHER_SALT, PROPOSAL);
    expect(hashTypedPayload(there)).not.toBe(hashTypedPayload(here));
  });

  it('says the expiry in whole seconds and never later than it is', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_102_444_800_000 }), (time) => {
        const payload = proposalPayload('ApproveProposal', SALT, { ...PROPOSAL, expiresAt: new Date(time) });
        const seconds = Number(JSON.parse(payload).message.expiresAt);
        expect(seconds * 1_000).toBeLessThanOrEqual(time);
        expect(seconds * 1_000).toBeGreaterThan(time - 1_000);
      }),
    );
  });

  it('is canonical, and carries data and summary exactly, whatever they hold', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ unit: 'grapheme' }), (value, summary) => {
        const data = JSON.parse(JSON.stringify({ value }));
        const payload = proposalPayload('ApproveProposal', SALT, { ...PROPOSAL, data, summary });
        const message = JSON.parse(payload).message;
        expect(message.summary).toEqual(summary.split('\n'));
        expect(dataIn(message.data)).toEqual(data);
        expect(payload).not.toMatch(/^\s|\n/);
      }),
    );
  });

  it('is the same for two proposals only when every field is the same', () => {
    const proposal = fc.record({
      id: fc.constantFrom('a', 'b', 'a"', 'ab'),
      organizationId: fc.constantFrom('a', 'b', 'a"', 'ab'),
      resourceType: fc.constantFrom('accounts', 'members'),
      action: fc.constantFrom('create', 'update'),
      summary: fc.constantFrom('', 'a', 'a\na', 'a\n', '","data":"', 'a"', 'a","a'),
      data: fc.constantFrom({}, { a: 1 }, { a: '1' }, { b: 1 }),
      expiresAt: fc.constantFrom(new Date(1_000), new Date(2_000)),
    }) as fc.Arbitrary<ProposalToSign>;
    const statement = fc.constantFrom(...STATEMENTS);
    fc.assert(
      fc.property(fc.tuple(statement, proposal), fc.tuple(statement, proposal), (left, right) => {
        const same = JSON.stringify(left) === JSON.stringify(right);
        const payload = ([kind, of]: [ProposalStatement, ProposalToSign]) => proposalPayload(kind, SALT, of);
        expect(payload(left) === payload(right)).toBe(same);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a name that a user gave', () => {
  it('is quoted, with its own quotes escaped, so that it cannot end its quotation', () => {
    expect(quoted('Treasury')).toBe('"Treasury"');
    expect(quoted('x" and send all to "y')).toBe(String.raw`"x\" and send all to \"y"`);
    expect(quoted('a\u202eb\u200b\u3164\u2800\u00ad\u{e0041}')).toBe(
      String.raw`"a\u202eb\u200b\u3164\u2800\u00ad\udb40\udc41"`,
    );
    expect(quoted('line\nbreak')).toBe(String.raw`"line\nbreak"`);
  });

  it('can be read back exactly, and is one unbroken quotation, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        expect(JSON.parse(quoted(name))).toBe(name);
        expect(quoted(name)).toMatch(/^"(?:[^"\\\n\r]|\\.)*"$/u);
      }),
    );
  });
});
