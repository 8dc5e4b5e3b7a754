import { deriveAdminsSafe } from '../../chain/adminsSafe';
import { ChainUnavailable } from '../../chain/clients';
import { deriveAccount } from '../../chain/safeAccount';
import type { NetworkConfig } from '../../config';
import { wantedOwners } from '../../domain/adminsSafe';
import { adminsOf, type OrganizationState } from '../../domain/governance';
import { keepPolling } from '../../keepPolling';
import { failuresOfNetworks } from '../../lastingFailure';
import { mapLimit } from '../../mapLimit';
import { reportRefusal, SignerRefusal, TemporaryRefusal } from '../refusal';
import type { SignerContext } from '../signerContext';
import { sealedSequences } from '../store/compared';
import { recordAdminsSafe, recordRescue, recordUnknown, type SafeStatus } from '../store/upkeep';
import { secureAccount } from './accounts';
import { endInFlight, keepAdminsSafe } from './keeper';
import { type ObservedSafe, observeSafes } from './observe';

/** How often it looks whether something is to be looked at, in milliseconds. */
const POLL_MS = 500;
/** What its owners can change is read so often, what is in flight more often; in milliseconds. */
const EVERY_MS = 60_000;
const IN_FLIGHT_MS = 1_500;
const FAILED_MS = 6_000;
/** Existing accounts of an organization get the module one after the other: payments share the relayer. In milliseconds. */
const NEXT_ACCOUNT_MS = 1_000;
/** An account that is being deployed, in milliseconds. */
const DEPLOYING_MS = 5_000;
/**
 * An account that has the module is read so often, to see whether it was taken over; and an organization of which nothing is to be
 * kept: what it seals wakes it. In milliseconds.
 */
const RARELY_MS = 600_000;
const AT_ONCE = 4;
/** When the table of those that are admitted is read, in the agenda. */
const ADMITTED = 'admitted';

const unread = (status: 'impossible' | 'unknown', reason: string): SafeStatus => ({
  ...{ status, reason, owners: null, threshold: null, sequence: null },
});

/** The message of what is tried again; throws anything else. */
function reasonOf(context: SignerContext, error: unknown): string {
  if (error instanceof SignerRefusal) {
    reportRefusal(context, error instanceof TemporaryRefusal ? error.reason : error.code, error.message);
  } else if (!(error instanceof ChainUnavailable)) throw error;
  return error.message;
}

/** What was verified last and nothing was sealed since: whoever has the tables cannot hold this back. */
const lastSealed = ({ db, readSealedState }: SignerContext, organizationId: string) =>
  readSealedState(db, organizationId, { remembered: true });

const accountsOn = ({ accounts }: OrganizationState, { id }: NetworkConfig) =>
  Object.values(accounts).filter(({ networkIds }) => networkIds.includes(id));

/** Who is to own the admins' Safe on a network; undefined: nobody, as the admins have none, or no account there. */
function ownersOn({ signerNetworkId }: SignerContext, state: OrganizationState, network: NetworkConfig) {
  if (!state.admins.onChain || accountsOn(state, network).length === 0) return undefined;
  return wantedOwners(adminsOf(state), { id: network.id, signerNetworkId });
}

/** The keeper of an organization and its admins' Safe, as its network has them. Throws ChainUnavailable. */
async function observeKeeper(context: SignerContext, network: NetworkConfig, state: OrganizationState) {
  const admins = deriveAdminsSafe(state);
  const addresses = [admins.keeper.address, admins.safe.address];
  const [keeper, safe] = (await observeSafes(context, network, addresses)) as [ObservedSafe, ObservedSafe];
  return { state, admins, keeper, safe };
}

type Recording = (status: SafeStatus) => Promise<void>;

/** Keeps the admins' Safe of a state. Throws SignerRefusal, TemporaryRefusal and ChainUnavailable. */
async function keepSafeOf(
  context: SignerContext,
  network: NetworkConfig,
  state: OrganizationState,
  record: Recording,
): Promise<number> {
  const wanted = ownersOn(context, state, network);
  if (wanted?.kind === 'owners') {
    const kept = { ...(await observeKeeper(context, network, state)), wanted };
    const { status, inFlight } = await keepAdminsSafe(context, network, kept);
    await record(status);
    return inFlight ? IN_FLIGHT_MS : EVERY_MS;
  }
  if (wanted) await record(unread('impossible', wanted.reason));
  const { keeper } = deriveAdminsSafe(state);
  const isWritten = context.journal.upkeepsOf({ networkId: network.id, safe: keeper.address }).length > 0;
  if (!isWritten) return RARELY_MS;
  const isInFlight = await endInFlight(context, network, await observeKeeper(context, network, state));
  return isInFlight ? IN_FLIGHT_MS : EVERY_MS;
}

/** What is looked after of an organization on a network, until it ends. Returns after how many milliseconds it is to do so again. */
type Keep = (
  context: SignerContext,
  network: NetworkConfig,
  organizationId: string,
  isEnding: () => boolean,
) => Promise<number>;

