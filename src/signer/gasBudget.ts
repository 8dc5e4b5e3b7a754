import { nativeAmount } from '../chain/nativeAmount';
import type { NetworkConfig } from '../config';
import type { Tx } from '../db/database';
import { GAS_WINDOW_MS, gasCost, gasLimit, type SignedGas } from '../domain/gasBudget';
import type { SignerClock } from './clock';
import { type GasEntry, type JournalEntry, signedGas } from './journal/entries';
import type { Journal } from './journal/journal';
import { TemporaryRefusal } from './refusal';

/** The gas that each organization may use per network and hour, by what the signer has signed. */
export interface GasBudget {
  /**
   * Counts the gas of an envelope whose nonce is reserved in a database transaction. Throws TemporaryRefusal where the budget does
   * not permit it.
   */
  claim(tx: Tx, network: NetworkConfig, entry: GasEntry): void;
  /** Forgets what was claimed in a database transaction that was rolled back. */
  forget(tx: Tx): void;
  /** Appends entries to the journal, which counts them from then on. */
  append(...entries: readonly JournalEntry[]): Promise<void>;
}

/** What is claimed, and not in the journal yet. */
interface Claim {
  readonly tx: Tx;
  readonly entry: GasEntry;
  readonly gas: SignedGas;
}

const isOf = (a: GasEntry, b: GasEntry) =>
  a.organizationId === b.organizationId && a.networkId === b.networkId;

const isSame = (a: GasEntry, b: GasEntry) =>
  isOf(a, b) && a.relayerAddress === b.relayerAddress && a.relayerNonce === b.relayerNonce;

/** Creates the budget of one signer. `perHour` is in wei. */
export function createGasBudget({
  journal,
  clock,
  perHour,
}: {
  readonly journal: Pick<Journal, 'append' | 'gasOf'>;
  readonly clock: Pick<SignerClock, 'now'>;
  readonly perHour: bigint;
}): GasBudget {
  let claims: Claim[] = [];

  function assertWithin(network: NetworkConfig, entry: GasEntry, gas: SignedGas): void {
    const since = gas.at - GAS_WINDOW_MS;
    const signed = [
      ...journal.gasOf(entry),
      ...claims.filter((claim) => isOf(claim.entry, entry)).map((claim) => claim.gas),
    ].filter(({ at }) => at > since);
    const limit = gasLimit(perHour, entry.kind);
    if (gasCost([...signed, gas]) <= limit) return;
    const whose = entry.organizationId ?? 'the signer';
    const ending =
      gas.wei > limit ? 'this alone needs more: raise it' : 'it continues by itself, within an hour';
    throw new TemporaryRefusal(
      'gas',
      `the gas budget of ${whose} on ${network.name} is used up: ${nativeAmount(network, gasCost(signed))} within the last hour, of at most ${nativeAmount(network, limit)} (GAS_BUDGET_PER_HOUR, a part of which is kept for cancellations); ${ending}`,
    );
  }

  return {
    claim(tx, network, entry) {
      const gas = signedGas(entry, clock.now().getTime());
      assertWithin(network, entry, gas);
      claims.push({ tx, entry, gas });
    },
    forget(tx) {
      claims = claims.filter((claim) => claim.tx !== tx);
    },
    async append(...entries) {
      await journal.append(...entries);
      const gas = entries.filter((entry) => entry.type === 'gas');
      claims = claims.filter(({ entry }) => !gas.some((one) => isSame(one, entry)));
    },
  };
}
