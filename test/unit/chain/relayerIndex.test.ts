import { relayerIndex } from '../../../src/chain/relayerIndex';
import { MAX_RELAYERS } from '../../../src/domain/network';

describe('the relayer of an account', () => {
  it('follows from the id of the account and the number of relayers', () => {
    const id = 'acc_01jz8k4h0ne7r9s5t6v8w0x2y4';
    expect([1, 2, 3, 64].map((relayers) => relayerIndex(id, relayers))).toEqual([0, 0, 1, 4]);
  });

  it.each([2, 3, 7, MAX_RELAYERS])('spreads the accounts evenly over %i', (relayers) => {
    const accounts = Array<number>(relayers).fill(0);
    const total = 100 * relayers;
    for (let i = 0; i < total; i += 1) {
      const index = relayerIndex(`acc_${i}`, relayers);
      accounts[index] = (accounts[index] ?? 0) + 1;
    }
    expect(accounts).toHaveLength(relayers);
    expect(Math.min(...accounts)).toBeGreaterThan(60);
    expect(Math.max(...accounts)).toBeLessThan(140);
  });
});
