import { toFunctionSelector } from 'viem';
import { decodeCall } from '../../../src/chain/decode';
import { isRestricted, parseFunction, standardFunctions } from '../../../src/chain/functions';
import { RESTRICTED_FUNCTIONS } from '../../../src/chain/restrictedFunctions';

const known = [...standardFunctions().values()];
const restricted = known.filter((standard) => standard.restricted);
const declared = RESTRICTED_FUNCTIONS.flatMap(({ functions }) => functions);

describe('restricted functions', () => {
  it('have a source each', () => {
    for (const { source, functions } of RESTRICTED_FUNCTIONS) {
      expect(source).toMatch(/\w/);
      expect(functions).not.toEqual([]);
    }
  });

  it('are declared once each, and no two share a selector', () => {
    expect(restricted).toHaveLength(declared.length);
  });

  it('are declared without the word function, and with a name for each parameter', () => {
    for (const declaration of declared) expect(declaration).toMatch(/^\w+\((\)|(\w[\w[\]]* \w+(, |\)$))+)$/);
  });

  it.each(restricted.map(({ signature, selector }) => [signature, selector]))(
    'have the selector of their signature: %s',
    (signature = '', selector = '') => {
      expect(toFunctionSelector(`function ${signature}`)).toBe(selector);
      expect(isRestricted(selector)).toBe(true);
    },
  );

  // As generated bindings, block explorers and the standards themselves publish them.
  it.each([
    ['ERC-20', 'approve(address,uint256)', '0x095ea7b3'],
    ['ERC-20', 'transferFrom(address,address,uint256)', '0x23b872dd'],
    ['OpenZeppelin 2', 'increaseAllowance(address,uint256)', '0x39509351'],
    ['OpenZeppelin 1', 'increaseApproval(address,uint256)', '0xd73dd623'],
    ['ERC-223', 'transfer(address,uint256,bytes)', '0xbe45fd62'],
    ['ERC-223', 'transfer(address,uint256,bytes,string)', '0xf6368f8a'],
    ['ERC-677', 'transferAndCall(address,uint256,bytes)', '0x4000aea0'],
    ['ERC-721', 'setApprovalForAll(address,bool)', '0xa22cb465'],
    ['ERC-721', 'safeTransferFrom(address,address,uint256)', '0x42842e0e'],
    ['ERC-1155', 'safeTransferFrom(address,address,uint256,uint256,bytes)', '0xf242432a'],
    ['ERC-2612', 'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)', '0xd505accf'],
    ['Yearn', 'permit(address,address,uint256,uint256,bytes)', '0x9fd5a6cf'],
    ['Dai', 'permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)', '0x8fcbaf0c'],
    ['Permit2', 'approve(address,address,uint160,uint48)', '0x87517c45'],
    ['Aave', 'approveDelegation(address,uint256)', '0xc04a8a10'],
    ['USDC', 'configureMinter(address,uint256)', '0x4e44d956'],
    ['Tether', 'deprecate(address)', '0x0753c30c'],
    ['CryptoKitties', 'approveSiring(address,uint256)', '0x4dfff04f'],
    ['Balancer', 'setRelayerApproval(address,address,bool)', '0xfa6e671d'],
    ['Curve', 'set_approve_deposit(address,bool)', '0x1d2747d4'],
    ['Arbitrum', 'outboundTransfer(address,address,uint256,uint256,uint256,bytes)', '0xd2ce7d65'],
    ['Optimism', 'depositERC20To(address,address,address,uint256,uint32,bytes)', '0x838b2520'],
    ['Optimism', 'bridgeETHTo(address,uint32,bytes)', '0xe11013dd'],
    ['Optimism', 'withdrawTo(address,address,uint256,uint32,bytes)', '0xa3a79548'],
    ['ENS', 'reclaim(uint256,address)', '0x28ed4f6c'],
    ['delegate.xyz', 'delegateForToken(address,address,uint256,bool)', '0x537a5c3d'],
    ['ERC-173', 'transferOwnership(address)', '0xf2fde38b'],
    ['Giveth', 'changeOwner(address)', '0xa6f9dae1'],
    ['MultiSigWallet', 'replaceOwner(address,address)', '0xe20056e6'],
    ['AllowanceModule', 'addDelegate(address)', '0xe71bdf41'],
    ['Safe 1.5', 'setModuleGuard(address)', '0xe068df37'],
    ['Multicall3', 'aggregate3((address,bool,bytes)[])', '0x82ad56cb'],
    ['Uniswap v3', 'increaseLiquidity((uint256,uint256,uint256,uint256,uint256,uint256))', '0x219f5d17'],
    ['Euler', 'borrow(uint256,address)', '0x4b3fd148'],
    [
      '1inch v6',
      'swap(address,(address,address,address,address,uint256,uint256,uint256),bytes)',
      '0x07ed2379',
    ],
    [
      '1inch v5',
      'swap(address,(address,address,address,address,uint256,uint256,uint256),bytes,bytes)',
      '0x12aa3caf',
    ],
    [
      '1inch v4',
      'swap(address,(address,address,address,address,uint256,uint256,uint256,bytes),bytes)',
      '0x7c025200',
    ],
    ['Odos', 'swapCompact()', '0x83bd37f9'],
    ['Arbitrum', 'outboundTransfer(address,address,uint256,bytes)', '0x7b3a3c8b'],
    ['Moonbeam', 'batchAll(address[],uint256[],bytes[],uint64[])', '0x96e292b8'],
    ['Hyperliquid', 'sendRawAction(bytes)', '0x17938e13'],
    ['Biconomy', 'execute_ncC(address,uint256,bytes)', '0x0000189a'],
    ['Chainlink', 'ccipSend(uint64,(bytes,bytes,(address,uint256)[],address,bytes))', '0x96f4e9f9'],
  ])('have the published selector: %s %s', (_, signature, selector) => {
    expect(standardFunctions().get(selector)).toMatchObject({ signature, restricted: true });
  });

  it.each([
    ['ERC-20', 'approve(address,uint256)'],
    ['OpenZeppelin 1', 'increaseApproval(address,uint256)'],
    ['ERC-223', 'transfer(address,uint256,bytes)'],
    ['ERC-777', 'authorizeOperator(address)'],
    [
      'ERC-3009',
      'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)',
    ],
    ['ERC-1644', 'controllerTransfer(address,address,uint256,bytes,bytes)'],
    ['ERC-3525', 'transferFrom(uint256,address,uint256)'],
    ['ERC-3525', 'approve(uint256,address,uint256)'],
    ['ERC-7401', 'nestTransferFrom(address,address,uint256,uint256,bytes)'],
    ['ERC-4494', 'permit(address,uint256,uint256,bytes)'],
    ['ERC-4524', 'safeTransfer(address,uint256)'],
    ['ERC-4626', 'deposit(uint256,address)'],
    ['ERC-4626', 'redeem(uint256,address,address)'],
    ['ERC-6909', 'setOperator(address,bool)'],
    ['ERC-7540', 'requestRedeem(uint256,address,address)'],
    ['ERC-7674', 'temporaryApprove(address,uint256)'],
    ['LSP7', 'authorizeOperator(address,uint256,bytes)'],
    ['Permit2', 'permit(address,((address,uint160,uint48,uint48),address,uint256),bytes)'],
    ['Permit2', 'permitTransferFrom(((address,uint256),uint256,uint256),(address,uint256),address,bytes)'],
    ['Permit2', 'transferFrom((address,address,uint160,address)[])'],
    ['Aave', 'withdraw(address,uint256,address)'],
    ['Comet', 'allow(address,bool)'],
    ['Morpho', 'setAuthorization(address,bool)'],
    ['Maker', 'hope(address)'],
    ['ERC-5805', 'delegate(address)'],
    ['CryptoPunks', 'offerPunkForSale(uint256,uint256)'],
    ['ENS', 'setOwner(bytes32,address)'],
    ['AccessControl', 'grantRole(bytes32,address)'],
    ['ERC-1967', 'upgradeToAndCall(address,bytes)'],
    ['Safe', 'enableModule(address)'],
    [
      'Uniswap v3, a position of any owner',
      'increaseLiquidity((uint256,uint256,uint256,uint256,uint256,uint256))',
    ],
    ['Aave v3', 'withdrawETH(address,uint256,address)'],
    ['Aave v3', 'claimAllRewards(address[],address)'],
    ['Aave', 'redeem(address,uint256)'],
    ['Euler', 'borrow(uint256,address)'],
    ['Euler', 'permit(address,address,uint256,uint256,uint256,uint256,bytes,bytes)'],
    ['Maker, a position of any owner', 'shift(uint256,uint256)'],
    ['Sky', 'usdsToDai(address,uint256)'],
    ['Velodrome, a position of any owner', 'merge(uint256,uint256)'],
    [
      'Velodrome',
      'swapExactTokensForTokens(uint256,uint256,(address,address,bool,address)[],address,uint256)',
    ],
    ['Slipstream', 'exactInputSingle((address,address,int24,address,uint256,uint256,uint256,uint160))'],
    ['Curve', 'remove_liquidity_one_coin(uint256,int128,uint256,address)'],
    ['Curve', 'exchange(address[11],uint256[5][5],uint256,uint256,address[5],address)'],
    ['0x', 'execute((address,address,uint256),bytes[],bytes32)'],
    ['0x', 'exec(address,address,uint256,address,bytes)'],
    [
      'ParaSwap',
      'swapExactAmountIn(address,(address,address,uint256,uint256,uint256,bytes32,address),uint256,bytes,bytes)',
    ],
    ['CoW', 'createOrder((address,address,uint256,uint256,bytes32,uint256,uint32,bool,int64))'],
    ['Balancer', 'gaugeWithdraw(address,address,address,uint256)'],
    ['Superfluid', 'setFlowrate(address,address,int96)'],
    ['LUKSO, permissions', 'setData(bytes32,bytes)'],
    ['Aragon', 'grantPermission(address,address,bytes32)'],
    ['Synthetix', 'nominateNewOwner(address)'],
    ['MultiSigWallet', 'confirmTransaction(uint256)'],
    ['Zodiac', 'execTransactionWithRole(address,uint256,bytes,uint8,uint16,bool)'],
    ['Aave', 'executeTransaction(address,uint256,string,bytes,uint256,bool)'],
    ['Arbitrum', 'outboundTransfer(address,address,uint256,bytes)'],
    ['Hyperlane', 'transferRemote(uint32,bytes32,uint256)'],
    ['OpenZeppelin 5', 'crosschainTransferFrom(address,bytes,uint256[],uint256[],bytes)'],
    ['Solady', 'storageStore(bytes32,bytes32)'],
    ['Sablier', 'withdrawMax(uint256,address)'],
    ['Gearbox', 'multicall(address,(address,bytes)[])'],
    ['Chainlink', 'cancelSubscription(uint256,address)'],
    ['Axelar', 'executeContract(address,bytes,uint256)'],
    ['Hyperlane', 'callRemote(uint32,(bytes32,uint256,bytes)[])'],
    ['Optimism', 'withdraw(address,uint256)'],
    ['a token that is issued', 'mint(address,uint256)'],
    ['what carries calls', 'multicall(bytes[])'],
  ])('include %s %s', (_, signature) => {
    expect(isRestricted(toFunctionSelector(`function ${signature}`))).toBe(true);
  });

  it.each([
    ['stays with the caller', 'deposit()'],
    ['stays with the caller', 'withdraw(uint256)'],
    ['stays with the caller', 'supply(address,uint256)'],
    ['destroys', 'burn(uint256)'],
    ['takes an allowance back', 'decreaseAllowance(address,uint256)'],
    ['takes an allowance back', 'decreaseApproval(address,uint256)'],
    ['takes allowances back', 'lockdown((address,address)[])'],
    ['takes an operator back', 'revokeOperator(address)'],
    ['takes a role back', 'revokeRole(bytes32,address)'],
    ['accepts', 'acceptOwnership()'],
    ['is a token transfer', 'transfer(address,uint256)'],
    ['is unknown', 'settle((uint256,bool)[],string)'],
  ])('do not include what %s: %s', (_, signature) => {
    expect(isRestricted(toFunctionSelector(`function ${signature}`))).toBe(false);
  });

  it('are decoded with the names of their parameters', () => {
    const calldata = `0xd73dd623${'0'.repeat(24)}${'11'.repeat(20)}${'0'.repeat(63)}5`;
    expect(decodeCall(calldata, [])).toEqual({
      functionName: 'increaseApproval',
      functionParameters: [
        { name: 'spender', type: 'address', value: '0x1111111111111111111111111111111111111111' },
        { name: 'addedValue', type: 'uint256', value: '5' },
      ],
    });
  });

  it('can be named in a policy', () => {
    for (const { signature, selector, abi } of restricted) {
      if (signature.length > 1_000) continue;
      expect(parseFunction(signature)).toEqual({ ok: true, function: { name: abi.name, selector } });
    }
  });
});
