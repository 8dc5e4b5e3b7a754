import { deriveAdminsSafe } from '../../../src/chain/adminsSafe';
import { genesisPayload } from '../../../src/chain/genesisPayload';
import { hashTypedPayload } from '../../../src/chain/typedData';
import { canonicalJson } from '../../../src/domain/canonicalJson';
import type { OrganizationState } from '../../../src/domain/governance';
import { aHash, aMember, anAddress, anId, aState } from '../../support/builders';

const bot = aMember().bot().named('Bot').build();
const ada = aMember().named('Ada "the" Admin').ofContract().build();
const bo = aMember().named('Bo').build();
const state = aState([bot, ada, bo], {
  name: 'Acme',
  admins: { id: anId('adm'), memberIds: [bot.id, ada.id], threshold: 2, revision: 0 },
});

describe('the genesis that the founders sign', () => {
  it('shows the whole state and both keys, in the domain of the organization', () => {
    const payload = genesisPayload(state);
    expect(JSON.parse(payload)).toMatchObject({
      primaryType: 'FoundOrganization',
      domain: { name: 'orgwallet', version: '1', salt: state.domainSalt },
      message: {
        organization: state.id,
        signingKey: state.signingKey,
        sealKey: state.sealKey,
        state: canonicalJson(state),
      },
    });
    expect(payload).toBe(canonicalJson(JSON.parse(payload)));
  });

  it('says in words who decides, with their wallets', () => {
    const { summary } = JSON.parse(genesisPayload(state)).message;
    expect(summary).toEqual([
      'Found "Acme": 2 of 2 admins decide, other members: 1',
      `Admin "Bot" (${bot.walletAddress})`,
      `Admin "Ada \\"the\\" Admin" (contract wallet ${ada.walletAddress})`,
    ]);
  });

  it("shows the admins' Safe where they have one, and what it can do", () => {
    const onChain = { ...state, admins: { ...state.admins, onChain: true as const } };
    const { summary } = JSON.parse(genesisPayload(onChain)).message;
    expect(summary).toHaveLength(4);
    expect(summary[1]).toBe(
      `Admins' Safe ${deriveAdminsSafe(state).safe.address}, a module of each account: 2 of these admins can take each account over, without this service`,
    );
  });

  it('does not depend on the order of fields', () => {
    const reversed = Object.fromEntries(Object.entries(state).reverse()) as unknown as OrganizationState;
    expect(genesisPayload(reversed)).toBe(genesisPayload(state));
  });

  it.each<[string, Partial<OrganizationState>]>([
    ['id', { id: anId('org') }],
    ['name', { name: 'Acme Ltd' }],
    ['domain salt', { domainSalt: aHash() }],
    ['signing key', { signingKey: anAddress() }],
    ['seal key', { sealKey: anAddress() }],
    ['sequence', { sequence: 1 }],
    ['members', { members: { ...state.members, [bo.id]: { ...bo, name: 'Bob', revision: 0 } } }],
    [
      'wallet kinds',
      { members: { ...state.members, [bo.id]: { ...bo, walletKind: 'contract', revision: 0 } } },
    ],
    ['threshold', { admins: { ...state.admins, threshold: 1 } }],
    ['module of its accounts', { admins: { ...state.admins, onChain: true } }],
    ['admins', { admins: { ...state.admins, memberIds: [bot.id, bo.id] } }],
  ])('has another digest with another %s', (_, change) => {
    expect(hashTypedPayload(genesisPayload({ ...state, ...change }))).not.toBe(
      hashTypedPayload(genesisPayload(state)),
    );
  });
});
