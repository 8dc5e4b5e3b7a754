/** What an account's address is made from: enough to compute it again. */
export interface AccountDerivation {
  readonly address: string;
  readonly ownerAddress: string;
  readonly singleton: string;
  readonly factory: string;
  readonly fallbackHandler: string;
  readonly initializer: string;
  /** uint256 as a decimal string. */
  readonly saltNonce: string;
}
