/** Functions of one standard or project. */
export interface FunctionGroup {
  /** Where the signatures are declared: standard, or project and contract. The first of several that declare the same. */
  readonly source: string;
  /** Structs that the functions take, as Solidity declares them. */
  readonly structs?: readonly string[];
  /** Names and parameters, as Solidity declares them. */
  readonly functions: readonly string[];
}

/*
 * A function belongs here when it
 * - lets somebody else than the account take or control, now or later, what the account owns or controls: allowances,
 *   operators, permits, offers for sale, delegations, owners, roles, implementations;
 * - or sends what the account owns, controls or may issue to an address among its arguments, also when that address
 *   can be the account itself: `withdraw(uint256,address,address)` does, `withdraw(uint256)` does not;
 * - or carries calls.
 * A function that only takes rights away, or destroys, does not. `transfer(address,uint256)` does not either: it is a
 * token transfer, which other conditions of policies cover. No such list can be complete.
 */

/** Of tokens that are fungible. */
const FUNGIBLE: readonly FunctionGroup[] = [
  {
    source: 'ERC-20 and ERC-721',
    functions: [
      'approve(address spender, uint256 value)',
      'transferFrom(address from, address to, uint256 value)',
    ],
  },
  {
    source: 'OpenZeppelin Contracts 2 to 4: ERC20',
    functions: ['increaseAllowance(address spender, uint256 addedValue)'],
  },
  {
    source: 'OpenZeppelin 1: StandardToken',
    functions: ['increaseApproval(address spender, uint256 addedValue)'],
  },
  {
    source: 'ERC-223, and its first version with a custom fallback',
    functions: [
      'transfer(address to, uint256 value, bytes data)',
      'transfer(address to, uint256 value, bytes data, string customFallback)',
    ],
  },
  {
    source: 'ERC-827, in both versions',
    functions: [
      'approve(address spender, uint256 value, bytes data)',
      'transferFrom(address from, address to, uint256 value, bytes data)',
      'increaseApprovalAndCall(address spender, uint256 addedValue, bytes data)',
    ],
  },
  {
    source: 'ERC-677, ERC-827 and ERC-1363',
    functions: [
      'transferAndCall(address to, uint256 value)',
      'transferAndCall(address to, uint256 value, bytes data)',
      'transferFromAndCall(address from, address to, uint256 value)',
      'transferFromAndCall(address from, address to, uint256 value, bytes data)',
      'approveAndCall(address spender, uint256 value)',
      'approveAndCall(address spender, uint256 value, bytes data)',
    ],
  },
  {
    source: 'ERC-777',
    functions: [
      'authorizeOperator(address operator)',
      'send(address recipient, uint256 amount, bytes data)',
      'operatorSend(address sender, address recipient, uint256 amount, bytes data, bytes operatorData)',
    ],
  },
  {
    source: 'ERC-1400, with ERC-1410, ERC-1594 and ERC-1644',
    functions: [
      'authorizeOperatorByPartition(bytes32 partition, address operator)',
      'transferByPartition(bytes32 partition, address to, uint256 value, bytes data)',
      'operatorTransferByPartition(bytes32 partition, address from, address to, uint256 value, bytes data, bytes operatorData)',
      'transferWithData(address to, uint256 value, bytes data)',
      'transferFromWithData(address from, address to, uint256 value, bytes data)',
      'controllerTransfer(address from, address to, uint256 value, bytes data, bytes operatorData)',
      'issue(address tokenHolder, uint256 value, bytes data)',
      'issueByPartition(bytes32 partition, address tokenHolder, uint256 value, bytes data)',
    ],
  },
  {
    source: 'ERC-2612',
    functions: [
      'permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
    ],
  },
  {
    source: 'Yearn v2: Vault; Maker: SavingsDai',
    functions: ['permit(address owner, address spender, uint256 value, uint256 deadline, bytes signature)'],
  },
  {
    source: 'Maker: Dai',
    functions: [
      'permit(address holder, address spender, uint256 nonce, uint256 expiry, bool allowed, uint8 v, bytes32 r, bytes32 s)',
      'push(address to, uint256 value)',
      'pull(address from, uint256 value)',
      'move(address from, address to, uint256 value)',
    ],
  },
  {
    source: 'DappHub: DSToken',
    functions: ['approve(address spender)'],
  },
  {
    source: 'ERC-3009',
    functions: [
      'transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
      'receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
    ],
  },
  {
    source: 'OpenZeppelin Contracts 5: ERC20TransferAuthorization',
    functions: [
      'transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
      'receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
    ],
  },
  {
    source: 'ERC-3643',
    functions: [
      'forcedTransfer(address from, address to, uint256 amount)',
      'batchTransfer(address[] to, uint256[] amounts)',
      'batchForcedTransfer(address[] from, address[] to, uint256[] amounts)',
      'recoveryAddress(address lostWallet, address newWallet, address investorOnchainId)',
    ],
  },
  {
    source: 'ERC-4524',
    functions: [
      'safeTransfer(address to, uint256 amount)',
      'safeTransfer(address to, uint256 amount, bytes data)',
    ],
  },
  {
    source: 'ERC-7674',
    functions: ['temporaryApprove(address spender, uint256 value)'],
  },
  {
    source: 'ERC-7802',
    functions: ['crosschainMint(address to, uint256 amount)'],
  },
  {
    source: 'ERC-7984',
    functions: [
      'setOperator(address operator, uint48 until)',
      'confidentialTransfer(address to, bytes32 amount)',
      'confidentialTransfer(address to, bytes32 amount, bytes data)',
      'confidentialTransferFrom(address from, address to, bytes32 amount)',
      'confidentialTransferFrom(address from, address to, bytes32 amount, bytes data)',
      'confidentialTransferAndCall(address to, bytes32 amount, bytes callData)',
      'confidentialTransferAndCall(address to, bytes32 amount, bytes data, bytes callData)',
      'confidentialTransferFromAndCall(address from, address to, bytes32 amount, bytes callData)',
      'confidentialTransferFromAndCall(address from, address to, bytes32 amount, bytes data, bytes callData)',
    ],
  },
  {
    source:
      'OpenZeppelin Contracts 3 to 5: ERC20PresetMinterPauser and others; Maker: Dai; USDC: FiatTokenV1',
    functions: ['mint(address to, uint256 value)'],
  },
  {
    source: 'USDC: FiatTokenV1 and V1_1, MasterMinter',
    functions: [
      'configureMinter(address minter, uint256 minterAllowedAmount)',
      'updateMasterMinter(address newMasterMinter)',
      'updateRescuer(address newRescuer)',
    ],
  },
  {
    source: 'Tether: TetherToken',
    functions: ['deprecate(address upgradedAddress)'],
  },
  {
    source: 'Lido: StETH and WithdrawalQueue',
    functions: [
      'transferShares(address recipient, uint256 sharesAmount)',
      'transferSharesFrom(address sender, address recipient, uint256 sharesAmount)',
      'requestWithdrawals(uint256[] amounts, address owner)',
      'requestWithdrawalsWstETH(uint256[] amounts, address owner)',
      'claimWithdrawalsTo(uint256[] requestIds, uint256[] hints, address recipient)',
    ],
  },
  {
    source: 'Superfluid: CFAv1Forwarder',
    functions: [
      'updateFlowOperatorPermissions(address token, address flowOperator, uint8 permissions, int96 flowrateAllowance)',
    ],
  },
  {
    source: 'Disperse',
    functions: [
      'disperseEther(address[] recipients, uint256[] values)',
      'disperseToken(address token, address[] recipients, uint256[] values)',
    ],
  },
];

