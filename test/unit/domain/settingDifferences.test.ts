import { type SharedSettings, settingDifferences } from '../../../src/domain/settingDifferences';

const NETWORK: SharedSettings['networks'][number] = {
  ...{ id: 1, name: 'Mainnet', relayers: 2, confirmations: 3, maxFeePerGas: '100', dataFee: null },
  nativeAsset: { symbol: 'ETH', name: 'Ether', decimals: 18 },
};
const SETTINGS: SharedSettings = {
  ...{ proposalLifetimeMs: 7 * 86_400_000, maxGas: '5000000', signerNetworkId: 1, networks: [NETWORK] },
  payloadKeys: { current: 'b', ids: ['a', 'b'] },
};

const differing = (signer: Partial<SharedSettings>) =>
  settingDifferences(SETTINGS, { ...SETTINGS, ...signer });

it('finds nothing where the settings are the same', () => {
  expect(settingDifferences(SETTINGS, structuredClone(SETTINGS))).toEqual([]);
});

it('says what a signer with a shorter lifetime of proposals does, and that a longer one holds nothing', () => {
  expect(differing({ proposalLifetimeMs: 3_600_000 })).toEqual([
    {
      ...{ setting: 'PROPOSAL_LIFETIME', here: '168 h', signer: '1 h', isHolding: true },
      effect: 'it signs nothing that expires later than that from now',
    },
  ]);
  expect(differing({ proposalLifetimeMs: 8 * 86_400_000 })).toMatchObject([
    { signer: '192 h', isHolding: false },
  ]);
});

it('finds a lower ceiling of the signer, and no higher one', () => {
  expect(differing({ maxGas: '4000000' })).toMatchObject([{ setting: 'MAX_GAS', isHolding: true }]);
  expect(differing({ maxGas: '6000000' })).toEqual([]);
  const withFee = (maxFeePerGas: string) => differing({ networks: [{ ...NETWORK, maxFeePerGas }] });
  expect(withFee('99')).toMatchObject([{ setting: 'maxFeePerGas of network 1', here: '100', signer: '99' }]);
  expect(withFee('101')).toEqual([]);
});

it.each<[string, Partial<typeof NETWORK>, string]>([
  ['name', { name: 'Main' }, 'Main'],
  ['nativeAsset', { nativeAsset: { symbol: 'ETH', name: 'Ether', decimals: 9 } }, 'ETH (Ether, 9 decimals)'],
  ['relayers', { relayers: 3 }, '3'],
  ['confirmations', { confirmations: 4 }, '4'],
  ['dataFee', { dataFee: 'opStack' }, 'opStack'],
])('finds another %s of a network', (field, change, signer) => {
  expect(differing({ networks: [{ ...NETWORK, ...change }] })).toEqual([
    expect.objectContaining({ setting: `${field} of network 1`, signer, isHolding: true }),
  ]);
});

it('finds a network that the signer lacks, and another network of contract wallets', () => {
  expect(differing({ networks: [], signerNetworkId: 2 })).toMatchObject([
    { setting: 'SIGNER_NETWORK', here: '1', signer: '2' },
    { setting: 'network 1', here: 'Mainnet', signer: 'none', effect: 'it signs nothing for it' },
  ]);
});

it('finds keys of payloads where one cannot decrypt what the other one encrypts, and not while they are rotated', () => {
  const setting = 'TEMPORAL_PAYLOAD_KEYS_FILE';
  for (const payloadKeys of [null, { current: 'a', ids: ['a'] }, { current: 'c', ids: ['a', 'b', 'c'] }]) {
    expect(differing({ payloadKeys })).toMatchObject([{ setting }]);
  }
  expect(differing({ payloadKeys: { current: 'a', ids: ['a', 'b'] } })).toEqual([]);
});
