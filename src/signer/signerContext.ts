import type { ChainClient } from '../chain/clients';
import { signerEndpoints } from '../chain/contractSignatures';
import type { Fees } from '../chain/fees';
import type { SigningKeys } from '../chain/keys';
import { SharedReads } from '../chain/sharedReads';
import type { IdentifyVoter } from '../chain/voter';
import type { NetworkConfig } from '../config';
import { type Db, databaseNow, type Tx } from '../db/database';
import type { TransactionRef } from '../domain/transaction';
import type { Logger } from '../logging';
import { createSignerClock, type SignerClock } from './clock';
import { createGasBudget, type GasBudget } from './gasBudget';
import type { Journal } from './journal/journal';
import { createSteadyTime, type SteadyTime } from './journal/steadyTime';
import { journaledKeys } from './journaledKeys';
import { createKeyedMutex, type KeyedMutex } from './keyedMutex';
import { PendingAuthorizations } from './pending';
import { type CountRefusal, SignerRefusal } from './refusal';
import { createReadSealedState, type ReadSealedState } from './sealedState';
import { lockForSigning, lockNetwork } from './store/relayerRecords';
import { UpkeepAgenda } from './upkeep/agenda';

/** The dependencies of the signer. */
export interface SignerDeps {
  /** The login of the signer. */
  readonly db: Db;
  /** True in production: well-known keys are refused. */
  readonly production: boolean;
  readonly keystore: SigningKeys;
  /** What it has authorized, apart from the database. */
  readonly journal: Journal;
  readonly logger: Logger;
  readonly countRefusal: CountRefusal;
  /** Counts an execution of an account that nobody here has authorized, for the metric. */
  readonly countUnknownExecution: () => void;
  readonly networks: readonly NetworkConfig[];
  readonly identifyVoter: IdentifyVoter;
  /** Gas ceiling of one chain transaction. */
  readonly maxGas: bigint;
  /** What an organization's envelopes on a network may cost per hour, in wei. */
  readonly gasBudgetPerHour: bigint;
  /** The network of contract wallets: elsewhere the address of one may be somebody else's. Absent: it is nowhere. */
  readonly signerNetworkId?: number | undefined;
  /** How long a request can be signed, in milliseconds: nothing is signed that expires later. */
  readonly proposalLifetimeMs: number;
  /** The time of the journal's lines; absent: one of its own, from the machine's clock. */
  readonly steady?: SteadyTime;
}

/** The dependencies, and what the activities of one process share. */
export interface SignerContext extends SignerDeps {
  readonly networkMutex: KeyedMutex;
  /** Transactions that replace another one are authorized one at a time; key: the organization. */
  readonly replacementMutex: KeyedMutex<string>;
  readonly pending: PendingAuthorizations;
  /** What is known of the admins' Safes. */
  readonly upkeep: UpkeepAgenda;
  /** When the outcome of an authorization was last looked up, by transaction; of `performance.now()`. */
  readonly lastLooks: Map<string, number>;
  readonly readSealedState: ReadSealedState;
  readonly clock: SignerClock;
  readonly gasBudget: GasBudget;
  /** The fees that its own endpoints have answered lately, by network and endpoint. */
  readonly fees: SharedReads<Fees>;
  /** Whether its own endpoints have shown code at an address lately, by network, endpoint and address. */
  readonly recipients: SharedReads<boolean>;
  /** The signer's own endpoints of a network, `signerRpcUrls`: all of them must agree. */
  readonly endpointsOf: (network: NetworkConfig) => readonly ChainClient[];
}

/** What is signed within this time has the same bound of fees, which is twice the base fee and more. */
const FEES_MS = 10_000;
const FAILED_FEES_MS = 250;
/** An address without code hardly ever gets code within this time. */
const RECIPIENTS_MS = 600_000;

/** Creates the context that the activities of one process share. */
export function createSignerContext(deps: SignerDeps): SignerContext {
  const endpoints = new Map(deps.networks.map((network) => [network.id, signerEndpoints(network).clients]));
  const clock = createSignerClock(deps.journal, deps.steady ?? createSteadyTime());
  return {
    ...deps,
    keystore: journaledKeys(deps.keystore, deps.journal),
    clock,
    gasBudget: createGasBudget({ ...deps, clock, perHour: deps.gasBudgetPerHour }),
    fees: new SharedReads(FEES_MS, FAILED_FEES_MS),
    recipients: new SharedReads(RECIPIENTS_MS, FAILED_FEES_MS),
    networkMutex: createKeyedMutex(),
    replacementMutex: createKeyedMutex(),
    pending: new PendingAuthorizations(deps.journal),
    upkeep: new UpkeepAgenda(deps.logger),
    lastLooks: new Map(),
    readSealedState: createReadSealedState(deps),
    endpointsOf: ({ id }) => endpoints.get(id) ?? [],
  };
}

/** The configuration of a network. Throws SignerRefusal when it is not configured. */
export function networkOf({ networks }: Pick<SignerDeps, 'networks'>, networkId: number): NetworkConfig {
  const found = networks.find(({ id }) => id === networkId);
  if (!found) throw new SignerRefusal('stale', `network ${networkId} is not configured`);
  return found;
}

/** What else `withNetwork` does. */
interface NetworkOptions<T> {
  /** Locks this transaction, and what is sealed of its organization, in the same statement (`lockForSigning`). */
  readonly signs?: TransactionRef;
  /** Runs after the commit, before anything else of the network: what it appends to the journal is in the order of the database. */
  readonly committed?: (result: T) => Promise<void>;
}

/**
 * Runs `work` in a database transaction that locks a network, so that nonces of accounts and relayers, budgets and gas are
 * reserved, and outcomes recorded, one after the other, whichever relayer pays. Nothing is signed in it, and no network
 * asked. Throws SignerRefusal when the network is not configured, TemporaryRefusal when clocks are apart.
 */
export async function withNetwork<T>(
  context: SignerContext,
  networkId: number,
  work: (tx: Tx) => Promise<T>,
  { signs, committed }: NetworkOptions<T> = {},
): Promise<T> {
  networkOf(context, networkId);
  return context.networkMutex(networkId, async () => {
    let forget: (() => void) | undefined;
    let result: T;
    try {
      result = await context.db.transaction(async (tx) => {
        forget = () => context.gasBudget.forget(tx);
        const time = await (signs ? lockForSigning(tx, networkId, signs) : lockNetwork(tx, networkId));
        context.clock.assertInStep(time ?? (await databaseNow(tx)));
        return work(tx);
      });
    } catch (error) {
      forget?.();
      throw error;
    }
    await committed?.(result);
    return result;
  });
}