/** Of tokens with ids. */
const WITH_IDS: readonly FunctionGroup[] = [
  {
    source: 'ERC-721, ERC-1155 and ERC-721A',
    functions: [
      'setApprovalForAll(address operator, bool approved)',
      'safeTransferFrom(address from, address to, uint256 tokenId)',
      'safeTransferFrom(address from, address to, uint256 tokenId, bytes data)',
      'safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes data)',
      'safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] values, bytes data)',
    ],
  },
  {
    source: 'ERC-3525',
    functions: [
      'approve(uint256 tokenId, address operator, uint256 value)',
      'setApprovalForSlot(address owner, uint256 slot, address operator, bool approved)',
      'transferFrom(uint256 fromTokenId, uint256 toTokenId, uint256 value)',
      'transferFrom(uint256 fromTokenId, address to, uint256 value)',
    ],
  },
  {
    source: 'ERC-4494',
    functions: ['permit(address spender, uint256 tokenId, uint256 deadline, bytes signature)'],
  },
  {
    source: 'Uniswap v3: NonfungiblePositionManager',
    functions: ['permit(address spender, uint256 tokenId, uint256 deadline, uint8 v, bytes32 r, bytes32 s)'],
  },
  {
    source: 'Uniswap v4: ERC721Permit_v4',
    functions: [
      'permit(address spender, uint256 tokenId, uint256 deadline, uint256 nonce, bytes signature)',
      'permitForAll(address owner, address operator, bool approved, uint256 deadline, uint256 nonce, bytes signature)',
    ],
  },
  {
    source: 'ERC-4907',
    functions: ['setUser(uint256 tokenId, address user, uint64 expires)'],
  },
  {
    source: 'ERC-5006',
    functions: [
      'createUserRecord(address owner, address user, uint256 tokenId, uint64 amount, uint64 expiry)',
    ],
  },
  {
    source: 'ERC-6909; setOperator also ERC-7540',
    functions: [
      'approve(address spender, uint256 id, uint256 amount)',
      'transfer(address receiver, uint256 id, uint256 amount)',
      'transferFrom(address sender, address receiver, uint256 id, uint256 amount)',
      'setOperator(address operator, bool approved)',
    ],
  },
  {
    source: 'ERC-7401',
    functions: [
      'nestTransferFrom(address from, address to, uint256 tokenId, uint256 destinationId, bytes data)',
      'transferChild(uint256 tokenId, address to, uint256 destinationId, uint256 childIndex, address childAddress, uint256 childId, bool isPending, bytes data)',
    ],
  },
  {
    source: 'LUKSO LSP7 Digital Asset',
    functions: [
      'authorizeOperator(address operator, uint256 amount, bytes operatorNotificationData)',
      'increaseAllowance(address operator, uint256 addedAmount, bytes operatorNotificationData)',
      'transfer(address from, address to, uint256 amount, bool force, bytes data)',
      'transferBatch(address[] from, address[] to, uint256[] amount, bool[] force, bytes[] data)',
      'mint(address to, uint256 amount, bool force, bytes data)',
    ],
  },
  {
    source: 'LUKSO LSP8 Identifiable Digital Asset',
    functions: [
      'authorizeOperator(address operator, bytes32 tokenId, bytes operatorNotificationData)',
      'transfer(address from, address to, bytes32 tokenId, bool force, bytes data)',
      'transferBatch(address[] from, address[] to, bytes32[] tokenId, bool[] force, bytes[] data)',
      'mint(address to, bytes32 tokenId, bool force, bytes data)',
    ],
  },
  {
    source:
      'OpenZeppelin Contracts 2 to 4: ERC721Mintable, ERC721MetadataMintable, ERC721 and ERC1155 presets',
    functions: [
      'mint(address to)',
      'safeMint(address to, uint256 tokenId)',
      'safeMint(address to, uint256 tokenId, bytes data)',
      'mintWithTokenURI(address to, uint256 tokenId, string tokenURI)',
      'mint(address to, uint256 id, uint256 amount, bytes data)',
      'mintBatch(address to, uint256[] ids, uint256[] amounts, bytes data)',
    ],
  },
  {
    source: 'OpenZeppelin Contracts 5: BridgeFungible, BridgeERC721 and BridgeERC1155',
    functions: [
      'crosschainTransfer(bytes to, uint256 amount)',
      'crosschainTransferFrom(address from, bytes to, uint256 tokenId)',
      'crosschainTransferFrom(address from, bytes to, uint256 id, uint256 value)',
      'crosschainTransferFrom(address from, bytes to, uint256[] ids, uint256[] values)',
    ],
  },
  {
    source: 'CryptoPunks: CryptoPunksMarket',
    functions: [
      'transferPunk(address to, uint256 punkIndex)',
      'offerPunkForSale(uint256 punkIndex, uint256 minSalePriceInWei)',
      'offerPunkForSaleToAddress(uint256 punkIndex, uint256 minSalePriceInWei, address toAddress)',
      'acceptBidForPunk(uint256 punkIndex, uint256 minPrice)',
    ],
  },
  {
    source: 'CryptoKitties: KittyCore',
    functions: [
      'approveSiring(address addr, uint256 sireId)',
      'createSaleAuction(uint256 kittyId, uint256 startingPrice, uint256 endingPrice, uint256 duration)',
      'createSiringAuction(uint256 kittyId, uint256 startingPrice, uint256 endingPrice, uint256 duration)',
    ],
  },
];

/** Of contracts that hold allowances for others. */
const ALLOWANCE_HOLDERS: readonly FunctionGroup[] = [
  {
    source: 'Uniswap Permit2: IAllowanceTransfer',
    structs: [
      'struct PermitDetails { address token; uint160 amount; uint48 expiration; uint48 nonce; }',
      'struct PermitSingle { PermitDetails details; address spender; uint256 sigDeadline; }',
      'struct PermitBatch { PermitDetails[] details; address spender; uint256 sigDeadline; }',
      'struct AllowanceTransferDetails { address from; address to; uint160 amount; address token; }',
    ],
    functions: [
      'approve(address token, address spender, uint160 amount, uint48 expiration)',
      'permit(address owner, PermitSingle permitSingle, bytes signature)',
      'permit(address owner, PermitBatch permitBatch, bytes signature)',
      'transferFrom(address from, address to, uint160 amount, address token)',
      'transferFrom(AllowanceTransferDetails[] transferDetails)',
      // Uniswap v4: Permit2Forwarder
      'permitBatch(address owner, PermitBatch permitBatch, bytes signature)',
    ],
  },
  {
    source: 'Uniswap Permit2: ISignatureTransfer',
    structs: [
      'struct TokenPermissions { address token; uint256 amount; }',
      'struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }',
      'struct PermitBatchTransferFrom { TokenPermissions[] permitted; uint256 nonce; uint256 deadline; }',
      'struct SignatureTransferDetails { address to; uint256 requestedAmount; }',
    ],
    functions: [
      'permitTransferFrom(PermitTransferFrom permit, SignatureTransferDetails transferDetails, address owner, bytes signature)',
      'permitTransferFrom(PermitBatchTransferFrom permit, SignatureTransferDetails[] transferDetails, address owner, bytes signature)',
      'permitWitnessTransferFrom(PermitTransferFrom permit, SignatureTransferDetails transferDetails, address owner, bytes32 witness, string witnessTypeString, bytes signature)',
      'permitWitnessTransferFrom(PermitBatchTransferFrom permit, SignatureTransferDetails[] transferDetails, address owner, bytes32 witness, string witnessTypeString, bytes signature)',
    ],
  },
  {
    source: 'Limit Break PermitC',
    functions: [
      'approve(uint256 tokenType, address token, uint256 id, address operator, uint200 amount, uint48 expiration)',
      'updateApprovalBySignature(uint256 tokenType, address token, uint256 id, uint256 nonce, uint200 amount, address operator, uint48 approvalExpiration, uint48 sigDeadline, address owner, bytes signedPermit)',
      'transferFromERC20(address from, address to, address token, uint256 amount)',
      'transferFromERC721(address from, address to, address token, uint256 id)',
      'transferFromERC1155(address from, address to, address token, uint256 id, uint256 amount)',
      'permitTransferFromERC20(address token, uint256 nonce, uint256 permitAmount, uint256 expiration, address owner, address to, uint256 transferAmount, bytes signedPermit)',
      'permitTransferFromERC721(address token, uint256 id, uint256 nonce, uint256 expiration, address owner, address to, bytes signedPermit)',
      'permitTransferFromERC1155(address token, uint256 id, uint256 nonce, uint256 permitAmount, uint256 expiration, address owner, address to, uint256 transferAmount, bytes signedPermit)',
    ],
  },
  {
    source: 'Safe: AllowanceModule',
    functions: [
      'addDelegate(address delegate)',
      'setAllowance(address delegate, address token, uint96 allowanceAmount, uint16 resetTimeMin, uint32 resetBaseMin)',
      'executeAllowanceTransfer(address safe, address token, address to, uint96 amount, address paymentToken, uint96 payment, address delegate, bytes signature)',
    ],
  },
];

