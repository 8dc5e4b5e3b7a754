/** The most relayers of a network: each has a balance that somebody keeps up. */
export const MAX_RELAYERS = 64;

/** The message for a network that is not configured, with those that are. */
export function networkNotConfigured(networks: Iterable<{ readonly id: number }>, networkId: number): string {
  return `network ${networkId} is not configured (available: ${Array.from(networks, ({ id }) => id).join(', ')})`;
}
