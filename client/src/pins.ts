/** The organization as the first payload showed it. Signatures of another one are worth nothing here. */
export interface Pin {
  readonly organization: string;
  /** The salt of its domain: it is of one organization of one installation. */
  readonly salt: string;
}

/**
 * Where the pin is kept: in memory by default, in a file or in the browser's storage if it is to last. `organization` is
 * the one that a payload names: a store for several keeps one pin of each.
 */
export interface PinStore {
  get(organization: string): Pin | undefined;
  set(pin: Pin): void;
}

/** Keeps a pin in memory; `known` is one that was learned otherwise. */
export function pinInMemory(known?: Pin): PinStore {
  let pin = known;
  return {
    get: () => pin,
    set: (next) => {
      pin = next;
    },
  };
}