/** Of vaults, wrappers and markets of loans. */
const VAULTS: readonly FunctionGroup[] = [
  {
    source: 'ERC-4626',
    functions: [
      'deposit(uint256 assets, address receiver)',
      'mint(uint256 shares, address receiver)',
      'withdraw(uint256 assets, address receiver, address owner)',
      'redeem(uint256 shares, address receiver, address owner)',
    ],
  },
  {
    source: 'ERC-7540',
    functions: [
      'requestDeposit(uint256 assets, address controller, address owner)',
      'requestRedeem(uint256 shares, address controller, address owner)',
      'deposit(uint256 assets, address receiver, address controller)',
      'mint(uint256 shares, address receiver, address controller)',
    ],
  },
  {
    source: 'Yearn v2: Vault',
    functions: [
      'withdraw(uint256 maxShares, address recipient)',
      'withdraw(uint256 maxShares, address recipient, uint256 maxLoss)',
    ],
  },
  {
    source: 'WETH10',
    functions: [
      'depositTo(address to)',
      'depositToAndCall(address to, bytes data)',
      'withdrawTo(address to, uint256 value)',
      'withdrawFrom(address from, address to, uint256 value)',
    ],
  },
  {
    source: 'OpenZeppelin Contracts 4 and 5: ERC20Wrapper and ERC721Wrapper',
    functions: [
      'depositFor(address account, uint256 value)',
      'depositFor(address account, uint256[] tokenIds)',
      'withdrawTo(address account, uint256[] tokenIds)',
    ],
  },
  {
    source: 'OpenZeppelin Contracts 2: Escrow and Crowdsale',
    functions: ['deposit(address payee)', 'buyTokens(address beneficiary)'],
  },
  {
    source: 'Aave v2: LendingPool; Aave v3: Pool',
    functions: [
      'deposit(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)',
      'supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)',
      'supplyWithPermit(address asset, uint256 amount, address onBehalfOf, uint16 referralCode, uint256 deadline, uint8 permitV, bytes32 permitR, bytes32 permitS)',
      'mintUnbacked(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)',
      'withdraw(address asset, uint256 amount, address to)',
      'borrow(address asset, uint256 amount, uint256 interestRateMode, uint16 referralCode, address onBehalfOf)',
      'repay(address asset, uint256 amount, uint256 interestRateMode, address onBehalfOf)',
      'repayWithPermit(address asset, uint256 amount, uint256 interestRateMode, address onBehalfOf, uint256 deadline, uint8 permitV, bytes32 permitR, bytes32 permitS)',
      'flashLoan(address receiverAddress, address[] assets, uint256[] amounts, uint256[] interestRateModes, address onBehalfOf, bytes params, uint16 referralCode)',
      'rescueTokens(address token, address to, uint256 amount)',
    ],
  },
  {
    source: 'Aave v2 and v3: debt tokens',
    functions: [
      'approveDelegation(address delegatee, uint256 amount)',
      'delegationWithSig(address delegator, address delegatee, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
    ],
  },
  {
    source: 'Aave v2: WETHGateway',
    functions: [
      'withdrawETH(uint256 amount, address onBehalfOf)',
      'depositETH(address onBehalfOf, uint16 referralCode)',
      'repayETH(uint256 amount, uint256 rateMode, address onBehalfOf)',
    ],
  },
  {
    source: 'Compound v2: CErc20, CEther and their administration',
    functions: [
      'repayBorrowBehalf(address borrower, uint256 repayAmount)',
      'repayBorrowBehalf(address borrower)',
      '_setPendingAdmin(address newPendingAdmin)',
      '_setComptroller(address newComptroller)',
      '_setImplementation(address implementation, bool allowResign, bytes becomeImplementationData)',
    ],
  },
  {
    source: 'Venus: Comptroller',
    functions: ['updateDelegate(address delegate, bool approved)'],
  },
  {
    source: 'Fraxlend: FraxlendPair',
    functions: ['borrowAsset(uint256 borrowAmount, uint256 collateralAmount, address receiver)'],
  },
  {
    source: 'Ethereum: deposit contract of validators',
    functions: [
      'deposit(bytes pubkey, bytes withdrawalCredentials, bytes signature, bytes32 depositDataRoot)',
    ],
  },
  {
    source: 'Compound v3: Comet',
    functions: [
      'allow(address manager, bool isAllowed)',
      'allowBySig(address owner, address manager, bool isAllowed, uint256 nonce, uint256 expiry, uint8 v, bytes32 r, bytes32 s)',
      'supplyTo(address dst, address asset, uint256 amount)',
      'supplyFrom(address from, address dst, address asset, uint256 amount)',
      'transferAsset(address dst, address asset, uint256 amount)',
      'transferAssetFrom(address src, address dst, address asset, uint256 amount)',
      'withdrawTo(address to, address asset, uint256 amount)',
      'withdrawFrom(address src, address to, address asset, uint256 amount)',
      'approveThis(address manager, address asset, uint256 amount)',
      'withdrawReserves(address to, uint256 amount)',
      'buyCollateral(address asset, uint256 minAmount, uint256 baseAmount, address recipient)',
    ],
  },
  {
    source: 'Morpho Blue: Morpho',
    structs: [
      'struct MarketParams { address loanToken; address collateralToken; address oracle; address irm; uint256 lltv; }',
      'struct Authorization { address authorizer; address authorized; bool isAuthorized; uint256 nonce; uint256 deadline; }',
      'struct Signature { uint8 v; bytes32 r; bytes32 s; }',
    ],
    functions: [
      'supply(MarketParams marketParams, uint256 assets, uint256 shares, address onBehalf, bytes data)',
      'withdraw(MarketParams marketParams, uint256 assets, uint256 shares, address onBehalf, address receiver)',
      'borrow(MarketParams marketParams, uint256 assets, uint256 shares, address onBehalf, address receiver)',
      'repay(MarketParams marketParams, uint256 assets, uint256 shares, address onBehalf, bytes data)',
      'supplyCollateral(MarketParams marketParams, uint256 assets, address onBehalf, bytes data)',
      'withdrawCollateral(MarketParams marketParams, uint256 assets, address onBehalf, address receiver)',
      'setAuthorization(address authorized, bool newIsAuthorized)',
      'setAuthorizationWithSig(Authorization authorization, Signature signature)',
      'setFeeRecipient(address newFeeRecipient)',
    ],
  },
  {
    source: 'Euler: Ethereum Vault Connector',
    functions: [
      'setAccountOperator(address account, address operator, bool authorized)',
      'setOperator(bytes19 addressPrefix, address operator, uint256 operatorBitField)',
    ],
  },
  {
    source: 'Maker: Vat, joins and DssCdpManager',
    functions: [
      'hope(address usr)',
      'flux(bytes32 ilk, address src, address dst, uint256 wad)',
      'fork(bytes32 ilk, address src, address dst, int256 dink, int256 dart)',
      'frob(bytes32 i, address u, address v, address w, int256 dink, int256 dart)',
      'suck(address u, address v, uint256 rad)',
      'slip(bytes32 ilk, address usr, int256 wad)',
      'join(address usr, uint256 wad)',
      'join(address usr)',
      'exit(address usr, uint256 wad)',
      'cdpAllow(uint256 cdp, address usr, uint256 ok)',
      'urnAllow(address usr, uint256 ok)',
      'open(bytes32 ilk, address usr)',
      'give(uint256 cdp, address dst)',
      'flux(uint256 cdp, address dst, uint256 wad)',
      'flux(bytes32 ilk, uint256 cdp, address dst, uint256 wad)',
      'move(uint256 cdp, address dst, uint256 rad)',
      'quit(uint256 cdp, address dst)',
    ],
  },
  {
    source: 'Maker: SaiTub',
    functions: ['give(bytes32 cup, address guy)'],
  },
  {
    source: 'Pendle v2: StandardizedYield and YieldToken',
    functions: [
      'deposit(address receiver, address tokenIn, uint256 amountTokenToDeposit, uint256 minSharesOut)',
      'redeem(address receiver, uint256 amountSharesToRedeem, address tokenOut, uint256 minTokenOut, bool burnFromInternalBalance)',
      'mintPY(address receiverPT, address receiverYT)',
      'redeemPY(address receiver)',
      'redeemPYMulti(address[] receivers, uint256[] amountPYToRedeems)',
    ],
  },
  {
    source: 'Curve: gauges',
    functions: ['set_approve_deposit(address addr, bool canDeposit)'],
  },
];

