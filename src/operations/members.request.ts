/** The claim on the new wallet of a member. */
export function walletSubject(walletAddress: string): string {
  return `wallet:${walletAddress.toLowerCase()}`;
}
