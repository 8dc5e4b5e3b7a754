/** An error with which a node, or a gateway before it, answers eth_sendRawTransaction. */
export interface Refusal {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** What nodes and gateways answer, by code. Collected from public reports of each. */
const MESSAGES: readonly (readonly [code: number, ...messages: string[]])[] = [
  // geth and those that follow it.
  [
    -32_000,
    'already known',
    'known transaction: 0x6f0c',
    'nonce too low',
    'nonce too low: next nonce 9, tx nonce 8',
    'nonce too high',
    'replacement transaction underpriced',
    'transaction underpriced',
    'transaction underpriced: gas tip cap 1, minimum needed 25000000000',
    'insufficient funds for gas * price + value',
    'insufficient funds for gas * price + value: balance 0, tx cost 21000, overshot 21000',
    'intrinsic gas too low',
    'exceeds block gas limit',
    'gas limit reached',
    'tx fee (1.20 ether) exceeds the configured cap (1.00 ether)',
    'txpool is full',
    'future transaction tries to replace pending',
    'in-flight transaction limit reached for delegated accounts',
    'transaction type not supported',
    'invalid sender',
    'invalid chain id for signer: have 1 want 137',
    'max fee per gas less than block base fee',
    'max priority fee per gas higher than max fee per gas',
    'only replay-protected (EIP-155) transactions allowed over RPC',
    'rlp: value size exceeds available input length',
    'oversized data',
    'context deadline exceeded',
    'request timed out',
    'transaction indexing is in progress',
    'sender not an eoa: address 0x, codehash: 0x',
  ],
  // Nethermind and OpenEthereum.
  [
    -32_010,
    'OldNonce',
    'OldNonce, Current nonce: 9, nonce of rejected tx: 8',
    'AlreadyKnown',
    'FeeTooLow, EffectivePriorityFeePerGas too low 0 < 1, BaseFee: 7',
    'FeeTooLowToCompete',
    'ReplacementNotAllowed',
    'NonceGap, Future nonce. Expected nonce: 8',
    'InsufficientFunds, Account balance: 0, cumulative cost: 21000',
    'OwnNonceAlreadyUsed',
    'GasLimitExceeded, Gas limit: 1, gas limit of rejected tx: 2',
    'Transaction with the same hash was already imported.',
    'Transaction nonce is too low. Try incrementing the nonce.',
    'There are too many transactions in the queue. Your transaction was dropped due to limit. Try increasing the fee.',
    'Transaction gas price is too low. There is another transaction with same nonce in the queue.',
  ],
  [-32_015, 'wrong transaction nonce', 'VM execution error.'],
  // Erigon and Reth.
  [
    -32_000,
    'ALREADY_EXISTS: already known',
    'INTERNAL_ERROR: existing tx with same hash',
    'INTERNAL_ERROR: could not replace existing tx',
    'INTERNAL_ERROR: nonce too low',
    'INTERNAL_ERROR: insufficient funds',
    'FEE_TOO_LOW: underpriced',
    'txpool: nonce gap',
  ],
  [
    -32_003,
    'transaction underpriced',
    'insufficient funds for gas * price + value: have 5 want 7',
    'Transaction rejected',
  ],
  // Besu and Quorum.
  [-32_000, 'Known transaction', 'Replacement transaction underpriced', 'Internal error'],
  [-32_001, 'Nonce too low', 'resource not found'],
  [-32_004, 'Upfront cost exceeds account balance', 'Account balance is too low'],
  [-32_006, 'Nonce too high', 'Transaction nonce is too distant from current sender nonce'],
  [-32_009, 'Gas price below configured minimum gas price'],
  [-32_602, 'Invalid params', 'Transaction nonce is below sender account nonce'],
  // Arbitrum, Optimism and Base.
  [
    -32_000,
    'nonce too low: address 0x14791697260E4c9A71f18484C9f997B308e59325, tx: 8 state: 9',
    'nonce too high: address 0x14791697260E4c9A71f18484C9f997B308e59325, tx: 9 state: 8',
    'gas price too low: address 0x14791697260E4c9A71f18484C9f997B308e59325, tx: 1 base fee: 100000000',
    'max fee per gas less than block base fee: address 0x14791697260E4c9A71f18484C9f997B308e59325, maxFeePerGas: 1, baseFee: 2',
    'sequencer temporarily not available',
    'tx queue is full',
    'nonce expired',
    'Post "https://sequencer.invalid": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
    "failed to forward tx to sequencer, please try again. Error message: 'backend is currently not healthy to serve traffic'",
  ],
  [-32_016, 'over rate limit'],
  [-32_011, 'no backends available for method', 'no backend is currently healthy to serve traffic'],
  // Cosmos chains with an EVM.
  [
    -32_000,
    'invalid nonce; got 8, expected 9: invalid sequence: invalid sequence',
    'tx already in mempool',
    'tx already exists in cache',
    'mempool is full: number of txs 5000 (max: 5000), total txs bytes 1 (max: 2)',
    'account sequence mismatch, expected 9, got 8: incorrect account sequence',
    'broadcast tx timed out: timed out waiting for tx to be included in a block',
    'failed to check sender balance: sender balance < tx cost (0 < 1aevmos): insufficient funds',
    'provided fee < minimum global fee (1 < 2): insufficient fee',
  ],
  // ZKsync.
  [
    3,
    'failed to validate the transaction. reason: Validation revert: Account validation error',
    'known transaction. transaction with hash 0x6f0c is already in the system',
    'nonce too low. allowed nonce range: 9 - 29, actual: 8',
    'nonce too high. allowed nonce range: 7 - 7, actual: 8',
    'max fee per gas less than block base fee',
    'replacement transaction underpriced',
  ],
  // Avalanche, Hedera, Klaytn and Kaia, Harmony, BNB, Metis, Celo.
  [
    -32_000,
    "couldn't issue tx: tx dropped",
    'nonce too low: address 0xABCD current nonce (9) > tx nonce (8)',
    'tx has too low of a fee',
  ],
  [32_001, '[Request ID: 83883bf1] Nonce too low. Provided nonce: 8, current nonce: 9'],
  [
    -32_603,
    '[Request ID: 83883bf1] Error invoking RPC: Transaction already submitted',
    'transaction 0.0.2@1 failed precheck with status WRONG_NONCE',
  ],
  [-32_020, '[Request ID: 83883bf1] Mirror node upstream failure: statusCode=504'],
  [
    -32_000,
    'there is another tx which has the same nonce in the tx pool',
    'invalid unit price',
    "fee payer's balance is insufficient",
    'unable to add tx to the pool',
  ],
  [
    -32_000,
    'transaction already finalized',
    'too many pending transactions',
    'tx cannot be included: priority fee below minimum',
  ],
  // Gateways.
  [
    -32_005,
    'daily request count exceeded, request rate limited',
    'Request exceeds defined limit',
    'limit exceeded',
  ],
  [-32_007, '50/second request limit reached - reduce calls per second'],
  [-32_012, 'credits limited to 6000/sec'],
  [-32_097, 'rate limit exceeded'],
  [429, 'Your app has exceeded its compute units per second capacity.', 'Too Many Requests'],
  [-32_029, 'Too Many Requests, Please apply an API key'],
  [
    -32_603,
    'Internal error',
    'Internal JSON-RPC error.',
    'service temporarily unavailable',
    'upstream connect error or disconnect/reset before headers',
    'all upstreams failed',
  ],
  [-32_600, 'Invalid Request', 'method is not available on your plan'],
  [-32_601, 'the method eth_sendRawTransaction does not exist/is not available', 'Method not found'],
  [-32_700, 'Parse error'],
  [-32_099, 'Unspecified origin not on whitelist.'],
  [0, '', 'error'],
  [
    19,
    'Temporary internal error. Please retry, trace-id: 0',
    'Request timeout on the free tier, please upgrade your tier to the paid one',
  ],
  [26, 'Unknown block'],
  [-39_001, 'unknown reason'],
];

/** All of them. Some come with data, as gateways add it. */
export const REFUSALS: readonly Refusal[] = MESSAGES.flatMap(([code, ...messages]) =>
  messages.map((message, index): Refusal => {
    if (index === 1) return { code, message, data: null };
    return index === 2
      ? { code, message, data: { error_id: '4ed94073', payload: message } }
      : { code, message };
  }),
);