/** Of exchanges and markets. */
const EXCHANGES: readonly FunctionGroup[] = [
  {
    source: 'Uniswap v2: Pair',
    functions: [
      'burn(address to)',
      'swap(uint256 amount0Out, uint256 amount1Out, address to, bytes data)',
      'skim(address to)',
    ],
  },
  {
    source: 'Uniswap v2: Router01, Router02 and Migrator',
    functions: [
      'addLiquidity(address tokenA, address tokenB, uint256 amountADesired, uint256 amountBDesired, uint256 amountAMin, uint256 amountBMin, address to, uint256 deadline)',
      'addLiquidityETH(address token, uint256 amountTokenDesired, uint256 amountTokenMin, uint256 amountETHMin, address to, uint256 deadline)',
      'removeLiquidity(address tokenA, address tokenB, uint256 liquidity, uint256 amountAMin, uint256 amountBMin, address to, uint256 deadline)',
      'removeLiquidityETH(address token, uint256 liquidity, uint256 amountTokenMin, uint256 amountETHMin, address to, uint256 deadline)',
      'removeLiquidityWithPermit(address tokenA, address tokenB, uint256 liquidity, uint256 amountAMin, uint256 amountBMin, address to, uint256 deadline, bool approveMax, uint8 v, bytes32 r, bytes32 s)',
      'removeLiquidityETHWithPermit(address token, uint256 liquidity, uint256 amountTokenMin, uint256 amountETHMin, address to, uint256 deadline, bool approveMax, uint8 v, bytes32 r, bytes32 s)',
      'removeLiquidityETHSupportingFeeOnTransferTokens(address token, uint256 liquidity, uint256 amountTokenMin, uint256 amountETHMin, address to, uint256 deadline)',
      'removeLiquidityETHWithPermitSupportingFeeOnTransferTokens(address token, uint256 liquidity, uint256 amountTokenMin, uint256 amountETHMin, address to, uint256 deadline, bool approveMax, uint8 v, bytes32 r, bytes32 s)',
      'swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)',
      'swapTokensForExactTokens(uint256 amountOut, uint256 amountInMax, address[] path, address to, uint256 deadline)',
      'swapExactETHForTokens(uint256 amountOutMin, address[] path, address to, uint256 deadline)',
      'swapTokensForExactETH(uint256 amountOut, uint256 amountInMax, address[] path, address to, uint256 deadline)',
      'swapExactTokensForETH(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)',
      'swapETHForExactTokens(uint256 amountOut, address[] path, address to, uint256 deadline)',
      'swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)',
      'swapExactETHForTokensSupportingFeeOnTransferTokens(uint256 amountOutMin, address[] path, address to, uint256 deadline)',
      'swapExactTokensForETHSupportingFeeOnTransferTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)',
      'migrate(address token, uint256 amountTokenMin, uint256 amountETHMin, address to, uint256 deadline)',
    ],
  },
  {
    source: 'Uniswap v3: Pool',
    functions: [
      'mint(address recipient, int24 tickLower, int24 tickUpper, uint128 amount, bytes data)',
      'collect(address recipient, int24 tickLower, int24 tickUpper, uint128 amount0Requested, uint128 amount1Requested)',
      'swap(address recipient, bool zeroForOne, int256 amountSpecified, uint160 sqrtPriceLimitX96, bytes data)',
      'collectProtocol(address recipient, uint128 amount0Requested, uint128 amount1Requested)',
    ],
  },
  {
    source: 'Uniswap v3: NonfungiblePositionManager and V3Migrator',
    structs: [
      'struct MintParams { address token0; address token1; uint24 fee; int24 tickLower; int24 tickUpper; uint256 amount0Desired; uint256 amount1Desired; uint256 amount0Min; uint256 amount1Min; address recipient; uint256 deadline; }',
      'struct CollectParams { uint256 tokenId; address recipient; uint128 amount0Max; uint128 amount1Max; }',
      'struct MigrateParams { address pair; uint256 liquidityToMigrate; uint8 percentageToMigrate; address token0; address token1; uint24 fee; int24 tickLower; int24 tickUpper; uint256 amount0Min; uint256 amount1Min; address recipient; uint256 deadline; bool refundAsETH; }',
    ],
    functions: [
      'mint(MintParams params)',
      'collect(CollectParams params)',
      'migrate(MigrateParams params)',
      'sweepToken(address token, uint256 amountMinimum, address recipient)',
      'unwrapWETH9(uint256 amountMinimum, address recipient)',
    ],
  },
  {
    source: 'Uniswap v3: SwapRouter',
    structs: [
      'struct ExactInputSingleParams { address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 deadline; uint256 amountIn; uint256 amountOutMinimum; uint160 sqrtPriceLimitX96; }',
      'struct ExactInputParams { bytes path; address recipient; uint256 deadline; uint256 amountIn; uint256 amountOutMinimum; }',
      'struct ExactOutputSingleParams { address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 deadline; uint256 amountOut; uint256 amountInMaximum; uint160 sqrtPriceLimitX96; }',
      'struct ExactOutputParams { bytes path; address recipient; uint256 deadline; uint256 amountOut; uint256 amountInMaximum; }',
    ],
    functions: [
      'exactInputSingle(ExactInputSingleParams params)',
      'exactInput(ExactInputParams params)',
      'exactOutputSingle(ExactOutputSingleParams params)',
      'exactOutput(ExactOutputParams params)',
      'sweepTokenWithFee(address token, uint256 amountMinimum, address recipient, uint256 feeBips, address feeRecipient)',
      'unwrapWETH9WithFee(uint256 amountMinimum, address recipient, uint256 feeBips, address feeRecipient)',
    ],
  },
  {
    source: 'Uniswap: SwapRouter02',
    structs: [
      'struct ExactInputSingleParams { address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 amountIn; uint256 amountOutMinimum; uint160 sqrtPriceLimitX96; }',
      'struct ExactInputParams { bytes path; address recipient; uint256 amountIn; uint256 amountOutMinimum; }',
      'struct ExactOutputSingleParams { address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 amountOut; uint256 amountInMaximum; uint160 sqrtPriceLimitX96; }',
      'struct ExactOutputParams { bytes path; address recipient; uint256 amountOut; uint256 amountInMaximum; }',
      'struct MintParams { address token0; address token1; uint24 fee; int24 tickLower; int24 tickUpper; uint256 amount0Min; uint256 amount1Min; address recipient; }',
    ],
    functions: [
      'exactInputSingle(ExactInputSingleParams params)',
      'exactInput(ExactInputParams params)',
      'exactOutputSingle(ExactOutputSingleParams params)',
      'exactOutput(ExactOutputParams params)',
      'mint(MintParams params)',
      'swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to)',
      'swapTokensForExactTokens(uint256 amountOut, uint256 amountInMax, address[] path, address to)',
      'sweepTokenWithFee(address token, uint256 amountMinimum, uint256 feeBips, address feeRecipient)',
      'unwrapWETH9WithFee(uint256 amountMinimum, uint256 feeBips, address feeRecipient)',
    ],
  },
  {
    source: 'Uniswap v4: PoolManager',
    functions: [
      'mint(address to, uint256 id, uint256 amount)',
      'take(address currency, address to, uint256 amount)',
      'settleFor(address recipient)',
      'collectProtocolFees(address recipient, address currency, uint256 amount)',
      'setProtocolFeeController(address controller)',
    ],
  },
  {
    source: 'Uniswap v3: SelfPermit',
    functions: [
      'selfPermit(address token, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
      'selfPermitIfNecessary(address token, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
      'selfPermitAllowed(address token, uint256 nonce, uint256 expiry, uint8 v, bytes32 r, bytes32 s)',
      'selfPermitAllowedIfNecessary(address token, uint256 nonce, uint256 expiry, uint8 v, bytes32 r, bytes32 s)',
    ],
  },
  {
    source: 'Curve: pools',
    functions: [
      'exchange(int128 i, int128 j, uint256 dx, uint256 minDy, address receiver)',
      'exchange(uint256 i, uint256 j, uint256 dx, uint256 minDy, address receiver)',
      'exchange_underlying(int128 i, int128 j, uint256 dx, uint256 minDy, address receiver)',
      'exchange_underlying(uint256 i, uint256 j, uint256 dx, uint256 minDy, address receiver)',
    ],
  },
  {
    source: 'CoW Protocol: GPv2Settlement',
    functions: ['setPreSignature(bytes orderUid, bool signed)'],
  },
  {
    source: 'GMX v1: Router',
    functions: ['approvePlugin(address plugin)'],
  },
  {
    source: 'Balancer v2: Vault',
    structs: [
      'struct UserBalanceOp { uint8 kind; address asset; uint256 amount; address sender; address recipient; }',
      'struct PoolRequest { address[] assets; uint256[] limits; bytes userData; bool internalBalance; }',
      'struct SingleSwap { bytes32 poolId; uint8 kind; address assetIn; address assetOut; uint256 amount; bytes userData; }',
      'struct FundManagement { address sender; bool fromInternalBalance; address recipient; bool toInternalBalance; }',
      'struct BatchSwapStep { bytes32 poolId; uint256 assetInIndex; uint256 assetOutIndex; uint256 amount; bytes userData; }',
    ],
    functions: [
      'setRelayerApproval(address sender, address relayer, bool approved)',
      'manageUserBalance(UserBalanceOp[] ops)',
      'joinPool(bytes32 poolId, address sender, address recipient, PoolRequest request)',
      'exitPool(bytes32 poolId, address sender, address recipient, PoolRequest request)',
      'swap(SingleSwap singleSwap, FundManagement funds, uint256 limit, uint256 deadline)',
      'batchSwap(uint8 kind, BatchSwapStep[] swaps, address[] assets, FundManagement funds, int256[] limits, uint256 deadline)',
    ],
  },
  {
    source: 'Pendle v2: Router',
    structs: [
      'struct SwapData { uint8 swapType; address extRouter; bytes extCalldata; bool needScale; }',
      'struct TokenInput { address tokenIn; uint256 netTokenIn; address tokenMintSy; address pendleSwap; SwapData swapData; }',
      'struct TokenOutput { address tokenOut; uint256 minTokenOut; address tokenRedeemSy; address pendleSwap; SwapData swapData; }',
    ],
    functions: [
      'mintSyFromToken(address receiver, address sy, uint256 minSyOut, TokenInput input)',
      'redeemSyToToken(address receiver, address sy, uint256 netSyIn, TokenOutput output)',
      'mintPyFromToken(address receiver, address yt, uint256 minPyOut, TokenInput input)',
      'redeemPyToToken(address receiver, address yt, uint256 netPyIn, TokenOutput output)',
      'mintPyFromSy(address receiver, address yt, uint256 netSyIn, uint256 minPyOut)',
      'redeemPyToSy(address receiver, address yt, uint256 netPyIn, uint256 minSyOut)',
      'addLiquidityDualSyAndPt(address receiver, address market, uint256 netSyDesired, uint256 netPtDesired, uint256 minLpOut)',
      'addLiquidityDualTokenAndPt(address receiver, address market, TokenInput input, uint256 netPtDesired, uint256 minLpOut)',
      'addLiquiditySingleTokenKeepYt(address receiver, address market, uint256 minLpOut, uint256 minYtOut, TokenInput input)',
      'addLiquiditySingleTokenSimple(address receiver, address market, uint256 minLpOut, TokenInput input)',
      'removeLiquidityDualSyAndPt(address receiver, address market, uint256 netLpToRemove, uint256 minSyOut, uint256 minPtOut)',
      'removeLiquidityDualTokenAndPt(address receiver, address market, uint256 netLpToRemove, TokenOutput output, uint256 minPtOut)',
      'swapExactTokenForPtSimple(address receiver, address market, uint256 minPtOut, TokenInput input)',
      'swapExactTokenForYtSimple(address receiver, address market, uint256 minYtOut, TokenInput input)',
      'exitPostExpToToken(address receiver, address market, uint256 netPtIn, uint256 netLpIn, TokenOutput output)',
    ],
  },
  {
    source: 'Seaport 1.5 and 1.6: Seaport, ConduitController and Conduit',
    structs: [
      'struct OfferItem { uint8 itemType; address token; uint256 identifierOrCriteria; uint256 startAmount; uint256 endAmount; }',
      'struct ConsiderationItem { uint8 itemType; address token; uint256 identifierOrCriteria; uint256 startAmount; uint256 endAmount; address recipient; }',
      'struct OrderParameters { address offerer; address zone; OfferItem[] offer; ConsiderationItem[] consideration; uint8 orderType; uint256 startTime; uint256 endTime; bytes32 zoneHash; uint256 salt; bytes32 conduitKey; uint256 totalOriginalConsiderationItems; }',
      'struct Order { OrderParameters parameters; bytes signature; }',
      'struct AdvancedOrder { OrderParameters parameters; uint120 numerator; uint120 denominator; bytes signature; bytes extraData; }',
      'struct CriteriaResolver { uint256 orderIndex; uint8 side; uint256 index; uint256 identifier; bytes32[] criteriaProof; }',
      'struct AdditionalRecipient { uint256 amount; address recipient; }',
      'struct BasicOrderParameters { address considerationToken; uint256 considerationIdentifier; uint256 considerationAmount; address offerer; address zone; address offerToken; uint256 offerIdentifier; uint256 offerAmount; uint8 basicOrderType; uint256 startTime; uint256 endTime; bytes32 zoneHash; uint256 salt; bytes32 offererConduitKey; bytes32 fulfillerConduitKey; uint256 totalOriginalAdditionalRecipients; AdditionalRecipient[] additionalRecipients; bytes signature; }',
      'struct FulfillmentComponent { uint256 orderIndex; uint256 itemIndex; }',
      'struct Fulfillment { FulfillmentComponent[] offerComponents; FulfillmentComponent[] considerationComponents; }',
      'struct ConduitTransfer { uint8 itemType; address token; address from; address to; uint256 identifier; uint256 amount; }',
    ],
    functions: [
      'validate(Order[] orders)',
      'fulfillBasicOrder(BasicOrderParameters parameters)',
      'fulfillBasicOrder_efficient_6GL6yc(BasicOrderParameters parameters)',
      'fulfillOrder(Order order, bytes32 fulfillerConduitKey)',
      'fulfillAdvancedOrder(AdvancedOrder advancedOrder, CriteriaResolver[] criteriaResolvers, bytes32 fulfillerConduitKey, address recipient)',
      'fulfillAvailableOrders(Order[] orders, FulfillmentComponent[][] offerFulfillments, FulfillmentComponent[][] considerationFulfillments, bytes32 fulfillerConduitKey, uint256 maximumFulfilled)',
      'fulfillAvailableAdvancedOrders(AdvancedOrder[] advancedOrders, CriteriaResolver[] criteriaResolvers, FulfillmentComponent[][] offerFulfillments, FulfillmentComponent[][] considerationFulfillments, bytes32 fulfillerConduitKey, address recipient, uint256 maximumFulfilled)',
      'matchOrders(Order[] orders, Fulfillment[] fulfillments)',
      'matchAdvancedOrders(AdvancedOrder[] orders, CriteriaResolver[] criteriaResolvers, Fulfillment[] fulfillments, address recipient)',
      'createConduit(bytes32 conduitKey, address initialOwner)',
      'updateChannel(address conduit, address channel, bool isOpen)',
      'transferOwnership(address conduit, address newPotentialOwner)',
      'execute(ConduitTransfer[] transfers)',
    ],
  },
];

