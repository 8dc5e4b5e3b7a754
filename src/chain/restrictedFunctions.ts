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
 *   can be the account itself: `withdraw(uint256,address,address)` does, `withdraw(uint256)` does not; or to the owner of
 *   a position whose id is among them;
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
  {
    source: 'Superfluid: SuperToken and SETH',
    functions: [
      'transferAll(address recipient)',
      'upgradeTo(address to, uint256 amount, bytes userData)',
      'downgradeTo(address to, uint256 amount)',
      'upgradeByETHTo(address to)',
    ],
  },
  {
    source: 'Superfluid: CFAv1Forwarder and GDAv1Forwarder',
    functions: [
      'setFlowrate(address token, address receiver, int96 flowrate)',
      'setFlowrateFrom(address token, address sender, address receiver, int96 flowrate)',
      'createFlow(address token, address sender, address receiver, int96 flowrate, bytes userData)',
      'updateFlow(address token, address sender, address receiver, int96 flowrate, bytes userData)',
      'grantPermissions(address token, address flowOperator)',
      'distribute(address token, address from, address pool, uint256 requestedAmount, bytes userData)',
      'distributeFlow(address token, address from, address pool, int96 requestedFlowRate, bytes userData)',
    ],
  },
  {
    source: 'Superfluid: ConstantFlowAgreementV1',
    functions: [
      'createFlow(address token, address receiver, int96 flowRate, bytes ctx)',
      'updateFlow(address token, address receiver, int96 flowRate, bytes ctx)',
      'createFlowByOperator(address token, address sender, address receiver, int96 flowRate, bytes ctx)',
      'updateFlowByOperator(address token, address sender, address receiver, int96 flowRate, bytes ctx)',
      'authorizeFlowOperatorWithFullControl(address token, address flowOperator, bytes ctx)',
      'updateFlowOperatorPermissions(address token, address flowOperator, uint8 permissions, int96 flowRateAllowance, bytes ctx)',
    ],
  },
  {
    source: 'LUKSO LSP7 and LSP8: revokable',
    functions: [
      'revoke(address from, address to, uint256 amount, bytes data)',
      'revoke(address from, address to, bytes32 tokenId, bytes data)',
    ],
  },
  {
    source: 'thirdweb: Airdrop and token drops',
    structs: [
      'struct AirdropContentERC20 { address recipient; uint256 amount; }',
      'struct AirdropContentERC721 { address recipient; uint256 tokenId; }',
      'struct AirdropContentERC1155 { address recipient; uint256 tokenId; uint256 amount; }',
      'struct AllowlistProof { bytes32[] proof; uint256 quantityLimitPerWallet; uint256 pricePerToken; address currency; }',
    ],
    functions: [
      'airdropERC20(address tokenAddress, AirdropContentERC20[] contents)',
      'airdropERC721(address tokenAddress, AirdropContentERC721[] contents)',
      'airdropERC1155(address tokenAddress, AirdropContentERC1155[] contents)',
      'airdropNativeToken(AirdropContentERC20[] contents)',
      'airdropERC20(address tokenAddress, address tokenOwner, AirdropContentERC20[] contents)',
      'airdropERC1155(address tokenAddress, address tokenOwner, AirdropContentERC1155[] contents)',
      'mintTo(address to, uint256 amount)',
      'mintTo(address to, string uri)',
      'mintTo(address to, uint256 tokenId, string uri, uint256 amount)',
      'claim(address receiver, uint256 quantity, address currency, uint256 pricePerToken, AllowlistProof allowlistProof, bytes data)',
      'claim(address receiver, uint256 tokenId, uint256 quantity, address currency, uint256 pricePerToken, AllowlistProof allowlistProof, bytes data)',
      'setPrimarySaleRecipient(address saleRecipient)',
    ],
  },
  {
    source: 'Disperse: simple transfers',
    functions: ['disperseTokenSimple(address token, address[] recipients, uint256[] values)'],
  },
  {
    source: 'Manifold: creator contracts',
    functions: [
      'approveAdmin(address admin)',
      'mintBase(address to)',
      'mintBase(address to, string uri)',
      'mintBaseBatch(address to, uint16 count)',
      'mintBaseBatch(address to, string[] uris)',
      'mintBaseNew(address[] to, uint256[] amounts, string[] uris)',
      'mintBaseExisting(address[] to, uint256[] tokenIds, uint256[] amounts)',
    ],
  },
  {
    source: 'xERC20: XERC20 and XERC20Lockbox',
    functions: [
      'setLimits(address bridge, uint256 mintingLimit, uint256 burningLimit)',
      'depositTo(address user, uint256 amount)',
      'depositNativeTo(address user)',
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
  {
    source: 'Aave v3: WrappedTokenGatewayV3',
    functions: [
      'depositETH(address pool, address onBehalfOf, uint16 referralCode)',
      'withdrawETH(address pool, uint256 amount, address to)',
      'withdrawETHWithPermit(address pool, uint256 amount, address to, uint256 deadline, uint8 permitV, bytes32 permitR, bytes32 permitS)',
      'repayETH(address pool, uint256 amount, uint256 rateMode, address onBehalfOf)',
      'repayETH(address pool, uint256 amount, address onBehalfOf)',
      'emergencyTokenTransfer(address token, address to, uint256 amount)',
      'emergencyEtherTransfer(address to, uint256 amount)',
    ],
  },
  {
    source: 'Aave v3: Pool',
    functions: [
      'flashLoanSimple(address receiverAddress, address asset, uint256 amount, bytes params, uint16 referralCode)',
      'approvePositionManager(address positionManager, bool approve)',
    ],
  },
  {
    source: 'Aave v2 and v3: rewards, StakedToken and delegation of votes',
    functions: [
      'claimRewards(address[] assets, uint256 amount, address to)',
      'claimRewards(address[] assets, uint256 amount, address to, address reward)',
      'claimRewardsOnBehalf(address[] assets, uint256 amount, address user, address to)',
      'claimRewardsOnBehalf(address[] assets, uint256 amount, address user, address to, address reward)',
      'claimAllRewards(address[] assets, address to)',
      'claimAllRewardsOnBehalf(address[] assets, address user, address to)',
      'setClaimer(address user, address caller)',
      'stake(address to, uint256 amount)',
      'redeem(address to, uint256 amount)',
      'claimRewards(address to, uint256 amount)',
      'claimRewardsAndRedeem(address to, uint256 claimAmount, uint256 redeemAmount)',
      'claimRewardsAndStake(address to, uint256 amount)',
      'delegateUnderlyingTo(address delegatee)',
    ],
  },
  {
    source: 'Aave: Collector and its controller; Aragon: Vault and Finance',
    functions: [
      'approve(address token, address recipient, uint256 amount)',
      'transfer(address token, address recipient, uint256 amount)',
      'createStream(address recipient, uint256 deposit, address tokenAddress, uint256 startTime, uint256 stopTime)',
      'approve(address collector, address token, address recipient, uint256 amount)',
      'transfer(address collector, address token, address recipient, uint256 amount)',
      'createStream(address collector, address recipient, uint256 deposit, address tokenAddress, uint256 startTime, uint256 stopTime)',
      'setFundsAdmin(address admin)',
      'newImmediatePayment(address token, address receiver, uint256 amount, string note)',
    ],
  },
  {
    source: 'Euler: EVault',
    functions: [
      'borrow(uint256 amount, address receiver)',
      'repay(uint256 amount, address receiver)',
      'repayWithShares(uint256 amount, address receiver)',
      'pullDebt(uint256 amount, address from)',
      'transferFromMax(address from, address to)',
      'skim(uint256 amount, address receiver)',
    ],
  },
  {
    source: 'Silo v2: Silo',
    functions: [
      'deposit(uint256 assets, address receiver, uint8 collateralType)',
      'withdraw(uint256 assets, address receiver, address owner, uint8 collateralType)',
      'redeem(uint256 shares, address receiver, address owner, uint8 collateralType)',
      'borrow(uint256 assets, address receiver, address borrower)',
      'borrowShares(uint256 shares, address receiver, address borrower)',
      'borrowSameAsset(uint256 assets, address receiver, address borrower)',
    ],
  },
  {
    source: 'Spark: vaults; Sky: LitePSM and converters',
    functions: [
      'deposit(uint256 assets, address receiver, uint16 referral)',
      'mint(uint256 shares, address receiver, uint16 referral)',
      'sellGem(address usr, uint256 gemAmt)',
      'buyGem(address usr, uint256 gemAmt)',
      'daiToUsds(address usr, uint256 wad)',
      'usdsToDai(address usr, uint256 wad)',
      'mkrToSky(address usr, uint256 mkrAmt)',
    ],
  },
  {
    source: 'Sky: LockstakeEngine',
    functions: [
      'hope(address owner, uint256 index, address usr)',
      'free(address owner, uint256 index, address to, uint256 wad)',
      'draw(address owner, uint256 index, address to, uint256 wad)',
      'lock(address owner, uint256 index, uint256 wad, uint16 ref)',
      'getReward(address owner, uint256 index, address farm, address to)',
    ],
  },
  {
    source: 'Maker: DssCdpManager, between positions',
    functions: ['shift(uint256 cdpSrc, uint256 cdpDst)', 'enter(address src, uint256 cdp)'],
  },
  {
    source: 'Fraxlend: FraxlendPair; frxETHMinter',
    functions: [
      'addCollateral(uint256 collateralAmount, address borrower)',
      'removeCollateral(uint256 collateralAmount, address receiver)',
      'repayAsset(uint256 shares, address borrower)',
      'submitAndDeposit(address recipient)',
      'submitAndGive(address recipient)',
    ],
  },
  {
    source: 'Ethena: StakedUSDe; EtherFi: LiquidityPool',
    functions: [
      'cooldownAssets(uint256 assets, address owner)',
      'cooldownShares(uint256 shares, address owner)',
      'unstake(address receiver)',
      'requestWithdraw(address recipient, uint256 amount)',
    ],
  },
  {
    source: 'Convex: reward pools, CvxLocker and CrvDepositor',
    functions: [
      'stakeFor(address account, uint256 amount)',
      'lock(address account, uint256 amount, uint256 spendRatio)',
      'deposit(uint256 amount, bool lock, address stakeAddress)',
      'setRewardRedirection(address to)',
    ],
  },
  {
    source: 'Curve and Balancer: gauges, Minter, VotingEscrow and its boosts',
    functions: [
      'deposit(uint256 value, address addr, bool claimRewards)',
      'claim_rewards(address addr, address receiver)',
      'set_rewards_receiver(address receiver)',
      'toggle_approve_mint(address minter)',
      'setMinterApproval(address minter, bool approval)',
      'setMinterApprovalWithSignature(address minter, bool approval, address user, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
      'deposit_for(address addr, uint256 value)',
      'boost(address to, uint256 amount, uint256 endtime)',
      'boost(address to, uint256 amount, uint256 endtime, address from)',
      'create_boost(address delegator, address receiver, int256 percentage, uint256 cancelTime, uint256 expireTime, uint256 id)',
    ],
  },
  {
    source: 'Compound v2: Comptroller; Venus: VToken',
    functions: [
      '_grantComp(address recipient, uint256 amount)',
      'mintBehalf(address receiver, uint256 mintAmount)',
    ],
  },
  {
    source: 'Liquity v2: BorrowerOperations',
    functions: [
      'setAddManager(uint256 troveId, address manager)',
      'setRemoveManagerWithReceiver(uint256 troveId, address manager, address receiver)',
      'setInterestIndividualDelegate(uint256 troveId, address delegate, uint128 minInterestRate, uint128 maxInterestRate, uint256 newAnnualInterestRate, uint256 batchFee, uint256 maxUpfrontFee, uint256 minInterestRateChangePeriod)',
    ],
  },
  {
    source: 'OpenGSN: RelayHub',
    functions: ['depositFor(address target)'],
  },
  {
    source: 'Optimism: DelayedWETH and AssetReceiver; Chainlink: Operator; Axelar: governance',
    functions: [
      'withdraw(address recipient, uint256 amount)',
      'withdrawETH(address to)',
      'withdrawETH(address to, uint256 amount)',
      'withdrawERC20(address asset, address to)',
      'withdrawERC20(address asset, address to, uint256 amount)',
      'withdrawERC721(address asset, address to, uint256 id)',
    ],
  },
  {
    source: 'Aave v3: StataTokenV2; Compound v3: CometRewards; Morpho: Aave v3 optimizer',
    functions: [
      'claimRewards(address receiver, address[] rewards)',
      'claimRewardsOnBehalf(address onBehalfOf, address receiver, address[] rewards)',
      'depositATokens(uint256 assets, address receiver)',
      'redeemATokens(uint256 shares, address receiver, address owner)',
      'claimTo(address comet, address src, address to, bool shouldAccrue)',
      'approveManager(address manager, bool isAllowed)',
      'borrow(address underlying, uint256 amount, address onBehalf, address receiver, uint256 maxIterations)',
      'withdraw(address underlying, uint256 amount, address onBehalf, address receiver, uint256 maxIterations)',
    ],
  },
  {
    source: 'Sablier: Lockup',
    structs: [
      'struct CreateWithDurations { address sender; address recipient; uint128 depositAmount; address token; bool cancelable; bool transferable; string shape; }',
      'struct Timestamps { uint40 start; uint40 end; }',
      'struct CreateWithTimestamps { address sender; address recipient; uint128 depositAmount; address token; bool cancelable; bool transferable; Timestamps timestamps; string shape; }',
      'struct UnlockAmounts { uint128 start; uint128 cliff; }',
      'struct Durations { uint40 cliff; uint40 total; }',
      'struct Segment { uint128 amount; uint64 exponent; uint40 time; }',
      'struct Tranche { uint128 amount; uint40 time; }',
    ],
    functions: [
      'withdraw(uint256 streamId, address to, uint128 amount)',
      'withdrawMax(uint256 streamId, address to)',
      'withdrawMaxAndTransfer(uint256 streamId, address newRecipient)',
      'recover(address token, address to)',
      'createWithDurationsLL(CreateWithDurations params, UnlockAmounts unlockAmounts, Durations durations)',
      'createWithDurationsLD(CreateWithDurations params, Segment[] segmentsWithDuration)',
      'createWithDurationsLT(CreateWithDurations params, Tranche[] tranchesWithDuration)',
      'createWithTimestampsLL(CreateWithTimestamps params, UnlockAmounts unlockAmounts, uint40 cliffTime)',
      'createWithTimestampsLD(CreateWithTimestamps params, Segment[] segments)',
      'createWithTimestampsLT(CreateWithTimestamps params, Tranche[] tranches)',
    ],
  },
  {
    source: 'Gearbox v3: CreditFacadeV3, PoolV3 and GearStakingV3',
    structs: [
      'struct MultiCall { address target; bytes callData; }',
      'struct MultiVote { address votingContract; uint96 voteAmount; bool isIncrease; bytes extraData; }',
    ],
    functions: [
      'openCreditAccount(address onBehalfOf, MultiCall[] calls, uint256 referralCode)',
      'closeCreditAccount(address creditAccount, MultiCall[] calls)',
      'multicall(address creditAccount, MultiCall[] calls)',
      'botMulticall(address creditAccount, MultiCall[] calls)',
      'withdrawCollateral(address token, uint256 amount, address to)',
      'setBotPermissions(address bot, uint192 permissions)',
      'depositWithReferral(uint256 assets, address receiver, uint256 referralCode)',
      'mintWithReferral(uint256 shares, address receiver, uint256 referralCode)',
      'withdraw(uint96 amount, address to, MultiVote[] votes)',
      'claimWithdrawals(address to)',
    ],
  },
  {
    source: 'dYdX: SoloMargin; Curve: crvUSD controllers',
    structs: ['struct OperatorArg { address operator; bool trusted; }'],
    functions: ['setOperators(OperatorArg[] args)', 'add_collateral(uint256 collateral, address account)'],
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
  {
    source: 'Uniswap v3: NonfungiblePositionManager and SwapRouter02, positions of any owner',
    structs: [
      'struct IncreaseLiquidityParams { uint256 tokenId; uint256 amount0Desired; uint256 amount1Desired; uint256 amount0Min; uint256 amount1Min; uint256 deadline; }',
      'struct IncreaseRouterParams { address token0; address token1; uint256 tokenId; uint256 amount0Min; uint256 amount1Min; }',
    ],
    functions: [
      'increaseLiquidity(IncreaseLiquidityParams params)',
      'increaseLiquidity(IncreaseRouterParams params)',
    ],
  },
  {
    source: 'Uniswap v2 and v3: factories',
    functions: ['setFeeTo(address feeTo)', 'setFeeToSetter(address feeToSetter)'],
  },
  {
    source: 'Uniswap v3: Pool, flash',
    functions: ['flash(address recipient, uint256 amount0, uint256 amount1, bytes data)'],
  },
  {
    source: 'Aerodrome: Slipstream; Algebra: SwapRouter',
    structs: [
      'struct SlipstreamInputSingle { address tokenIn; address tokenOut; int24 tickSpacing; address recipient; uint256 deadline; uint256 amountIn; uint256 amountOutMinimum; uint160 sqrtPriceLimitX96; }',
      'struct SlipstreamMint { address token0; address token1; int24 tickSpacing; int24 tickLower; int24 tickUpper; uint256 amount0Desired; uint256 amount1Desired; uint256 amount0Min; uint256 amount1Min; address recipient; uint256 deadline; uint160 sqrtPriceX96; }',
      'struct AlgebraInputSingle { address tokenIn; address tokenOut; address recipient; uint256 deadline; uint256 amountIn; uint256 amountOutMinimum; uint160 limitSqrtPrice; }',
      'struct IntegralInputSingle { address tokenIn; address tokenOut; address deployer; address recipient; uint256 deadline; uint256 amountIn; uint256 amountOutMinimum; uint160 limitSqrtPrice; }',
      'struct AlgebraMint { address token0; address token1; int24 tickLower; int24 tickUpper; uint256 amount0Desired; uint256 amount1Desired; uint256 amount0Min; uint256 amount1Min; address recipient; uint256 deadline; }',
    ],
    functions: [
      'exactInputSingle(SlipstreamInputSingle params)',
      'exactOutputSingle(SlipstreamInputSingle params)',
      'mint(SlipstreamMint params)',
      'exactInputSingle(AlgebraInputSingle params)',
      'exactInputSingle(IntegralInputSingle params)',
      'exactOutputSingle(IntegralInputSingle params)',
      'mint(AlgebraMint params)',
    ],
  },
  {
    source: 'Velodrome v2 and Aerodrome: Router',
    structs: ['struct Route { address from; address to; bool stable; address factory; }'],
    functions: [
      'swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, Route[] routes, address to, uint256 deadline)',
      'swapExactETHForTokens(uint256 amountOutMin, Route[] routes, address to, uint256 deadline)',
      'swapExactTokensForETH(uint256 amountIn, uint256 amountOutMin, Route[] routes, address to, uint256 deadline)',
      'UNSAFE_swapExactTokensForTokens(uint256[] amounts, Route[] routes, address to, uint256 deadline)',
      'swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256 amountIn, uint256 amountOutMin, Route[] routes, address to, uint256 deadline)',
      'swapExactETHForTokensSupportingFeeOnTransferTokens(uint256 amountOutMin, Route[] routes, address to, uint256 deadline)',
      'swapExactTokensForETHSupportingFeeOnTransferTokens(uint256 amountIn, uint256 amountOutMin, Route[] routes, address to, uint256 deadline)',
      'addLiquidity(address tokenA, address tokenB, bool stable, uint256 amountADesired, uint256 amountBDesired, uint256 amountAMin, uint256 amountBMin, address to, uint256 deadline)',
      'addLiquidityETH(address token, bool stable, uint256 amountTokenDesired, uint256 amountTokenMin, uint256 amountETHMin, address to, uint256 deadline)',
      'removeLiquidity(address tokenA, address tokenB, bool stable, uint256 liquidity, uint256 amountAMin, uint256 amountBMin, address to, uint256 deadline)',
      'removeLiquidityETH(address token, bool stable, uint256 liquidity, uint256 amountTokenMin, uint256 amountETHMin, address to, uint256 deadline)',
    ],
  },
  {
    source: 'Solidly: BaseV1Router01',
    structs: ['struct SolidlyRoute { address from; address to; bool stable; }'],
    functions: [
      'swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, SolidlyRoute[] routes, address to, uint256 deadline)',
      'swapExactETHForTokens(uint256 amountOutMin, SolidlyRoute[] routes, address to, uint256 deadline)',
      'swapExactTokensForETH(uint256 amountIn, uint256 amountOutMin, SolidlyRoute[] routes, address to, uint256 deadline)',
      'swapExactTokensForTokensSimple(uint256 amountIn, uint256 amountOutMin, address tokenFrom, address tokenTo, bool stable, address to, uint256 deadline)',
    ],
  },
  {
    source: 'Velodrome and Aerodrome: VotingEscrow',
    functions: [
      'createLockFor(uint256 value, uint256 lockDuration, address to)',
      'depositFor(uint256 tokenId, uint256 value)',
      'merge(uint256 from, uint256 to)',
      'delegate(uint256 delegator, uint256 delegatee)',
    ],
  },
  {
    source: 'Trader Joe v2: LBRouter and LBToken',
    structs: ['struct Path { uint256[] pairBinSteps; uint8[] versions; address[] tokenPath; }'],
    functions: [
      'swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, Path path, address to, uint256 deadline)',
      'swapExactTokensForNATIVE(uint256 amountIn, uint256 amountOutMinNATIVE, Path path, address to, uint256 deadline)',
      'swapExactNATIVEForTokens(uint256 amountOutMin, Path path, address to, uint256 deadline)',
      'swapTokensForExactTokens(uint256 amountOut, uint256 amountInMax, Path path, address to, uint256 deadline)',
      'swapTokensForExactNATIVE(uint256 amountNATIVEOut, uint256 amountInMax, Path path, address to, uint256 deadline)',
      'swapNATIVEForExactTokens(uint256 amountOut, Path path, address to, uint256 deadline)',
      'approveForAll(address spender, bool approved)',
      'batchTransferFrom(address from, address to, uint256[] ids, uint256[] amounts)',
    ],
  },
  {
    source: 'Curve: pools and Router, with a receiver',
    functions: [
      'add_liquidity(uint256[2] amounts, uint256 minMintAmount, address receiver)',
      'add_liquidity(uint256[3] amounts, uint256 minMintAmount, address receiver)',
      'add_liquidity(uint256[] amounts, uint256 minMintAmount, address receiver)',
      'remove_liquidity(uint256 burnAmount, uint256[2] minAmounts, address receiver)',
      'remove_liquidity(uint256 burnAmount, uint256[3] minAmounts, address receiver)',
      'remove_liquidity(uint256 burnAmount, uint256[] minAmounts, address receiver)',
      'remove_liquidity(uint256 burnAmount, uint256[] minAmounts, address receiver, bool claimAdminFees)',
      'remove_liquidity_one_coin(uint256 burnAmount, int128 i, uint256 minReceived, address receiver)',
      'remove_liquidity_one_coin(uint256 burnAmount, uint256 i, uint256 minReceived, bool useEth, address receiver)',
      'remove_liquidity_imbalance(uint256[] amounts, uint256 maxBurnAmount, address receiver)',
      'remove_liquidity_imbalance(uint256[2] amounts, uint256 maxBurnAmount, address receiver)',
      'exchange_received(int128 i, int128 j, uint256 dx, uint256 minDy, address receiver)',
      'exchange(uint256 i, uint256 j, uint256 dx, uint256 minDy, bool useEth, address receiver)',
      'exchange(address[11] route, uint256[5][5] swapParams, uint256 amount, uint256 minDy, address[5] pools, address receiver)',
    ],
  },
  {
    source: '1inch: AggregationRouter v4 to v6',
    structs: [
      'struct SwapDescription { address srcToken; address dstToken; address srcReceiver; address dstReceiver; uint256 amount; uint256 minReturnAmount; uint256 flags; }',
      'struct PermittedSwap { address srcToken; address dstToken; address srcReceiver; address dstReceiver; uint256 amount; uint256 minReturnAmount; uint256 flags; bytes permit; }',
      'struct LimitOrder { uint256 salt; uint256 maker; uint256 receiver; uint256 makerAsset; uint256 takerAsset; uint256 makingAmount; uint256 takingAmount; uint256 makerTraits; }',
    ],
    functions: [
      'swap(address caller, PermittedSwap desc, bytes data)',
      'swap(address executor, SwapDescription desc, bytes permit, bytes data)',
      'swap(address executor, SwapDescription desc, bytes data)',
      'unoswapTo(address recipient, address srcToken, uint256 amount, uint256 minReturn, uint256[] pools)',
      'uniswapV3SwapTo(address recipient, uint256 amount, uint256 minReturn, uint256[] pools)',
      'unoswapTo(uint256 to, uint256 token, uint256 amount, uint256 minReturn, uint256 dex)',
      'unoswapTo2(uint256 to, uint256 token, uint256 amount, uint256 minReturn, uint256 dex, uint256 dex2)',
      'unoswapTo3(uint256 to, uint256 token, uint256 amount, uint256 minReturn, uint256 dex, uint256 dex2, uint256 dex3)',
      'ethUnoswapTo(uint256 to, uint256 minReturn, uint256 dex)',
      'ethUnoswapTo2(uint256 to, uint256 minReturn, uint256 dex, uint256 dex2)',
      'ethUnoswapTo3(uint256 to, uint256 minReturn, uint256 dex, uint256 dex2, uint256 dex3)',
      'clipperSwapTo(address clipperExchange, address recipient, uint256 srcToken, address dstToken, uint256 inputAmount, uint256 outputAmount, uint256 goodUntil, bytes32 r, bytes32 vs)',
      'fillOrder(LimitOrder order, bytes32 r, bytes32 vs, uint256 amount, uint256 takerTraits)',
      'fillOrderArgs(LimitOrder order, bytes32 r, bytes32 vs, uint256 amount, uint256 takerTraits, bytes args)',
      'fillContractOrder(LimitOrder order, bytes signature, uint256 amount, uint256 takerTraits)',
      'fillContractOrderArgs(LimitOrder order, bytes signature, uint256 amount, uint256 takerTraits, bytes args)',
    ],
  },
  {
    source: '0x: Exchange Proxy, AllowanceHolder and Settler',
    structs: ['struct AllowedSlippage { address recipient; address buyToken; uint256 minAmountOut; }'],
    functions: [
      'sellToLiquidityProvider(address inputToken, address outputToken, address provider, address recipient, uint256 sellAmount, uint256 minBuyAmount, bytes auxiliaryData)',
      'sellTokenForTokenToUniswapV3(bytes encodedPath, uint256 sellAmount, uint256 minBuyAmount, address recipient)',
      'sellTokenForEthToUniswapV3(bytes encodedPath, uint256 sellAmount, uint256 minBuyAmount, address recipient)',
      'sellEthForTokenToUniswapV3(bytes encodedPath, uint256 minBuyAmount, address recipient)',
      'exec(address operator, address token, uint256 amount, address target, bytes data)',
      'execute(AllowedSlippage slippage, bytes[] actions, bytes32 zidAndAffiliate)',
    ],
  },
  {
    source: '0x v4: native orders',
    structs: [
      'struct LimitOrder { address makerToken; address takerToken; uint128 makerAmount; uint128 takerAmount; uint128 takerTokenFeeAmount; address maker; address taker; address sender; address feeRecipient; bytes32 pool; uint64 expiry; uint256 salt; }',
      'struct RfqOrder { address makerToken; address takerToken; uint128 makerAmount; uint128 takerAmount; address maker; address taker; address txOrigin; bytes32 pool; uint64 expiry; uint256 salt; }',
      'struct OtcOrder { address makerToken; address takerToken; uint128 makerAmount; uint128 takerAmount; address maker; address taker; address txOrigin; uint256 expiryAndNonce; }',
      'struct Signature { uint8 signatureType; uint8 v; bytes32 r; bytes32 s; }',
    ],
    functions: [
      'fillLimitOrder(LimitOrder order, Signature signature, uint128 takerTokenFillAmount)',
      'fillOrKillLimitOrder(LimitOrder order, Signature signature, uint128 takerTokenFillAmount)',
      'fillRfqOrder(RfqOrder order, Signature signature, uint128 takerTokenFillAmount)',
      'fillOrKillRfqOrder(RfqOrder order, Signature signature, uint128 takerTokenFillAmount)',
      'fillOtcOrder(OtcOrder order, Signature makerSignature, uint128 takerTokenFillAmount)',
      'fillOtcOrderForEth(OtcOrder order, Signature makerSignature, uint128 takerTokenFillAmount)',
      'fillOtcOrderWithEth(OtcOrder order, Signature makerSignature)',
      'registerAllowedOrderSigner(address signer, bool allowed)',
    ],
  },
  {
    source: 'ParaSwap: Augustus v5 and v6',
    structs: [
      'struct GenericData { address srcToken; address destToken; uint256 fromAmount; uint256 toAmount; uint256 quotedAmount; bytes32 metadata; address beneficiary; }',
      'struct SimpleData { address fromToken; address toToken; uint256 fromAmount; uint256 toAmount; uint256 expectedAmount; address[] callees; bytes exchangeData; uint256[] startIndexes; uint256[] values; address beneficiary; address partner; uint256 feePercent; bytes permit; uint256 deadline; bytes16 uuid; }',
    ],
    functions: [
      'swapExactAmountIn(address executor, GenericData swapData, uint256 partnerAndFee, bytes permit, bytes executorData)',
      'swapExactAmountOut(address executor, GenericData swapData, uint256 partnerAndFee, bytes permit, bytes executorData)',
      'simpleSwap(SimpleData data)',
      'simpleBuy(SimpleData data)',
    ],
  },
  {
    source: 'KyberSwap: MetaAggregationRouterV2',
    structs: [
      'struct SwapDescriptionV2 { address srcToken; address dstToken; address[] srcReceivers; uint256[] srcAmounts; address[] feeReceivers; uint256[] feeAmounts; address dstReceiver; uint256 amount; uint256 minReturnAmount; uint256 flags; bytes permit; }',
      'struct SwapExecutionParams { address callTarget; address approveTarget; bytes targetData; SwapDescriptionV2 desc; bytes clientData; }',
    ],
    functions: [
      'swap(SwapExecutionParams execution)',
      'swapSimpleMode(address caller, SwapDescriptionV2 desc, bytes executorData, bytes clientData)',
    ],
  },
  {
    source: 'Odos: Router V2',
    structs: [
      'struct SwapTokenInfo { address inputToken; uint256 inputAmount; address inputReceiver; address outputToken; uint256 outputQuote; uint256 outputMin; address outputReceiver; }',
      'struct InputTokenInfo { address tokenAddress; uint256 amountIn; address receiver; }',
      'struct OutputTokenInfo { address tokenAddress; uint256 relativeValue; address receiver; }',
    ],
    functions: [
      'swap(SwapTokenInfo tokenInfo, bytes pathDefinition, address executor, uint32 referralCode)',
      'swapMulti(InputTokenInfo[] inputs, OutputTokenInfo[] outputs, uint256 valueOutMin, bytes pathDefinition, address executor, uint32 referralCode)',
      'swapCompact()',
      'swapMultiCompact()',
    ],
  },
  {
    source: 'LI.FI: GenericSwapFacet and V3',
    structs: [
      'struct SwapData { address callTo; address approveTo; address sendingAssetId; address receivingAssetId; uint256 fromAmount; bytes callData; bool requiresDeposit; }',
    ],
    functions: [
      'swapTokensGeneric(bytes32 transactionId, string integrator, string referrer, address receiver, uint256 minAmount, SwapData[] swapData)',
      'swapTokensSingleV3ERC20ToERC20(bytes32 transactionId, string integrator, string referrer, address receiver, uint256 minAmountOut, SwapData swapData)',
      'swapTokensSingleV3ERC20ToNative(bytes32 transactionId, string integrator, string referrer, address receiver, uint256 minAmountOut, SwapData swapData)',
      'swapTokensSingleV3NativeToERC20(bytes32 transactionId, string integrator, string referrer, address receiver, uint256 minAmountOut, SwapData swapData)',
      'swapTokensMultipleV3ERC20ToERC20(bytes32 transactionId, string integrator, string referrer, address receiver, uint256 minAmountOut, SwapData[] swapData)',
      'swapTokensMultipleV3ERC20ToNative(bytes32 transactionId, string integrator, string referrer, address receiver, uint256 minAmountOut, SwapData[] swapData)',
      'swapTokensMultipleV3NativeToERC20(bytes32 transactionId, string integrator, string referrer, address receiver, uint256 minAmountOut, SwapData[] swapData)',
    ],
  },
  {
    source: 'CoW Protocol: CoWSwapEthFlow and ComposableCoW',
    structs: [
      'struct EthFlowOrder { address buyToken; address receiver; uint256 sellAmount; uint256 buyAmount; bytes32 appData; uint256 feeAmount; uint32 validTo; bool partiallyFillable; int64 quoteId; }',
      'struct ConditionalOrderParams { address handler; bytes32 salt; bytes staticInput; }',
      'struct Proof { uint256 location; bytes data; }',
    ],
    functions: [
      'createOrder(EthFlowOrder order)',
      'create(ConditionalOrderParams params, bool dispatch)',
      'createWithContext(ConditionalOrderParams params, address factory, bytes data, bool dispatch)',
      'setRoot(bytes32 root, Proof proof)',
      'setRootWithContext(bytes32 root, Proof proof, address factory, bytes data)',
    ],
  },
  {
    source: 'Balancer v2: BatchRelayer and withdrawals of fees',
    structs: [
      'struct RelayedPoolRequest { address[] assets; uint256[] limits; bytes userData; bool internalBalance; }',
      'struct OutputReference { uint256 index; uint256 key; }',
      'struct UserBalanceOp { uint8 kind; address asset; uint256 amount; address sender; address recipient; }',
      'struct SingleSwap { bytes32 poolId; uint8 kind; address assetIn; address assetOut; uint256 amount; bytes userData; }',
      'struct FundManagement { address sender; bool fromInternalBalance; address recipient; bool toInternalBalance; }',
      'struct BatchSwapStep { bytes32 poolId; uint256 assetInIndex; uint256 assetOutIndex; uint256 amount; bytes userData; }',
    ],
    functions: [
      'setRelayerApproval(address relayer, bool approved, bytes authorisation)',
      'joinPool(bytes32 poolId, uint8 kind, address sender, address recipient, RelayedPoolRequest request, uint256 value, uint256 outputReference)',
      'exitPool(bytes32 poolId, uint8 kind, address sender, address recipient, RelayedPoolRequest request, OutputReference[] outputReferences)',
      'manageUserBalance(UserBalanceOp[] ops, uint256 value)',
      'swap(SingleSwap singleSwap, FundManagement funds, uint256 limit, uint256 deadline, uint256 value, uint256 outputReference)',
      'batchSwap(uint8 kind, BatchSwapStep[] swaps, address[] assets, FundManagement funds, int256[] limits, uint256 deadline, uint256 value, OutputReference[] outputReferences)',
      'gaugeDeposit(address gauge, address sender, address recipient, uint256 amount)',
      'gaugeWithdraw(address gauge, address sender, address recipient, uint256 amount)',
      'unwrapWstETH(address sender, address recipient, uint256 amount, uint256 outputReference)',
      'wrapStETH(address sender, address recipient, uint256 amount, uint256 outputReference)',
      'unwrapERC4626(address wrappedToken, address sender, address recipient, uint256 amount, uint256 outputReference)',
      'wrapERC4626(address wrappedToken, address sender, address recipient, uint256 amount, uint256 outputReference)',
      'withdrawCollectedFees(address[] tokens, uint256[] amounts, address recipient)',
    ],
  },
  {
    source: 'Pendle v2: Market, YieldToken, limit orders and the rest of Router',
    structs: [
      'struct SwapData { uint8 swapType; address extRouter; bytes extCalldata; bool needScale; }',
      'struct TokenInput { address tokenIn; uint256 netTokenIn; address tokenMintSy; address pendleSwap; SwapData swapData; }',
      'struct TokenOutput { address tokenOut; uint256 minTokenOut; address tokenRedeemSy; address pendleSwap; SwapData swapData; }',
      'struct ApproxParams { uint256 guessMin; uint256 guessMax; uint256 guessOffchain; uint256 maxIteration; uint256 eps; }',
      'struct Order { uint256 salt; uint256 expiry; uint256 nonce; uint8 orderType; address token; address YT; address maker; address receiver; uint256 makingAmount; uint256 lnImpliedRate; uint256 failSafeRate; bytes permit; }',
      'struct FillOrderParams { Order order; bytes signature; uint256 makingAmount; }',
      'struct LimitOrderData { address limitRouter; uint256 epsSkipMarket; FillOrderParams[] normalFills; FillOrderParams[] flashFills; bytes optData; }',
    ],
    functions: [
      'burn(address receiverSy, address receiverPt, uint256 netLpToBurn)',
      'swapExactPtForSy(address receiver, uint256 exactPtIn, bytes data)',
      'swapSyForExactPt(address receiver, uint256 exactPtOut, bytes data)',
      'mintPYMulti(address[] receiverPTs, address[] receiverYTs, uint256[] amountSyToMints)',
      'preSignSingle(Order order)',
      'preSignBatch(Order[] orders)',
      'addLiquiditySinglePtSimple(address receiver, address market, uint256 netPtIn, uint256 minLpOut)',
      'addLiquiditySingleSySimple(address receiver, address market, uint256 netSyIn, uint256 minLpOut)',
      'addLiquiditySingleSyKeepYt(address receiver, address market, uint256 netSyIn, uint256 minLpOut, uint256 minYtOut)',
      'addLiquiditySingleToken(address receiver, address market, uint256 minLpOut, ApproxParams guessPtReceivedFromSy, TokenInput input, LimitOrderData limit)',
      'removeLiquiditySinglePtSimple(address receiver, address market, uint256 netLpToRemove, uint256 minPtOut)',
      'removeLiquiditySingleSy(address receiver, address market, uint256 netLpToRemove, uint256 minSyOut, LimitOrderData limit)',
      'removeLiquiditySingleToken(address receiver, address market, uint256 netLpToRemove, TokenOutput output, LimitOrderData limit)',
      'swapExactSyForPtSimple(address receiver, address market, uint256 exactSyIn, uint256 minPtOut)',
      'swapExactSyForYtSimple(address receiver, address market, uint256 exactSyIn, uint256 minYtOut)',
      'swapExactTokenForPt(address receiver, address market, uint256 minPtOut, ApproxParams guessPtOut, TokenInput input, LimitOrderData limit)',
      'swapExactTokenForYt(address receiver, address market, uint256 minYtOut, ApproxParams guessYtOut, TokenInput input, LimitOrderData limit)',
      'swapExactPtForSy(address receiver, address market, uint256 exactPtIn, uint256 minSyOut, LimitOrderData limit)',
      'swapExactPtForToken(address receiver, address market, uint256 exactPtIn, TokenOutput output, LimitOrderData limit)',
      'swapExactYtForSy(address receiver, address market, uint256 exactYtIn, uint256 minSyOut, LimitOrderData limit)',
      'swapExactYtForToken(address receiver, address market, uint256 exactYtIn, TokenOutput output, LimitOrderData limit)',
      'addLiquiditySinglePt(address receiver, address market, uint256 netPtIn, uint256 minLpOut, ApproxParams guessPtSwapToSy, LimitOrderData limit)',
      'addLiquiditySingleSy(address receiver, address market, uint256 netSyIn, uint256 minLpOut, ApproxParams guessPtReceivedFromSy, LimitOrderData limit)',
      'removeLiquiditySinglePt(address receiver, address market, uint256 netLpToRemove, uint256 minPtOut, ApproxParams guessPtReceivedFromSy, LimitOrderData limit)',
      'swapExactSyForPt(address receiver, address market, uint256 exactSyIn, uint256 minPtOut, ApproxParams guessPtOut, LimitOrderData limit)',
      'swapExactSyForYt(address receiver, address market, uint256 exactSyIn, uint256 minYtOut, ApproxParams guessYtOut, LimitOrderData limit)',
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
  {
    source: 'OpenZeppelin Contracts 5: BridgeERC1155, with data; ERC-7786',
    functions: [
      'crosschainTransferFrom(address from, bytes to, uint256 id, uint256 value, bytes data)',
      'crosschainTransferFrom(address from, bytes to, uint256[] ids, uint256[] values, bytes data)',
      'sendMessage(bytes recipient, bytes payload, bytes[] attributes)',
    ],
  },
  {
    source: 'Optimism: ERC721Bridge, L2ToL1MessagePasser and interoperability',
    functions: [
      'bridgeERC721To(address localToken, address remoteToken, address to, uint256 tokenId, uint32 minGasLimit, bytes extraData)',
      'initiateWithdrawal(address target, uint256 gasLimit, bytes data)',
      'sendMessage(uint256 destination, address target, bytes message)',
      'sendERC20(address token, address to, uint256 amount, uint256 chainId)',
      'sendETH(address to, uint256 chainId)',
    ],
  },
  {
    source: 'Arbitrum: gateways on L2, ERC20Inbox and Inbox',
    functions: [
      'outboundTransfer(address token, address to, uint256 amount, bytes data)',
      'createRetryableTicket(address to, uint256 l2CallValue, uint256 maxSubmissionCost, address excessFeeRefundAddress, address callValueRefundAddress, uint256 gasLimit, uint256 maxFeePerGas, uint256 tokenTotalFeeAmount, bytes data)',
      'sendL1FundedContractTransaction(uint256 gasLimit, uint256 maxFeePerGas, address to, bytes data)',
      'sendL1FundedUnsignedTransaction(uint256 gasLimit, uint256 maxFeePerGas, uint256 nonce, address to, bytes data)',
      'sendContractTransaction(uint256 gasLimit, uint256 maxFeePerGas, address to, uint256 value, bytes data)',
      'sendUnsignedTransaction(uint256 gasLimit, uint256 maxFeePerGas, uint256 nonce, address to, uint256 value, bytes data)',
    ],
  },
  {
    source: 'ZKsync: Bridgehub, bridges and L2BaseToken',
    structs: [
      'struct L2TransactionRequestDirect { uint256 chainId; uint256 mintValue; address l2Contract; uint256 l2Value; bytes l2Calldata; uint256 l2GasLimit; uint256 l2GasPerPubdataByteLimit; bytes[] factoryDeps; address refundRecipient; }',
      'struct L2TransactionRequestTwoBridges { uint256 chainId; uint256 mintValue; uint256 l2Value; uint256 l2GasLimit; uint256 l2GasPerPubdataByteLimit; address refundRecipient; address secondBridgeAddress; uint256 secondBridgeValue; bytes secondBridgeCalldata; }',
    ],
    functions: [
      'requestL2TransactionDirect(L2TransactionRequestDirect request)',
      'requestL2TransactionTwoBridges(L2TransactionRequestTwoBridges request)',
      'withdraw(address l1Receiver)',
      'withdrawWithMessage(address l1Receiver, bytes additionalData)',
      'withdraw(address l1Receiver, address l2Token, uint256 amount)',
      'deposit(address l2Receiver, address l1Token, uint256 amount, uint256 l2TxGasLimit, uint256 l2TxGasPerPubdataByte, address refundRecipient)',
    ],
  },
  {
    source: 'Polygon zkEVM: messages; Polygon PoS: DepositManager',
    functions: [
      'bridgeMessage(uint32 destinationNetwork, address destinationAddress, bool forceUpdateGlobalExitRoot, bytes metadata)',
      'depositERC20ForUser(address token, address user, uint256 amount)',
    ],
  },
  {
    source: 'Circle CCTP: TokenMessenger and MessageTransmitter with a caller',
    functions: [
      'depositForBurnWithCaller(uint256 amount, uint32 destinationDomain, bytes32 mintRecipient, address burnToken, bytes32 destinationCaller)',
      'sendMessage(uint32 destinationDomain, bytes32 recipient, bytes messageBody)',
    ],
  },
  {
    source: 'LayerZero v1: OFT; Stargate v1 and v2',
    structs: [
      'struct LzCallParams { address refundAddress; address zroPaymentAddress; bytes adapterParams; }',
      'struct LzTxObj { uint256 dstGasForCall; uint256 dstNativeAmount; bytes dstNativeAddr; }',
      'struct SendParam { uint32 dstEid; bytes32 to; uint256 amountLD; uint256 minAmountLD; bytes extraOptions; bytes composeMsg; bytes oftCmd; }',
      'struct MessagingFee { uint256 nativeFee; uint256 lzTokenFee; }',
    ],
    functions: [
      'sendFrom(address from, uint16 dstChainId, bytes toAddress, uint256 amount, address refundAddress, address zroPaymentAddress, bytes adapterParams)',
      'sendFrom(address from, uint16 dstChainId, bytes32 toAddress, uint256 amount, LzCallParams callParams)',
      'setTrustedRemote(uint16 remoteChainId, bytes path)',
      'setTrustedRemoteAddress(uint16 remoteChainId, bytes remoteAddress)',
      'swap(uint16 dstChainId, uint256 srcPoolId, uint256 dstPoolId, address refundAddress, uint256 amountLD, uint256 minAmountLD, LzTxObj lzTxParams, bytes to, bytes payload)',
      'swapETH(uint16 dstChainId, address refundAddress, bytes toAddress, uint256 amountLD, uint256 minAmountLD)',
      'sendToken(SendParam sendParam, MessagingFee fee, address refundAddress)',
    ],
  },
  {
    source: 'Wormhole: token bridge, with a payload',
    functions: [
      'transferTokensWithPayload(address token, uint256 amount, uint16 recipientChain, bytes32 recipient, uint32 nonce, bytes payload)',
      'wrapAndTransferETHWithPayload(uint16 recipientChain, bytes32 recipient, uint32 nonce, bytes payload)',
    ],
  },
  {
    source: 'Across v2 to v4: SpokePool',
    functions: [
      'deposit(address recipient, address originToken, uint256 amount, uint256 destinationChainId, int64 relayerFeePct, uint32 quoteTimestamp, bytes message, uint256 maxCount)',
      'deposit(bytes32 depositor, bytes32 recipient, bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, bytes32 exclusiveRelayer, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityParameter, bytes message)',
      'depositNow(bytes32 depositor, bytes32 recipient, bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, bytes32 exclusiveRelayer, uint32 fillDeadlineOffset, uint32 exclusivityParameter, bytes message)',
      'depositV3Now(address depositor, address recipient, address inputToken, address outputToken, uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, address exclusiveRelayer, uint32 fillDeadlineOffset, uint32 exclusivityParameter, bytes message)',
    ],
  },
  {
    source: 'Hop: bridges and L2AmmWrapper; Hyperlane: routes and Mailbox',
    functions: [
      'sendToL2(uint256 chainId, address recipient, uint256 amount, uint256 amountOutMin, uint256 deadline, address relayer, uint256 relayerFee)',
      'send(uint256 chainId, address recipient, uint256 amount, uint256 bonderFee, uint256 amountOutMin, uint256 deadline)',
      'swapAndSend(uint256 chainId, address recipient, uint256 amount, uint256 bonderFee, uint256 amountOutMin, uint256 deadline, uint256 destinationAmountOutMin, uint256 destinationDeadline)',
      'transferRemote(uint32 destination, bytes32 recipient, uint256 amount)',
      'dispatch(uint32 destinationDomain, bytes32 recipientAddress, bytes messageBody)',
    ],
  },
  {
    source: 'Axelar: gateway and interchain tokens; Connext',
    functions: [
      'sendToken(string destinationChain, string destinationAddress, string symbol, uint256 amount)',
      'callContract(string destinationChain, string contractAddress, bytes payload)',
      'callContractWithToken(string destinationChain, string contractAddress, bytes payload, string symbol, uint256 amount)',
      'interchainTransfer(bytes32 tokenId, string destinationChain, bytes destinationAddress, uint256 amount, bytes metadata, uint256 gasValue)',
      'interchainTransfer(string destinationChain, bytes recipient, uint256 amount, bytes metadata)',
      'xcall(uint32 destination, address to, address asset, address delegate, uint256 amount, uint256 slippage, bytes callData)',
    ],
  },
  {
    source: 'Chainlink CCIP: Router',
    structs: [
      'struct EVMTokenAmount { address token; uint256 amount; }',
      'struct EVM2AnyMessage { bytes receiver; bytes data; EVMTokenAmount[] tokenAmounts; address feeToken; bytes extraArgs; }',
    ],
    functions: ['ccipSend(uint64 destinationChainSelector, EVM2AnyMessage message)'],
  },
  {
    source: 'Celer: cBridge; Synapse: SynapseBridge',
    functions: [
      'send(address receiver, address token, uint256 amount, uint64 dstChainId, uint64 nonce, uint32 maxSlippage)',
      'sendNative(address receiver, uint256 amount, uint64 dstChainId, uint64 nonce, uint32 maxSlippage)',
      'deposit(address to, uint256 chainId, address token, uint256 amount)',
      'redeem(address to, uint256 chainId, address token, uint256 amount)',
    ],
  },
  {
    source: 'Scroll: gateways and messengers; Linea; StarkGate; Gnosis: bridges',
    functions: [
      'depositETH(address to, uint256 amount, uint256 gasLimit)',
      'depositERC20(address token, address to, uint256 amount, uint256 gasLimit)',
      'withdrawETH(address to, uint256 amount, uint256 gasLimit)',
      'withdrawERC20(address token, address to, uint256 amount, uint256 gasLimit)',
      'sendMessage(address target, uint256 value, bytes message, uint256 gasLimit)',
      'sendMessage(address target, uint256 value, bytes message, uint256 gasLimit, address refundAddress)',
      'sendMessage(address to, uint256 fee, bytes callData)',
      'bridgeToken(address token, uint256 amount, address recipient)',
      'deposit(address token, uint256 amount, uint256 l2Recipient)',
      'relayTokens(address receiver, uint256 amount)',
      'relayTokens(address token, address receiver, uint256 amount)',
    ],
  },
  {
    source: 'Polygon: FxRoot and tunnels',
    functions: [
      'deposit(address rootToken, address user, uint256 amount, bytes data)',
      'deposit(address rootToken, address user, uint256 id, uint256 amount, bytes data)',
      'depositBatch(address rootToken, address user, uint256[] ids, uint256[] amounts, bytes data)',
      'withdrawTo(address childToken, address receiver, uint256 amount, bytes data)',
      'withdrawTo(address childToken, address receiver, uint256 id, uint256 amount, bytes data)',
      'withdrawToBatch(address childToken, address receiver, uint256[] ids, uint256[] amounts, bytes data)',
      'sendMessageToChild(address receiver, bytes data)',
    ],
  },
  {
    source: 'Axelar: interchain tokens and operators',
    functions: [
      'interchainTransfer(bytes32 tokenId, string destinationChain, bytes destinationAddress, uint256 amount)',
      'interchainTransferFrom(address sender, string destinationChain, bytes recipient, uint256 amount, bytes metadata)',
      'callContractWithInterchainToken(bytes32 tokenId, string destinationChain, bytes destinationAddress, uint256 amount, bytes data)',
      'transferOperatorship(address operator)',
      'proposeOperatorship(address operator)',
      'transferMintership(address minter)',
      'proposeOwnership(address newOwner)',
      'upgrade(address newImplementation, bytes32 newImplementationCodeHash, bytes params)',
    ],
  },
  {
    source: 'Hyperlane: Mailbox with hooks; Circle CCTP: MessageTransmitter with a caller',
    functions: [
      'dispatch(uint32 destinationDomain, bytes32 recipientAddress, bytes messageBody, bytes hookMetadata)',
      'dispatch(uint32 destinationDomain, bytes32 recipientAddress, bytes body, bytes customHookMetadata, address customHook)',
      'transferRemote(uint32 destination, bytes32 recipient, uint256 amount, bytes hookMetadata, address hook)',
      'sendMessageWithCaller(uint32 destinationDomain, bytes32 recipient, bytes32 destinationCaller, bytes messageBody)',
      'sendMessage(uint32 destinationDomain, bytes32 recipient, bytes32 destinationCaller, uint32 minFinalityThreshold, bytes messageBody)',
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
  {
    source: 'EigenLayer: RewardsCoordinator and DelegationManager',
    structs: [
      'struct EarnerTreeMerkleLeaf { address earner; bytes32 earnerTokenRoot; }',
      'struct TokenTreeMerkleLeaf { address token; uint256 cumulativeEarnings; }',
      'struct RewardsMerkleClaim { uint32 rootIndex; uint32 earnerIndex; bytes earnerTreeProof; EarnerTreeMerkleLeaf earnerLeaf; uint32[] tokenIndices; bytes[] tokenTreeProofs; TokenTreeMerkleLeaf[] tokenLeaves; }',
      'struct SignatureWithExpiry { bytes signature; uint256 expiry; }',
    ],
    functions: [
      'processClaim(RewardsMerkleClaim claim, address recipient)',
      'redelegate(address newOperator, SignatureWithExpiry newOperatorApproverSig, bytes32 approverSalt)',
    ],
  },
  {
    source: 'Snapshot: DelegateRegistry v2',
    structs: ['struct Delegation { bytes32 delegate; uint256 ratio; }'],
    functions: ['setDelegation(string context, Delegation[] delegations, uint256 expirationTimestamp)'],
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
  {
    source: 'Synthetix: Owned; Yearn: vaults; Curve: DAO',
    functions: [
      'nominateNewOwner(address owner)',
      'setGovernance(address governance)',
      'setPendingGovernance(address newGovernance)',
      'setManagement(address management)',
      'setPendingManagement(address management)',
      'setGuardian(address guardian)',
    ],
  },
  {
    source: 'Balancer v2 and v3: Authorizer and TimelockAuthorizer',
    functions: [
      'grantRoles(bytes32[] roles, address account)',
      'grantRolesToMany(bytes32[] roles, address[] accounts)',
      'grantPermission(bytes32 actionId, address account, address where)',
      'grantPermissions(bytes32[] actionIds, address account, address[] where)',
      'scheduleGrantPermission(bytes32 actionId, address account, address where, address[] executors)',
      'scheduleRootChange(address newRoot, address[] executors)',
      'addGranter(bytes32 actionId, address account, address where)',
      'setAuthorizer(address newAuthorizer)',
    ],
  },
  {
    source: 'Aragon: ACL; Aragon OSx: PermissionManager',
    functions: [
      'createPermission(address entity, address app, bytes32 role, address manager)',
      'grantPermission(address entity, address app, bytes32 role)',
      'setPermissionManager(address newManager, address app, bytes32 role)',
      'grant(address where, address who, bytes32 permissionId)',
      'grantWithCondition(address where, address who, bytes32 permissionId, address condition)',
    ],
  },
  {
    source: 'Zodiac: Roles v1 and v2, modules',
    functions: [
      'assignRoles(address module, uint16[] roles, bool[] memberOf)',
      'assignRoles(address module, bytes32[] roleKeys, bool[] memberOf)',
      'allowTarget(uint16 role, address targetAddress, uint8 options)',
      'allowTarget(bytes32 roleKey, address targetAddress, uint8 options)',
      'allowFunction(bytes32 roleKey, address targetAddress, bytes4 selector, uint8 options)',
      'scopeAllowFunction(uint16 role, address targetAddress, bytes4 functionSig, uint8 options)',
      'setTransactionUnwrapper(address to, bytes4 selector, address adapter)',
      'setAvatar(address avatar)',
      'setTarget(address target)',
      'setMultisend(address multisend)',
      'setController(address controller)',
    ],
  },
  {
    source: 'LUKSO: ERC-725Y of LSP0 and LSP11; Argent: GuardianManager',
    functions: [
      'setData(bytes32 dataKey, bytes dataValue)',
      'setDataBatch(bytes32[] dataKeys, bytes[] dataValues)',
      'addGuardian(address account, address newGuardian)',
    ],
  },
  {
    source: 'Safe 1.5: ExtensibleFallbackHandler',
    functions: [
      'setSafeMethod(bytes4 selector, bytes32 newMethod)',
      'setDomainVerifier(bytes32 domainSeparator, address newVerifier)',
    ],
  },
  {
    source: 'Coinbase: Smart Wallet; thirdweb: accounts',
    structs: [
      'struct SignerPermissionRequest { address signer; uint8 isAdmin; address[] approvedTargets; uint256 nativeTokenLimitPerTransaction; uint128 permissionStartTimestamp; uint128 permissionEndTimestamp; uint128 reqValidityStartTimestamp; uint128 reqValidityEndTimestamp; bytes32 uid; }',
    ],
    functions: [
      'addOwnerAddress(address owner)',
      'addOwnerPublicKey(bytes32 x, bytes32 y)',
      'setPermissionsForSigner(SignerPermissionRequest req, bytes signature)',
      'setAdmin(address account, bool isAdmin)',
    ],
  },
  {
    source: 'Gnosis: MultiSigWallet, transactions of other owners',
    functions: ['confirmTransaction(uint256 transactionId)'],
  },
  {
    source: '0x: Exchange Proxy and asset proxies; OpenZeppelin Contracts 5: CrosschainRemoteExecutor',
    functions: [
      'extend(bytes4 selector, address impl)',
      'migrate(address target, bytes data, address newOwner)',
      'addAuthorizedAddress(address target)',
      'reconfigure(address newGateway, bytes newController)',
    ],
  },
  {
    source: 'Optimism: AddressManager; Arbitrum: DoubleLogicUUPSUpgradeable',
    functions: [
      'setAddress(string name, address newAddress)',
      'upgradeSecondaryTo(address newImplementation)',
      'upgradeSecondaryToAndCall(address newImplementation, bytes data)',
    ],
  },
  {
    source: 'Chainlink: subscriptions, upkeeps, payees, Operator and token administration',
    functions: [
      'cancelSubscription(uint64 subscriptionId, address to)',
      'cancelSubscription(uint256 subscriptionId, address to)',
      'requestSubscriptionOwnerTransfer(uint64 subscriptionId, address newOwner)',
      'requestSubscriptionOwnerTransfer(uint256 subscriptionId, address newOwner)',
      'transferPayeeship(address transmitter, address proposed)',
      'transferUpkeepAdmin(uint256 id, address proposed)',
      'withdrawFunds(uint256 id, address to)',
      'transferAdminRole(address localToken, address newAdmin)',
      'transferOwnershipWithMessage(address to, bytes message)',
      'transferOwnableContracts(address[] ownable, address newOwner)',
      'ownerTransferAndCall(address to, uint256 value, bytes data)',
    ],
  },
  {
    source: 'Solady: ERC4337, storage',
    functions: ['storageStore(bytes32 storageSlot, bytes32 storageValue)'],
  },
  {
    source: 'OpenGSN: paymasters',
    functions: [
      'withdrawRelayHubDepositTo(uint256 amount, address target)',
      'setRelayManagerOwner(address owner)',
    ],
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
  {
    source: 'Uniswap: UniswapInterfaceMulticall',
    structs: ['struct Call { address target; uint256 gasLimit; bytes callData; }'],
    functions: ['multicall(Call[] calls)'],
  },
  {
    source: 'Pendle: governance proxy',
    structs: ['struct Call { address target; uint256 value; bytes callData; }'],
    functions: ['aggregate(Call[] calls)', 'aggregateWithScopedAccess(Call[] calls)'],
  },
  {
    source: 'thirdweb: forwarder with a chain id',
    structs: [
      'struct ForwardRequest { address from; address to; uint256 value; uint256 gas; uint256 nonce; bytes data; uint256 chainid; }',
    ],
    functions: ['execute(ForwardRequest request, bytes signature)'],
  },
  {
    source: 'ERC-6551, first version; Arbitrum: Bridge and UpgradeExecutor',
    functions: [
      'executeCall(address to, uint256 value, bytes data)',
      'executeCall(address target, bytes targetCallData)',
    ],
  },
  {
    source: 'Euler: Ethereum Vault Connector, with a signature and for controllers',
    functions: [
      'permit(address signer, address sender, uint256 nonceNamespace, uint256 nonce, uint256 deadline, uint256 value, bytes data, bytes signature)',
      'controlCollateral(address targetCollateral, address onBehalfOfAccount, uint256 value, bytes data)',
    ],
  },
  {
    source: 'Safe: Safe4337Module, CreateCall and Safe 1.0',
    functions: [
      'executeUserOp(address to, uint256 value, bytes data, uint8 operation)',
      'executeUserOpWithErrorString(address to, uint256 value, bytes data, uint8 operation)',
      'performCreate(uint256 value, bytes deploymentData)',
      'performCreate2(uint256 value, bytes deploymentData, bytes32 salt)',
      'execTransactionAndPaySubmitter(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 dataGas, uint256 gasPrice, address gasToken, bytes signatures)',
    ],
  },
  {
    source: 'Zodiac: Roles v1, Reality, Bridge and OptimisticGovernor',
    structs: ['struct Transaction { address to; uint8 operation; uint256 value; bytes data; }'],
    functions: [
      'execTransactionWithRole(address to, uint256 value, bytes data, uint8 operation, uint16 role, bool shouldRevert)',
      'execTransactionWithRoleReturnData(address to, uint256 value, bytes data, uint8 operation, uint16 role, bool shouldRevert)',
      'executeTransaction(address to, uint256 value, bytes data, uint8 operation)',
      'executeProposal(string proposalId, bytes32[] txHashes, address to, uint256 value, bytes data, uint8 operation)',
      'executeProposalWithIndex(string proposalId, bytes32[] txHashes, address to, uint256 value, bytes data, uint8 operation, uint256 txIndex)',
      'executeProposal(Transaction[] transactions)',
      'proposeTransactions(Transaction[] transactions, bytes explanation)',
    ],
  },
  {
    source: 'Ambire and Sequence: accounts; Coinbase: Smart Wallet',
    structs: [
      'struct Call { address to; uint256 value; bytes data; }',
      'struct Transaction { bool delegateCall; bool revertOnError; uint256 gasLimit; address target; uint256 value; bytes data; }',
    ],
    functions: [
      'execute(Call[] calls, bytes signature)',
      'executeBySender(Call[] calls)',
      'execute(Transaction[] txs, uint256 nonce, bytes signature)',
      'selfExecute(Transaction[] txs)',
      'executeWithoutChainIdValidation(bytes[] calls)',
    ],
  },
  {
    source: 'ERC-6900',
    functions: ['executeWithRuntimeValidation(bytes data, bytes authorization)'],
  },
  {
    source: 'Aave: governance and its executors',
    functions: [
      'queueTransaction(address target, uint256 value, string signature, bytes data, uint256 executionTime, bool withDelegatecall)',
      'executeTransaction(address target, uint256 value, string signature, bytes data, uint256 executionTime, bool withDelegatecall)',
      'create(address executor, address[] targets, uint256[] values, string[] signatures, bytes[] calldatas, bool[] withDelegatecalls, bytes32 ipfsHash)',
    ],
  },
  {
    source:
      'OpenZeppelin Contracts 5: GovernorCrosschain; Balancer: AuthorizerAdaptor, TimelockAuthorizer and Router',
    structs: [
      'struct PermitApproval { address token; address owner; address spender; uint256 amount; uint256 nonce; uint256 deadline; }',
      'struct PermitDetails { address token; uint160 amount; uint48 expiration; uint48 nonce; }',
      'struct PermitBatch { PermitDetails[] details; address spender; uint256 sigDeadline; }',
    ],
    functions: [
      'relayCrosschain(address gateway, bytes executor, bytes32 mode, bytes executionCalldata)',
      'performAction(address target, bytes data)',
      'schedule(address where, bytes data, address[] executors)',
      'permitBatchAndCall(PermitApproval[] permitBatch, bytes[] permitSignatures, PermitBatch permit2Batch, bytes permit2Signature, bytes[] multicallData)',
    ],
  },
  {
    source: 'Aragon: forwarders; Aragon OSx: DAO',
    structs: ['struct Action { address to; uint256 value; bytes data; }'],
    functions: [
      'forward(bytes evmScript)',
      'execute(bytes32 callId, Action[] actions, uint256 allowFailureMap)',
    ],
  },
  {
    source: 'Superfluid: host and macros',
    structs: ['struct Operation { uint32 operationType; address target; bytes data; }'],
    functions: [
      'callAgreement(address agreementClass, bytes callData, bytes userData)',
      'callAppAction(address app, bytes callData)',
      'batchCall(Operation[] operations)',
      'forwardBatchCall(Operation[] operations)',
      'runMacro(address target, bytes params)',
    ],
  },
  {
    source: 'LUKSO: LSP25 and LSP11',
    functions: [
      'executeRelayCall(bytes signature, uint256 nonce, uint256 validityTimestamps, bytes payload)',
      'executeRelayCallBatch(bytes[] signatures, uint256[] nonces, uint256[] validityTimestamps, uint256[] values, bytes[] payloads)',
      'recoverAccess(address votedAddress, address account, bytes32 secretHash, bytes32 newSecretHash, bytes calldataToExecute)',
    ],
  },
  {
    source: 'Instadapp: accounts, first version; Enzyme: ComptrollerLib',
    functions: [
      'cast(address[] targets, bytes[] datas, address origin)',
      'callOnExtension(address extension, uint256 actionId, bytes callArgs)',
      'vaultCallOnContract(address target, bytes4 selector, bytes encodedArgs)',
    ],
  },
  {
    source: 'OpenGSN: Forwarder and BatchForwarder',
    structs: [
      'struct ForwardRequest { address from; address to; uint256 value; uint256 gas; uint256 nonce; bytes data; uint256 validUntil; }',
    ],
    functions: [
      'execute(ForwardRequest request, bytes32 domainSeparator, bytes32 requestTypeHash, bytes suffixData, bytes signature)',
      'sendBatch(address[] targets, bytes[] encodedFunctions)',
    ],
  },
  {
    source: 'Hyperlane: InterchainAccountRouter',
    structs: ['struct RemoteCall { bytes32 to; uint256 value; bytes data; }'],
    functions: [
      'callRemote(uint32 destination, RemoteCall[] calls)',
      'callRemote(uint32 destination, RemoteCall[] calls, bytes hookMetadata)',
      'callRemoteWithOverrides(uint32 destination, bytes32 router, bytes32 ism, RemoteCall[] calls)',
      'callRemoteWithOverrides(uint32 destination, bytes32 router, bytes32 ism, RemoteCall[] calls, bytes hookMetadata)',
    ],
  },
  {
    source: 'Chainlink: AuthorizedForwarder and Operator; Axelar: Operators and governance',
    functions: [
      'forward(address to, bytes data)',
      'ownerForward(address to, bytes data)',
      'executeContract(address target, bytes callData, uint256 nativeValue)',
      'executeProposal(address targetContract, bytes callData, uint256 nativeValue)',
    ],
  },
  {
    source: 'Solady: Timelock',
    functions: ['propose(bytes32 mode, bytes executionData, uint256 delay)'],
  },
  {
    source: 'Optimism: Transactor and AssetReceiver',
    functions: [
      'CALL(address target, bytes data, uint256 value)',
      'CALL(address target, bytes data, uint256 gasLimit, uint256 value)',
      'DELEGATECALL(address target, bytes data)',
      'DELEGATECALL(address target, bytes data, uint256 gasLimit)',
    ],
  },
  {
    source: 'Moonbeam: precompiles that act as the account that calls them',
    structs: ['struct Multilocation { uint8 parents; bytes[] interior; }'],
    functions: [
      'batchAll(address[] to, uint256[] value, bytes[] callData, uint64[] gasLimit)',
      'batchSome(address[] to, uint256[] value, bytes[] callData, uint64[] gasLimit)',
      'batchSomeUntilFailure(address[] to, uint256[] value, bytes[] callData, uint64[] gasLimit)',
      'dispatch(address from, address to, uint256 value, bytes data, uint64 gaslimit, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
      'transfer(address currencyAddress, uint256 amount, Multilocation destination, uint64 weight)',
      'transferWithFee(address currencyAddress, uint256 amount, uint256 fee, Multilocation destination, uint64 weight)',
      'addProxy(address delegate, uint8 proxyType, uint32 delay)',
    ],
  },
  {
    source: 'Hyperliquid: CoreWriter; Sei: bank and wasm; Cosmos EVM: ICS-20, staking and distribution',
    structs: ['struct Height { uint64 revisionNumber; uint64 revisionHeight; }'],
    functions: [
      'sendRawAction(bytes data)',
      'send(address fromAddress, address toAddress, string denom, uint256 amount)',
      'sendNative(string toNativeAddress)',
      'execute(string contractAddress, bytes message, bytes coins)',
      'transfer(string sourcePort, string sourceChannel, string denom, uint256 amount, address sender, string receiver, Height timeoutHeight, uint64 timeoutTimestamp, string memo)',
      'setWithdrawAddress(address delegatorAddress, string withdrawerAddress)',
      'approve(address grantee, uint256 amount, string[] methods)',
    ],
  },
  {
    source: 'Biconomy, Kernel and Argent: accounts; Aragon: Agent',
    structs: ['struct Call { address to; uint256 value; bytes data; }'],
    functions: [
      'execute_ncC(address dest, uint256 value, bytes func)',
      'executeBatch_y6U(address[] dest, uint256[] value, bytes[] func)',
      'executeDelegateCall(address to, bytes data)',
      'multiCall(address wallet, Call[] transactions)',
      'safeExecute(address target, bytes data)',
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
