import type { NetworkConfig } from '../../src/config';
import { refuse } from '../../src/domain/refusal';
import { quoted } from '../../src/domain/signing';

/** Refuses the first network id that this deployment cannot reach, with its field. */
export function unknownNetwork(
  networks: readonly NetworkConfig[],
  items: readonly { readonly networkIds?: readonly number[] }[],
) {
  for (const [i, item] of items.entries()) {
    for (const [j, networkId] of (item.networkIds ?? []).entries()) {
      if (!networks.some((network) => network.id === networkId)) {
        return refuse('validationError', `there is no network ${networkId}`, `items[${i}].networkIds[${j}]`);
      }
    }
  }
  return undefined;
}

/** Networks in words, such as `"Local One" (31337), "Local Two" (31338)`. */
export function describeNetworks(networks: readonly NetworkConfig[], ids: readonly number[]): string {
  return ids.map((id) => `${quoted(networks.find((n) => n.id === id)?.name ?? '')} (${id})`).join(', ');
}