/** Of bridges. */
const BRIDGES: readonly FunctionGroup[] = [
  {
    source: 'Optimism: StandardBridge, L1StandardBridge, L2StandardBridge and OptimismPortal',
    functions: [
      'depositETHTo(address to, uint32 minGasLimit, bytes extraData)',
      'depositERC20To(address l1Token, address l2Token, address to, uint256 amount, uint32 minGasLimit, bytes extraData)',
      'bridgeETHTo(address to, uint32 minGasLimit, bytes extraData)',
      'bridgeERC20To(address localToken, address remoteToken, address to, uint256 amount, uint32 minGasLimit, bytes extraData)',
      'withdrawTo(address l2Token, address to, uint256 amount, uint32 minGasLimit, bytes extraData)',
      'depositTransaction(address to, uint256 value, uint64 gasLimit, bool isCreation, bytes data)',
      'sendMessage(address target, bytes message, uint32 minGasLimit)',
    ],
  },
  {
    source: 'Arbitrum: Inbox, gateways and ArbSys',
    functions: [
      'createRetryableTicket(address to, uint256 l2CallValue, uint256 maxSubmissionCost, address excessFeeRefundAddress, address callValueRefundAddress, uint256 gasLimit, uint256 maxFeePerGas, bytes data)',
      'unsafeCreateRetryableTicket(address to, uint256 l2CallValue, uint256 maxSubmissionCost, address excessFeeRefundAddress, address callValueRefundAddress, uint256 gasLimit, uint256 maxFeePerGas, bytes data)',
      'outboundTransfer(address token, address to, uint256 amount, uint256 maxGas, uint256 gasPriceBid, bytes data)',
      'outboundTransferCustomRefund(address token, address refundTo, address to, uint256 amount, uint256 maxGas, uint256 gasPriceBid, bytes data)',
      'withdrawEth(address destination)',
      'sendTxToL1(address destination, bytes data)',
    ],
  },
  {
    source: 'Polygon PoS: RootChainManager',
    functions: [
      'depositEtherFor(address user)',
      'depositFor(address user, address rootToken, bytes depositData)',
    ],
  },
  {
    source: 'Polygon zkEVM: PolygonZkEVMBridge',
    functions: [
      'bridgeAsset(uint32 destinationNetwork, address destinationAddress, uint256 amount, address token, bool forceUpdateGlobalExitRoot, bytes permitData)',
    ],
  },
  {
    source: 'ZKsync: Mailbox',
    functions: [
      'requestL2Transaction(address contractL2, uint256 l2Value, bytes callData, uint256 l2GasLimit, uint256 l2GasPerPubdataByteLimit, bytes[] factoryDeps, address refundRecipient)',
    ],
  },
  {
    source: 'Circle CCTP: TokenMessenger and TokenMessengerV2',
    functions: [
      'depositForBurn(uint256 amount, uint32 destinationDomain, bytes32 mintRecipient, address burnToken)',
      'depositForBurn(uint256 amount, uint32 destinationDomain, bytes32 mintRecipient, address burnToken, bytes32 destinationCaller, uint256 maxFee, uint32 minFinalityThreshold)',
      'depositForBurnWithHook(uint256 amount, uint32 destinationDomain, bytes32 mintRecipient, address burnToken, bytes32 destinationCaller, uint256 maxFee, uint32 minFinalityThreshold, bytes hookData)',
    ],
  },
  {
    source: 'LayerZero v2: OFT and OApp',
    structs: [
      'struct SendParam { uint32 dstEid; bytes32 to; uint256 amountLD; uint256 minAmountLD; bytes extraOptions; bytes composeMsg; bytes oftCmd; }',
      'struct MessagingFee { uint256 nativeFee; uint256 lzTokenFee; }',
    ],
    functions: [
      'send(SendParam sendParam, MessagingFee fee, address refundAddress)',
      'setPeer(uint32 eid, bytes32 peer)',
      'setDelegate(address delegate)',
    ],
  },
  {
    source: 'Wormhole: token bridge',
    functions: [
      'transferTokens(address token, uint256 amount, uint16 recipientChain, bytes32 recipient, uint256 arbiterFee, uint32 nonce)',
      'wrapAndTransferETH(uint16 recipientChain, bytes32 recipient, uint256 arbiterFee, uint32 nonce)',
    ],
  },
  {
    source: 'Across v3: SpokePool',
    functions: [
      'depositV3(address depositor, address recipient, address inputToken, address outputToken, uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, address exclusiveRelayer, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityDeadline, bytes message)',
    ],
  },
];

