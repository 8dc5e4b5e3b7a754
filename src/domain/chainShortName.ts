/** Chains by the short name that stands before an address. Source: EIP-3770; the names are those of ethereum-lists/chains. */
const SHORT_NAMES: { readonly [chainId: number]: string } = {
  1: 'eth',
  10: 'oeth',
  56: 'bnb',
  100: 'gno',
  130: 'unichain',
  137: 'pol',
  146: 'sonic',
  324: 'zksync',
  5000: 'mantle',
  8453: 'base',
  42161: 'arb1',
  42220: 'celo',
  43114: 'avax',
  59144: 'linea',
  84532: 'basesep',
  421614: 'arb-sep',
  534352: 'scr',
  560048: 'hoe',
  11155111: 'sep',
  11155420: 'opsep',
};

/** Names that older files have. */
const FORMER_NAMES: { readonly [shortName: string]: number } = { matic: 137 };

/** A network, as far as its short name depends on it. */
interface Named {
  readonly id: number;
  /** That of its settings. */
  readonly shortName?: string | undefined;
}

/** The short name of a network: that of its settings, or of the list; undefined where it has none. */
export function shortNameOf({ id, shortName }: Named): string | undefined {
  return shortName ?? SHORT_NAMES[id];
}

/** The network with a short name, also a former one; undefined where none has it. */
export function networkOf<Network extends Named>(
  networks: readonly Network[],
  shortName: string,
): Network | undefined {
  return (
    networks.find((network) => shortNameOf(network) === shortName) ??
    networks.find(({ id }) => FORMER_NAMES[shortName] === id)
  );
}
