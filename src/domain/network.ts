/** Says that a network is not configured, and which networks are. */
export function networkNotConfigured(networks: Iterable<{ readonly id: number }>, networkId: number): string {
  return `network ${networkId} is not configured (available: ${Array.from(networks, ({ id }) => id).join(', ')})`;
}
