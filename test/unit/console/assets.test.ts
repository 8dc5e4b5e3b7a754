import { chosenAsset } from '../../../console/src/domain/assets';
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
