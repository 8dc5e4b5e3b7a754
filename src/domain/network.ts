/** The message for a network that is not configured, with those that are. */
export function networkNotConfigured(networks: Iterable<{ readonly id: number }>, networkId: number): string {
  return `network ${networkId} is not configured (available: ${Array.from(networks, ({ id }) => id).join(', ')})`;
}
