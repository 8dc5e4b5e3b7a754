import fc from 'fast-check';
import { nameInput } from '../../../src/contract/primitives';
import { type RegistrationChallenge, registrationMessage } from '../../../src/domain/registration';

const CHALLENGE: RegistrationChallenge = {
  organizationId: 'org_01jwnqv8x0e1tvn5c9k3b7h2mb',
  organizationName: 'Acme "Treasury"',
  walletAddress: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  nonce: '0f1e2d3c4b5a69788796a5b4c3d2e1f0',
  issuedAt: new Date('2025-06-01T12:00:00.000Z'),
  expiresAt: new Date('2025-06-01T12:10:00.000Z'),
};

const FIELDS = ['Organization', 'Organization Name', 'Nonce', 'Issued At', 'Expiration Time'];

/** Everything at which some reader begins a new line. */
const ANY_LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/;

/** A challenge as a reader of its text finds it: the fields by the first colon of their lines. */
function readBack(message: string): RegistrationChallenge & { labels: string[] } {
  const lines = message.split(ANY_LINE_BREAK);
  const fields = lines.slice(5).map((line) => {
    const colon = line.indexOf(': ');
    return [line.slice(0, colon), line.slice(colon + 2)] as const;
  });
  const value = (label: string) => fields.find(([name]) => name === label)?.[1] ?? '';
  return {
    labels: fields.map(([label]) => label),
    organizationId: value('Organization'),
    organizationName: JSON.parse(value('Organization Name')),
    walletAddress: lines[1] ?? '',
    nonce: value('Nonce'),
    issuedAt: new Date(value('Issued At')),
    expiresAt: new Date(value('Expiration Time')),
  };
}

const aName = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 }),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 100 }),
    fc
      .array(fc.constantFrom('"', '\\', '\\n', ': ', 'Nonce', 'Organization', 'x', "'", '\u00a0'), {
        minLength: 1,
        maxLength: 9,
      })
      .map((parts) => parts.join('')),
  )
  .filter((name) => nameInput.safeParse(name).success);

describe('the text that a wallet signs to register', () => {
  it('is exactly this', () => {
    expect(registrationMessage(CHALLENGE)).toBe(
      [
        'orgwallet asks you to prove that you control this wallet:',
        '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
        '',
        'Sign this to register it as the wallet of a member of the organization below. It approves nothing and moves nothing.',
        '',
        'Organization: org_01jwnqv8x0e1tvn5c9k3b7h2mb',
        String.raw`Organization Name: "Acme \"Treasury\""`,
        'Nonce: 0f1e2d3c4b5a69788796a5b4c3d2e1f0',
        'Issued At: 2025-06-01T12:00:00.000Z',
        'Expiration Time: 2025-06-01T12:10:00.000Z',
      ].join('\n'),
    );
  });

  it('says what it says, whatever the organization is called', () => {
    fc.assert(
      fc.property(aName, (organizationName) => {
        const challenge = { ...CHALLENGE, organizationName };
        expect(readBack(registrationMessage(challenge))).toEqual({ ...challenge, labels: FIELDS });
      }),
      { numRuns: 1_000 },
    );
  });

  it('is not made longer by a name that should not be there', () => {
    for (const organizationName of ['a\nNonce: 1', 'a\r\nNonce: 1', '"\nNonce: 1']) {
      const lines = registrationMessage({ ...CHALLENGE, organizationName }).split(/\r\n|\r|\n/);
      expect(lines).toHaveLength(10);
    }
  });

  it.each<[string, Partial<RegistrationChallenge>]>([
    ['organization', { organizationId: 'org_01jwnqv8x0e1tvn5c9k3b7h2mc' }],
    ['name of the organization', { organizationName: 'Acme' }],
    ['wallet', { walletAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' }],
    ['nonce', { nonce: '0f1e2d3c4b5a69788796a5b4c3d2e1f1' }],
    ['time', { issuedAt: new Date('2025-06-01T12:00:00.001Z') }],
    ['expiry', { expiresAt: new Date('2025-06-01T12:10:00.001Z') }],
  ])('is another for another %s', (_, change) => {
    expect(registrationMessage({ ...CHALLENGE, ...change })).not.toBe(registrationMessage(CHALLENGE));
  });
});
