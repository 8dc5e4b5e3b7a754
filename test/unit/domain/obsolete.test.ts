import { isObsolete } from '../../../src/domain/obsolete';

const pending = { outcome: null, cancellation: null, isDeploymentPending: false } as const;

describe('an envelope is', () => {
  it.each([
    ['a transaction', { ...pending, kind: 'transaction' }],
    ['a cancellation', { ...pending, kind: 'cancellation' }],
    ['an upkeep', { ...pending, kind: 'upkeep' }],
    ['a deployment', { ...pending, kind: 'deployment', isDeploymentPending: true }],
  ] as const)('followed while %s is pending', (_, carried) => expect(isObsolete(carried)).toBe(false));

  it.each([
    ['a filler', { ...pending, kind: 'filler' }],
    ['a transaction that is done', { ...pending, kind: 'transaction', outcome: 'success' }],
    ['a transaction that is to be cancelled', { ...pending, kind: 'transaction', cancellation: 'requested' }],
    [
      'a transaction whose cancellation is signed',
      { ...pending, kind: 'transaction', cancellation: 'signed' },
    ],
    ['a cancellation that is done', { ...pending, kind: 'cancellation', outcome: 'success' }],
    ['an upkeep that is done', { ...pending, kind: 'upkeep', outcome: 'reverted' }],
    ['a deployment that is over', { ...pending, kind: 'deployment' }],
  ] as const)('obsolete that carries %s', (_, carried) => expect(isObsolete(carried)).toBe(true));
});