/** That delegate what an account may do. */
const DELEGATIONS: readonly FunctionGroup[] = [
  {
    source: 'ERC-5805; Compound: Comp',
    functions: [
      'delegate(address delegatee)',
      'delegateBySig(address delegatee, uint256 nonce, uint256 expiry, uint8 v, bytes32 r, bytes32 s)',
    ],
  },
  {
    source: 'Aave: AaveTokenV2 and V3',
    functions: ['delegateByType(address delegatee, uint8 delegationType)'],
  },
  {
    source: 'Snapshot: DelegateRegistry',
    functions: ['setDelegate(bytes32 id, address delegate)'],
  },
  {
    source: 'delegate.xyz v1: DelegationRegistry',
    functions: [
      'delegateForAll(address delegate, bool value)',
      'delegateForContract(address delegate, address contract_, bool value)',
      'delegateForToken(address delegate, address contract_, uint256 tokenId, bool value)',
    ],
  },
  {
    source: 'delegate.xyz v2: DelegateRegistry',
    functions: [
      'delegateAll(address to, bytes32 rights, bool enable)',
      'delegateContract(address to, address contract_, bytes32 rights, bool enable)',
      'delegateERC721(address to, address contract_, uint256 tokenId, bytes32 rights, bool enable)',
      'delegateERC20(address to, address contract_, bytes32 rights, uint256 amount)',
      'delegateERC1155(address to, address contract_, uint256 tokenId, bytes32 rights, uint256 amount)',
    ],
  },
  {
    source: 'EigenLayer: DelegationManager, StrategyManager, RewardsCoordinator and PermissionController',
    structs: ['struct SignatureWithExpiry { bytes signature; uint256 expiry; }'],
    functions: [
      'delegateTo(address operator, SignatureWithExpiry approverSignatureAndExpiry, bytes32 approverSalt)',
      'depositIntoStrategyWithSignature(address strategy, address token, uint256 amount, address staker, uint256 expiry, bytes signature)',
      'setClaimerFor(address claimer)',
      'addPendingAdmin(address account, address admin)',
      'setAppointee(address account, address appointee, address target, bytes4 selector)',
    ],
  },
  {
    source: 'Synthetix: DelegateApprovals',
    functions: [
      'approveAllDelegatePowers(address delegate)',
      'approveBurnOnBehalf(address delegate)',
      'approveIssueOnBehalf(address delegate)',
      'approveClaimOnBehalf(address delegate)',
      'approveExchangeOnBehalf(address delegate)',
    ],
  },
  {
    source: 'Rocket Pool: RocketNodeManager',
    functions: ['setWithdrawalAddress(address nodeAddress, address newWithdrawalAddress, bool confirm)'],
  },
  {
    source: 'ENS: ENSRegistry',
    functions: [
      'setOwner(bytes32 node, address owner)',
      'setSubnodeOwner(bytes32 node, bytes32 label, address owner)',
      'setRecord(bytes32 node, address owner, address resolver, uint64 ttl)',
      'setSubnodeRecord(bytes32 node, bytes32 label, address owner, address resolver, uint64 ttl)',
      'setResolver(bytes32 node, address resolver)',
    ],
  },
  {
    source: 'ENS: HashRegistrar and BaseRegistrar',
    functions: ['transfer(bytes32 hash, address newOwner)', 'reclaim(uint256 id, address owner)'],
  },
  {
    source: 'ENS: NameWrapper',
    functions: [
      'wrap(bytes name, address wrappedOwner, address resolver)',
      'wrapETH2LD(string label, address wrappedOwner, uint16 ownerControlledFuses, address resolver)',
      'unwrap(bytes32 node, bytes32 label, address owner)',
      'unwrapETH2LD(bytes32 label, address newRegistrant, address newController)',
      'setSubnodeOwner(bytes32 node, string label, address newOwner, uint32 fuses, uint64 expiry)',
      'setSubnodeRecord(bytes32 node, string label, address owner, address resolver, uint64 ttl, uint32 fuses, uint64 expiry)',
    ],
  },
  {
    source: 'ERC-1820',
    functions: [
      'setManager(address account, address newManager)',
      'setInterfaceImplementer(address account, bytes32 interfaceHash, address implementer)',
    ],
  },
];

