import type { Schema } from '@orgwallet/client';
import { chosenAsset, sendableOn, withNativeDecimals } from '../../../console/src/domain/assets';
import { chosenOf } from '../../../console/src/domain/chosen';
import { anAddress } from '../../support/builders';

const assetAt = (tokenAddress: string, symbol: string) => ({
  ...{ tokenAddress, symbol, decimals: 18, balance: undefined },
});

describe('the asset of a transfer', () => {
  const [ether, token] = [assetAt(`0x${'0'.repeat(40)}`, 'ETH'), assetAt(anAddress(), 'USDC')];

  it('is the first one before there is a choice, then the chosen one, whatever its case', () => {
    expect(chosenAsset([ether, token], '')).toBe(ether);
    expect(chosenAsset([ether, token], token.tokenAddress)).toBe(token);
    expect(chosenAsset([ether, token], token.tokenAddress.toLowerCase())).toBe(token);
  });

  it('is no other one where the chosen one is not there: 100 of one are not 100 of another', () => {
    expect(chosenAsset([ether], token.tokenAddress)).toBeUndefined();
    expect(chosenAsset([], '')).toBeUndefined();
  });
});

describe('a native currency', () => {
  const nativeAsset = { symbol: 'ETH', name: 'Ether', decimals: 21 };
  const network = { id: 1, name: 'Ethereum', nativeAsset } as Schema['Network'];

  it('has 18 decimals, whatever the service says of its network or of a balance', () => {
    expect(withNativeDecimals([network])).toEqual([
      { ...network, nativeAsset: { ...nativeAsset, decimals: 18 } },
    ]);
    const asset = { ...nativeAsset, tokenAddress: `0x${'0'.repeat(40)}` };
    const balance = { networkId: 1, asset, rawAmount: '1' } as Schema['Balance'];
    expect(sendableOn(network, [balance], [])).toMatchObject([{ decimals: 18, balance: '1' }]);
    expect(sendableOn(network, [], [])).toMatchObject([{ decimals: 18 }]);
  });

  it('does not decide the decimals of a token', () => {
    const asset = { ...nativeAsset, decimals: 6, tokenAddress: anAddress() };
    const balance = { networkId: 1, asset, rawAmount: '1' } as Schema['Balance'];
    expect(sendableOn(network, [balance], [])).toMatchObject([{ decimals: 6 }, { decimals: 18 }]);
  });
});

describe('the account or network of a transaction', () => {
  it('is the only one before there is a choice', () => {
    expect(chosenOf([{ id: 137 }], '')).toEqual({ id: 137 });
    expect(chosenOf([{ id: 1 }, { id: 137 }], '')).toBeUndefined();
  });

  it('is no other one where the chosen one is not there: 5 ETH are not 5 POL', () => {
    expect(chosenOf([{ id: 137 }], '1')).toBeUndefined();
    expect(chosenOf([{ id: 1 }, { id: 137 }], '137')).toEqual({ id: 137 });
  });
});