const keepSafe: Keep = async (context, network, organizationId) => {
  const { db, upkeep } = context;
  const of = { organizationId, networkId: network.id };
  const record = (status: SafeStatus) => {
    upkeep.noteStatus(organizationId, network, status);
    return recordAdminsSafe(db, { ...of, ...status });
  };
  let isKept = false;
  try {
    const { state } = await lastSealed(context, organizationId);
    isKept = state.admins.onChain === true;
    return await keepSafeOf(context, network, state, record);
  } catch (error) {
    const reason = reasonOf(context, error);
    if (isKept) await record(unread('unknown', reason));
    else await recordUnknown(db, { ...of, reason });
    return FAILED_MS;
  }
};

/** Looks after one account; a failure is its own alone. Returns after how many milliseconds it is due again. */
async function keepAccount(
  context: SignerContext,
  network: NetworkConfig,
  { state, accountId, isPossible }: { state: OrganizationState; accountId: string; isPossible: boolean },
): Promise<number> {
  const { db, upkeep } = context;
  const account = deriveAccount(state.signingKey, accountId);
  const of = { state, admins: deriveAdminsSafe(state), accountId, account, networkId: network.id };
  try {
    const [observed] = (await observeSafes(context, network, [account.address])) as [ObservedSafe];
    const rescue = await secureAccount(context, network, of, { ...observed, isPossible });
    upkeep.note(network.id, accountId, { rescue, isPossible });
    await recordRescue(db, { accountId, networkId: network.id, rescue });
    if (rescue === 'none') return EVERY_MS;
    if (rescue !== 'pending') return RARELY_MS;
    // Its deployment brings the module.
    return observed.isPresent ? IN_FLIGHT_MS : DEPLOYING_MS;
  } catch (error) {
    reasonOf(context, error);
    return FAILED_MS;
  }
}

const keepAccounts: Keep = async (context, network, organizationId, isEnding) => {
  const { upkeep, journal } = context;
  let nextMs = RARELY_MS;
  try {
    const { state } = await lastSealed(context, organizationId);
    const isPossible = ownersOn(context, state, network)?.kind === 'owners';
    for (const { id: accountId, address } of accountsOn(state, network)) {
      // Where the admins have no Safe any more, what has taken a nonce still has to be executed.
      const written = () => journal.upkeepsOf({ networkId: network.id, safe: address }).length;
      const before = written();
      if (isEnding()) return nextMs;
      if (!state.admins.onChain && before === 0) continue;
      if (upkeep.isDue(network.id, accountId)) {
        const dueMs = await keepAccount(context, network, { state, accountId, isPossible });
        upkeep.postpone(network.id, accountId, dueMs);
        if (written() > before) return NEXT_ACCOUNT_MS;
      }
      nextMs = Math.min(nextMs, upkeep.dueInMs(network.id, accountId));
    }
    return nextMs;
  } catch (error) {
    reasonOf(context, error);
    return FAILED_MS;
  }
};

/** Keeps something of every organization on each network. Returns the function that stops it. */
function keepEach(context: SignerContext, part: string, keep: Keep): () => Promise<void> {
  const { logger, networks, journal, upkeep } = context;
  const failure = failuresOfNetworks(logger, networks, "the admins' Safes cannot be kept");
  let isEnding = false;
  const round = async (network: NetworkConfig) => {
    const known = new Set(journal.organizationIds());
    if (upkeep.isDue(network.id, `${part}/${ADMITTED}`)) {
      // One that was just admitted is in the journal once it is read first.
      for (const id of (await sealedSequences(context.db)).keys()) known.add(id);
      upkeep.postpone(network.id, `${part}/${ADMITTED}`, EVERY_MS);
    }
    const due = [...known].filter((id) => upkeep.isDue(network.id, `${part}/${id}`));
    await mapLimit(AT_ONCE, due, async (id) => {
      upkeep.postpone(network.id, `${part}/${id}`, EVERY_MS);
      const wakes = upkeep.wakesOf(id);
      const nextMs = await keep(context, network, id, () => isEnding);
      // What was sealed meanwhile waits for nothing.
      upkeep.postpone(network.id, `${part}/${id}`, upkeep.wakesOf(id) === wakes ? nextMs : 0);
    });
  };
  const stop = keepPolling(networks, POLL_MS, (network) =>
    round(network).then(failure(network.id).succeeded, failure(network.id).failed),
  );
  return () => {
    isEnding = true;
    return stop();
  };
}

/**
 * Keeps the admins' Safe of every organization equal to its sealed admins, on each network of its accounts, and a module of each
 * account. It asks and waits for nobody: neither Temporal nor a worker; and no Safe waits for the accounts of an organization that has
 * many. Returns the function that stops it.
 */
export function keepAdminsSafes(context: SignerContext): () => Promise<void> {
  const stops = [keepEach(context, 'safe', keepSafe), keepEach(context, 'accounts', keepAccounts)];
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}