/** That change who owns or administers a contract, and its code. */
const ADMINISTRATION: readonly FunctionGroup[] = [
  {
    source: 'ERC-173',
    functions: ['transferOwnership(address newOwner)'],
  },
  {
    source: 'OpenZeppelin Contracts 3 to 5: AccessControl and AccessControlDefaultAdminRules',
    functions: ['grantRole(bytes32 role, address account)', 'beginDefaultAdminTransfer(address newAdmin)'],
  },
  {
    source: 'OpenZeppelin Contracts 5: AccessManager and AccessManaged',
    functions: [
      'grantRole(uint64 roleId, address account, uint32 executionDelay)',
      'setTargetFunctionRole(address target, bytes4[] selectors, uint64 roleId)',
      'updateAuthority(address target, address newAuthority)',
      'setAuthority(address newAuthority)',
    ],
  },
  {
    source: 'OpenZeppelin Contracts 2: roles and Secondary',
    functions: [
      'addMinter(address account)',
      'addPauser(address account)',
      'addCapper(address account)',
      'addSigner(address account)',
      'addWhitelistAdmin(address account)',
      'transferPrimary(address recipient)',
    ],
  },
  {
    source: 'OpenZeppelin 1: Superuser, Heritable, SignatureBouncer and Destructible',
    functions: [
      'transferSuperuser(address newSuperuser)',
      'setHeir(address newHeir)',
      'addBouncer(address bouncer)',
      'destroyAndSend(address recipient)',
    ],
  },
  {
    source: 'Solady: Ownable, OwnableRoles, EnumerableRoles and TimedRoles',
    functions: [
      'completeOwnershipHandover(address pendingOwner)',
      'grantRoles(address user, uint256 roles)',
      'setRole(address holder, uint256 role, bool active)',
      'setTimedRole(address holder, uint256 timedRole, uint40 start, uint40 expires)',
    ],
  },
  {
    source: 'Solady: Lifebuoy; USDC: Rescuable',
    functions: [
      'rescueETH(address to, uint256 amount)',
      'rescueERC20(address token, address to, uint256 amount)',
      'rescueERC721(address token, address to, uint256 id)',
      'rescueERC1155(address token, address to, uint256 id, uint256 amount, bytes data)',
      'rescueERC6909(address token, address to, uint256 id, uint256 amount)',
    ],
  },
  {
    source: 'DappHub: DSAuth and DSRoles; Solmate: Owned and RolesAuthority',
    functions: [
      'setOwner(address newOwner)',
      'setRootUser(address who, bool enabled)',
      'setUserRole(address user, uint8 role, bool enabled)',
      'setPublicCapability(address target, bytes4 functionSig, bool enabled)',
      'setRoleCapability(uint8 role, address target, bytes4 functionSig, bool enabled)',
    ],
  },
  {
    source: 'Solmate: MultiRolesAuthority',
    functions: [
      'setRoleCapability(uint8 role, bytes4 functionSig, bool enabled)',
      'setTargetCustomAuthority(address target, address customAuthority)',
    ],
  },
  {
    source: 'Maker: Vat and other contracts with wards',
    functions: ['rely(address usr)'],
  },
  {
    source: 'Compound: Timelock',
    functions: ['setPendingAdmin(address pendingAdmin)'],
  },
  {
    source: 'OpenZeppelin Contracts 4 and 5: GovernorTimelockControl and GovernorProposalGuardian',
    functions: ['updateTimelock(address newTimelock)', 'setProposalGuardian(address newProposalGuardian)'],
  },
  {
    source: 'Aave v3: ACLManager and PoolAddressesProvider',
    functions: [
      'addPoolAdmin(address admin)',
      'addEmergencyAdmin(address admin)',
      'addRiskAdmin(address admin)',
      'addAssetListingAdmin(address admin)',
      'addFlashBorrower(address borrower)',
      'addBridge(address bridge)',
      'setACLAdmin(address newAclAdmin)',
      'setACLManager(address newAclManager)',
      'setAddress(bytes32 id, address newAddress)',
      'setAddressAsProxy(bytes32 id, address newImplementationAddress)',
      'setPoolImpl(address newPoolImpl)',
      'setPoolConfiguratorImpl(address newPoolConfiguratorImpl)',
    ],
  },
  {
    source: 'Taiko: DelegateOwner',
    functions: ['setAdmin(address admin)'],
  },
  {
    source: 'Giveth: Owned',
    functions: ['changeOwner(address newOwner)'],
  },
  {
    source: 'Aave v2: LendingPoolAddressesProvider',
    functions: [
      'setPoolAdmin(address admin)',
      'setEmergencyAdmin(address admin)',
      'setLendingPoolImpl(address pool)',
      'setLendingPoolConfiguratorImpl(address configurator)',
    ],
  },
  {
    source: 'Pendle v2: BoringOwnable',
    functions: ['transferOwnership(address newOwner, bool direct, bool renounce)'],
  },
  {
    source: 'Curve: pools, gauges and VotingEscrow',
    functions: ['commit_transfer_ownership(address addr)'],
  },
  {
    source: 'Multichain: AnyswapV6ERC20; Emojisan: token',
    functions: ['setMinter(address newMinter)'],
  },
  {
    source: 'OpenZeppelin Contracts 4 and 5: ERC-1967 proxies, UUPS and beacons',
    functions: [
      'upgradeTo(address newImplementation)',
      'upgradeToAndCall(address newImplementation, bytes data)',
      'changeAdmin(address newAdmin)',
    ],
  },
  {
    source: 'OpenZeppelin Contracts 4 and 5: ProxyAdmin; Solady: ERC1967Factory',
    functions: [
      'upgrade(address proxy, address implementation)',
      'upgradeAndCall(address proxy, address implementation, bytes data)',
      'changeProxyAdmin(address proxy, address newAdmin)',
      'changeAdmin(address proxy, address admin)',
    ],
  },
  {
    source: 'ERC-2535',
    structs: ['struct FacetCut { address facetAddress; uint8 action; bytes4[] functionSelectors; }'],
    functions: ['diamondCut(FacetCut[] diamondCut, address init, bytes callData)'],
  },
  {
    source: 'Safe 1.3 and 1.4: Safe and its managers',
    functions: [
      'setup(address[] owners, uint256 threshold, address to, bytes data, address fallbackHandler, address paymentToken, uint256 payment, address paymentReceiver)',
      'addOwnerWithThreshold(address owner, uint256 threshold)',
      'removeOwner(address prevOwner, address owner, uint256 threshold)',
      'swapOwner(address prevOwner, address oldOwner, address newOwner)',
      'changeThreshold(uint256 threshold)',
      'enableModule(address module)',
      'setGuard(address guard)',
      'setFallbackHandler(address handler)',
      'approveHash(bytes32 hashToApprove)',
      'signMessage(bytes data)',
    ],
  },
  {
    source: 'Safe 1.5: ModuleManager',
    functions: ['setModuleGuard(address moduleGuard)'],
  },
  {
    source: 'Safe 1.0 to 1.2: MasterCopy',
    functions: ['changeMasterCopy(address masterCopy)'],
  },
  {
    source: 'Gnosis: MultiSigWallet',
    functions: [
      'addOwner(address owner)',
      'replaceOwner(address owner, address newOwner)',
      'changeRequirement(uint256 required)',
    ],
  },
  {
    source: 'ERC-7579',
    functions: ['installModule(uint256 moduleTypeId, address module, bytes initData)'],
  },
  {
    source: 'ERC-4337: EntryPoint; Solady: ERC4337',
    functions: ['withdrawStake(address withdrawAddress)', 'withdrawDepositTo(address to, uint256 amount)'],
  },
];

