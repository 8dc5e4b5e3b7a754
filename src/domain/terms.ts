/** The terms that are proposed for an envelope; the signer bounds them by what it reads itself. Decimal strings of wei, and of gas. */
export interface EnvelopeTerms {
  readonly gas: string;
  readonly maxFeePerGas: string;
  readonly maxPriorityFeePerGas: string;
  readonly relayerAddress: string;
  /** Number of the relayer's transactions in blocks: its next nonce on chain. */
  readonly chainNonce: number;
  /** Number of the block that the fees are of. */
  readonly head: string;
  /** Id of the stuck envelope that the new one replaces at its nonce, with a higher fee. */
  readonly replaces?: string;
}

/** The terms that are proposed for a transaction; the signer bounds them. Decimal strings. */
export interface TransactionTerms extends EnvelopeTerms {
  /** Gas that the account's inner call must be able to use. */
  readonly safeTxGas: string;
  /** The account's next nonce on chain. */
  readonly accountNonce: string;
  /** Head of the chain. */
  readonly fromBlock: string;
}
