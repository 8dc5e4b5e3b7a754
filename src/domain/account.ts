/** The inputs from which an account's address is computed. */
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