/** That carry calls of other functions; `nestingFunctions.ts` reads some of them. */
const MAKING_CALLS: readonly FunctionGroup[] = [
  {
    source: 'OpenZeppelin Contracts 4 and 5: Multicall; Uniswap v3: Multicall',
    functions: ['multicall(bytes[] data)'],
  },
  {
    source: 'Uniswap: SwapRouter02',
    functions: [
      'multicall(uint256 deadline, bytes[] data)',
      'multicall(bytes32 previousBlockhash, bytes[] data)',
      'callPositionManager(bytes data)',
    ],
  },
  {
    source: 'Multicall, Multicall2 and Multicall3',
    structs: [
      'struct Call { address target; bytes callData; }',
      'struct Call3 { address target; bool allowFailure; bytes callData; }',
      'struct Call3Value { address target; bool allowFailure; uint256 value; bytes callData; }',
    ],
    functions: [
      'aggregate(Call[] calls)',
      'blockAndAggregate(Call[] calls)',
      'tryAggregate(bool requireSuccess, Call[] calls)',
      'tryBlockAndAggregate(bool requireSuccess, Call[] calls)',
      'aggregate3(Call3[] calls)',
      'aggregate3Value(Call3Value[] calls)',
    ],
  },
  {
    source: 'Uniswap: UniversalRouter; Uniswap v4: PoolManager and PositionManager',
    functions: [
      'execute(bytes commands, bytes[] inputs)',
      'execute(bytes commands, bytes[] inputs, uint256 deadline)',
      'executeSigned(bytes commands, bytes[] inputs, bytes32 intent, bytes32 data, bool verifySender, bytes32 nonce, bytes signature, uint256 deadline)',
      'unlock(bytes data)',
      'modifyLiquidities(bytes unlockData, uint256 deadline)',
      'modifyLiquiditiesWithoutUnlock(bytes actions, bytes[] params)',
    ],
  },
  {
    source: 'SushiSwap: BoringBatchable; Yield: Ladle',
    functions: ['batch(bytes[] calls, bool revertOnFail)', 'batch(bytes[] calls)'],
  },
  {
    source: 'Euler: Ethereum Vault Connector',
    structs: [
      'struct BatchItem { address targetContract; address onBehalfOfAccount; uint256 value; bytes data; }',
    ],
    functions: [
      'call(address targetContract, address onBehalfOfAccount, uint256 value, bytes data)',
      'batch(BatchItem[] items)',
    ],
  },
  {
    source: 'Morpho: Bundler3',
    structs: [
      'struct Call { address to; bytes data; uint256 value; bool skipRevert; bytes32 callbackHash; }',
    ],
    functions: ['multicall(Call[] bundle)'],
  },
  {
    source: 'Polygon: NativeMetaTransaction',
    functions: [
      'executeMetaTransaction(address userAddress, bytes functionSignature, bytes32 sigR, bytes32 sigS, uint8 sigV)',
    ],
  },
  {
    source: 'Zodiac: Roles and Delay',
    functions: [
      'execTransactionWithRole(address to, uint256 value, bytes data, uint8 operation, bytes32 roleKey, bool shouldRevert)',
      'execTransactionWithRoleReturnData(address to, uint256 value, bytes data, uint8 operation, bytes32 roleKey, bool shouldRevert)',
      'executeNextTx(address to, uint256 value, bytes data, uint8 operation)',
    ],
  },
  {
    source: 'DappHub: DSProxy; Instadapp: accounts',
    functions: [
      'execute(bytes code, bytes data)',
      'cast(string[] targetNames, bytes[] datas, address origin)',
    ],
  },
  {
    source: 'Compound v3: Bulker',
    functions: ['invoke(bytes32[] actions, bytes[] data)'],
  },
  {
    source: 'Pendle v2: Router',
    structs: ['struct RouterCall { bool allowFailure; bytes callData; }'],
    functions: [
      'multicall(RouterCall[] calls)',
      'callAndReflect(address reflector, bytes selfCall1, bytes selfCall2, bytes reflectCall)',
    ],
  },
  {
    source: 'Safe 1.3 and 1.4: Safe, ModuleManager, MultiSend and CreateCall',
    functions: [
      'execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures)',
      'execTransactionFromModule(address to, uint256 value, bytes data, uint8 operation)',
      'execTransactionFromModuleReturnData(address to, uint256 value, bytes data, uint8 operation)',
      'multiSend(bytes transactions)',
    ],
  },
  {
    source: 'Gnosis: MultiSigWallet',
    functions: ['submitTransaction(address destination, uint256 value, bytes data)'],
  },
  {
    source: 'OpenZeppelin Contracts 4 and 5: TimelockController and Governor',
    functions: [
      'schedule(address target, uint256 value, bytes data, bytes32 predecessor, bytes32 salt, uint256 delay)',
      'scheduleBatch(address[] targets, uint256[] values, bytes[] payloads, bytes32 predecessor, bytes32 salt, uint256 delay)',
      'execute(address target, uint256 value, bytes payload, bytes32 predecessor, bytes32 salt)',
      'executeBatch(address[] targets, uint256[] values, bytes[] payloads, bytes32 predecessor, bytes32 salt)',
      'propose(address[] targets, uint256[] values, bytes[] calldatas, string description)',
      'queue(address[] targets, uint256[] values, bytes[] calldatas, bytes32 descriptionHash)',
      'execute(address[] targets, uint256[] values, bytes[] calldatas, bytes32 descriptionHash)',
      'relay(address target, uint256 value, bytes data)',
    ],
  },
  {
    source: 'OpenZeppelin Contracts 5: AccessManager',
    functions: [
      'schedule(address target, bytes data, uint48 when)',
      // DappHub: DSProxy as well
      'execute(address target, bytes data)',
    ],
  },
  {
    source: 'OpenZeppelin Contracts 4 and 5: forwarders of ERC-2771',
    structs: [
      'struct ForwardRequest { address from; address to; uint256 value; uint256 gas; uint256 nonce; bytes data; }',
      'struct ForwardRequestData { address from; address to; uint256 value; uint256 gas; uint48 deadline; bytes data; bytes signature; }',
    ],
    functions: [
      'execute(ForwardRequest request, bytes signature)',
      'execute(ForwardRequestData request)',
      'executeBatch(ForwardRequestData[] requests, address refundReceiver)',
    ],
  },
  {
    source: 'Compound: Timelock, GovernorAlpha and GovernorBravo',
    functions: [
      'propose(address[] targets, uint256[] values, string[] signatures, bytes[] calldatas, string description)',
      'queueTransaction(address target, uint256 value, string signature, bytes data, uint256 eta)',
      'executeTransaction(address target, uint256 value, string signature, bytes data, uint256 eta)',
    ],
  },
  {
    source: 'Maker: DSPause and DSPauseProxy',
    functions: [
      'plot(address usr, bytes32 tag, bytes fax, uint256 eta)',
      'exec(address usr, bytes32 tag, bytes fax, uint256 eta)',
      'exec(address usr, bytes fax)',
    ],
  },
  {
    source: 'ERC-4337: EntryPoint, BaseAccount and SimpleAccount',
    structs: [
      'struct UserOperation { address sender; uint256 nonce; bytes initCode; bytes callData; uint256 callGasLimit; uint256 verificationGasLimit; uint256 preVerificationGas; uint256 maxFeePerGas; uint256 maxPriorityFeePerGas; bytes paymasterAndData; bytes signature; }',
      'struct UserOpsPerAggregator { UserOperation[] userOps; address aggregator; bytes signature; }',
      'struct PackedUserOpsPerAggregator { PackedUserOperation[] userOps; address aggregator; bytes signature; }',
      'struct PackedUserOperation { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature; }',
      'struct Call { address target; uint256 value; bytes data; }',
    ],
    functions: [
      'handleOps(UserOperation[] ops, address beneficiary)',
      'handleOps(PackedUserOperation[] ops, address beneficiary)',
      'handleAggregatedOps(UserOpsPerAggregator[] opsPerAggregator, address beneficiary)',
      'handleAggregatedOps(PackedUserOpsPerAggregator[] opsPerAggregator, address beneficiary)',
      'execute(address target, uint256 value, bytes data)',
      'executeBatch(Call[] calls)',
      'executeBatch(address[] dest, bytes[] func)',
      'executeBatch(address[] dest, uint256[] value, bytes[] func)',
    ],
  },
  {
    source: 'ERC-6551; Solady: ERC6551 and ERC4337',
    structs: ['struct Call { address target; uint256 value; bytes data; }'],
    functions: [
      'execute(address to, uint256 value, bytes data, uint8 operation)',
      'executeBatch(Call[] calls, uint8 operation)',
      'delegateExecute(address delegate, bytes data)',
    ],
  },
  {
    source: 'ERC-7579 and ERC-7821',
    functions: [
      'execute(bytes32 mode, bytes executionData)',
      'executeFromExecutor(bytes32 mode, bytes executionData)',
    ],
  },
  {
    source: 'LUKSO: LSP0 (ERC-725X), LSP6 and LSP7',
    functions: [
      'execute(uint256 operationType, address target, uint256 value, bytes data)',
      'executeBatch(uint256[] operationsType, address[] targets, uint256[] values, bytes[] datas)',
      'execute(bytes payload)',
      'executeBatch(uint256[] values, bytes[] payloads)',
      'batchCalls(bytes[] data)',
    ],
  },
];

/** Functions that "any function" of a policy never covers: a policy has to name them. */
export const RESTRICTED_FUNCTIONS: readonly FunctionGroup[] = [
  ...FUNGIBLE,
  ...WITH_IDS,
  ...ALLOWANCE_HOLDERS,
  ...VAULTS,
  ...EXCHANGES,
  ...BRIDGES,
  ...DELEGATIONS,
  ...ADMINISTRATION,
  ...MAKING_CALLS,
];
