import type { NetworkConfig } from '../config';
import { refuse } from '../domain/refusal';
import { quoted } from '../domain/signing';

interface OnNetworks {
  readonly networkIds?: readonly number[] | undefined;
}

/** Refuses the first network id that this deployment cannot reach, with its field. */
export function unknownNetwork(networks: readonly NetworkConfig[], items: readonly OnNetworks[]) {
  for (const [i, item] of items.entries()) {
    for (const [j, networkId] of (item.networkIds ?? []).entries()) {
      if (!networks.some((network) => network.id === networkId)) {
        return refuse('validationError', `there is no network ${networkId}`, `items[${i}].networkIds[${j}]`);
      }
    }
  }
  return undefined;
}

/** What items name as networks, as subjects of notices. */
export function networkSubjects(items: readonly OnNetworks[]): string[] {
  return [...new Set(items.flatMap(({ networkIds }) => networkIds ?? []))].map((id) => `network:${id}`);
}

/** Networks in words, such as `"Local One" (31337), "Local Two" (31338)`. */
export function describeNetworks(networks: readonly NetworkConfig[], ids: readonly number[]): string {
  return ids.map((id) => `${quoted(networks.find((n) => n.id === id)?.name ?? '')} (${id})`).join(', ');
}
