import { parseOrganization } from '../../../src/cli/organizationFile';
import { CommandRefused } from '../../../src/cli/output';

const member = { name: 'Alice', type: 'user', walletAddress: `0x${'ab'.repeat(20)}`, admin: true };
const organization = { name: 'Acme', threshold: 1, members: [member] };

function refusal(content: unknown, reading = { production: false }): string {
  try {
    parseOrganization('org.json', JSON.stringify(content), reading);
  } catch (error) {
    if (error instanceof CommandRefused) return error.message;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('an org.json', () => {
  it('gives an organization with checksummed addresses', () => {
    const parsed = parseOrganization('org.json', JSON.stringify(organization), { production: true });
    expect(parsed).toEqual({
      ...organization,
      onChain: true,
      members: [
        { ...member, walletAddress: '0xABaBaBaBABabABabAbAbABAbABabababaBaBABaB', walletKind: 'key' },
      ],
    });
  });

  it('names every bad field by its path', () => {
    const members = [member, { ...member, type: 'robot', walletAddress: '0x12', role: 1 }];
    expect(refusal({ threshold: 0, members }).split('\n')).toEqual([
      'org.json: name: is required',
      'org.json: threshold: must be at least 1',
      'org.json: members[1].type: must be user or api',
      expect.stringMatching(/^org\.json: members\[1\]\.walletAddress: must be an address/),
      'org.json: members[1].role: is not a known field',
    ]);
  });

  it.each([[null], ['text'], [[]]])('is an object, not %j', (content) => {
    expect(refusal(content)).toBe('org.json: the file: must be an object');
  });

  it('names in production a member with a well-known key', () => {
    const demo = { ...member, name: 'Demo', walletAddress: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8' };
    const content = { ...organization, members: [member, demo] };
    expect(refusal(content, { production: true })).toBe(
      'org.json: members[1].walletAddress: 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 of "Demo" has a well-known private key: ' +
        'not allowed in production',
    );
    const reading = { production: false };
    expect(parseOrganization('org.json', JSON.stringify(content), reading).members).toHaveLength(2);
  });
});
