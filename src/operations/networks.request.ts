import type { NetworkConfig } from '../config';
import { networkNotConfigured } from '../domain/network';
import { refuse } from '../domain/refusal';

interface OnNetworks {
  readonly networkIds?: readonly number[] | undefined;
}

/** Refuses the first network id that is not configured, with its field. */
export function unknownNetwork(networks: readonly NetworkConfig[], items: readonly OnNetworks[]) {
  for (const [i, item] of items.entries()) {
    for (const [j, networkId] of (item.networkIds ?? []).entries()) {
      if (!networks.some((network) => network.id === networkId)) {
        const field = `items[${i}].networkIds[${j}]`;
        return refuse('validationError', networkNotConfigured(networks, networkId), field);
      }
    }
  }
  return undefined;
}

/** The networks of items, as subjects of notes. */
export function networkSubjects(items: readonly OnNetworks[]): string[] {
  return [...new Set(items.flatMap(({ networkIds }) => networkIds ?? []))].map((id) => `network:${id}`);
}
