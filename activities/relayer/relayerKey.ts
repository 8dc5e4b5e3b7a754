/** The key of a relayer in what a process shares. */
export function relayerKey(networkId: number, relayerAddress: string): string {
  return `${networkId}/${relayerAddress}`;
}
