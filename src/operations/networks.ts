import type { NetworkConfig } from '../config';
import { quotedName } from '../domain/summary';

/** Networks as text: `"Local One" (31337)`, `"Local Two" (31338)`. */
export function describeNetworks(networks: readonly NetworkConfig[], ids: readonly number[]): string[] {
  return ids.map((id) => `${quotedName(networks.find((n) => n.id === id)?.name ?? '')} (${id})`);
}
