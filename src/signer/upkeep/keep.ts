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
import { keepAdminsSafe } from './keeper';
import { type ObservedSafe, observeSafes } from './observe';

/** How often it looks whether something is to be looked at, in milliseconds. */
const POLL_MS = 500;
/** Whatever happens elsewhere, each organization is looked at so often; what is in flight more often; in milliseconds. */
const EVERY_MS = 60_000;
const IN_FLIGHT_MS = 1_500;
const FAILED_MS = 6_000;
/** An account that is being deployed, in milliseconds. */
const DEPLOYING_MS = 5_000;
/** An account that has the module is read so often, to see whether it was taken over. */
const READY_EVERY_MS = 600_000;
const AT_ONCE = 4;
/** When the table of those that are admitted is read, in the agenda. */
const ADMITTED = 'admitted';

const unread = (status: 'impossible' | 'unknown', reason: string): SafeStatus => ({
  ...{ status, reason, owners: null, threshold: null, sequence: null },
});

/** Looks after the accounts of an organization on a network. Returns after how many milliseconds it is to do so again. */
async function keepAccounts(
  context: SignerContext,
  network: NetworkConfig,
  state: OrganizationState,
  isPossible: boolean,
): Promise<number> {
  const { upkeep, db, journal } = context;
  const networkId = network.id;
  const accounts = Object.values(state.accounts).filter(({ networkIds }) => networkIds.includes(networkId));
  let nextMs = EVERY_MS;
  for (const { id: accountId } of accounts) {
    const account = deriveAccount(state.signingKey, accountId);
    // Where the admins have no Safe any more, what has taken a nonce still has to be executed.
    const isTaken = journal.upkeepsOf({ networkId, safe: account.address }).length > 0;
    if (!upkeep.isDue(networkId, accountId) || !(state.admins.onChain || isTaken)) continue;
    const [observed] = await observeSafes(context, network, [account.address]);
    if (!observed) continue;
    const of = { state, admins: deriveAdminsSafe(state), accountId, account, networkId };
    const rescue = await secureAccount(context, network, of, { ...observed, isPossible });
    // Its deployment brings the module.
    const pendingMs = observed.isPresent ? IN_FLIGHT_MS : DEPLOYING_MS;
    nextMs = rescue === 'pending' ? Math.min(nextMs, pendingMs) : nextMs;
    upkeep.note(networkId, accountId, rescue, rescue === 'pending' ? 0 : READY_EVERY_MS);
    await recordRescue(db, { accountId, networkId, rescue });
  }
  return nextMs;
}

type Recording = (status: SafeStatus) => Promise<void>;

/** The same, of one that has an admins' Safe. Throws SignerRefusal, TemporaryRefusal and ChainUnavailable. */
async function keepOnChain(
  context: SignerContext,
  network: NetworkConfig,
  state: OrganizationState,
  record: Recording,
): Promise<number> {
  const { signerNetworkId } = context;
  const wanted = wantedOwners(adminsOf(state), { id: network.id, signerNetworkId });
  if (wanted.kind === 'impossible') {
    await record(unread('impossible', wanted.reason));
    return keepAccounts(context, network, state, false);
  }
  const admins = deriveAdminsSafe(state);
  const addresses = [admins.keeper.address, admins.safe.address];
  const [keeper, safe] = (await observeSafes(context, network, addresses)) as [ObservedSafe, ObservedSafe];
  const kept = { state, admins, wanted, keeper, safe };
  const { status, inFlight } = await keepAdminsSafe(context, network, kept);
  await record(status);
  const accountsMs = await keepAccounts(context, network, state, true);
  return inFlight ? IN_FLIGHT_MS : accountsMs;
}

/** The message of what is tried again; throws anything else. */
function reasonOf(context: SignerContext, error: unknown): string {
  if (error instanceof SignerRefusal) {
    reportRefusal(context, error instanceof TemporaryRefusal ? error.reason : error.code, error.message);
  } else if (!(error instanceof ChainUnavailable)) throw error;
  return error.message;
}

/** Looks after an organization on a network. Returns after how many milliseconds it does so again. */
async function keepOrganization(
  context: SignerContext,
  network: NetworkConfig,
  organizationId: string,
): Promise<number> {
  const { db, readSealedState, upkeep } = context;
  const of = { organizationId, networkId: network.id };
  const record = (status: SafeStatus) => {
    upkeep.noteStatus(organizationId, network, status);
    return recordAdminsSafe(db, { ...of, ...status });
  };
  let isKept = false;
  try {
    // What was verified last and nothing was sealed since: whoever has the tables cannot hold this back.
    const { state } = await readSealedState(db, organizationId, { remembered: true });
    isKept = state.admins.onChain === true;
    const isUsed = Object.values(state.accounts).some(({ networkIds }) => networkIds.includes(network.id));
    if (!isUsed) return EVERY_MS;
    if (!isKept) return await keepAccounts(context, network, state, false);
    return await keepOnChain(context, network, state, record);
  } catch (error) {
    const reason = reasonOf(context, error);
    if (isKept) await record(unread('unknown', reason));
    else await recordUnknown(db, { ...of, reason });
    return FAILED_MS;
  }
}

/**
 * Keeps the admins' Safe of every organization equal to its sealed admins, on each network of its accounts, and a module of each
 * account. It asks and waits for nobody: neither Temporal nor a worker. Returns the function that stops it.
 */
export function keepAdminsSafes(context: SignerContext): () => Promise<void> {
  const { logger, networks, journal, upkeep } = context;
  const failure = failuresOfNetworks(logger, networks, "the admins' Safes cannot be kept");
  const round = async (network: NetworkConfig) => {
    const known = new Set(journal.organizationIds());
    if (upkeep.isDue(network.id, ADMITTED)) {
      // One that was just admitted is in the journal once it is read first.
      for (const id of (await sealedSequences(context.db)).keys()) known.add(id);
      upkeep.postpone(network.id, ADMITTED, EVERY_MS);
    }
    const due = [...known].filter((id) => upkeep.isDue(network.id, id));
    await mapLimit(AT_ONCE, due, async (id) => {
      upkeep.postpone(network.id, id, EVERY_MS);
      const wakes = upkeep.wakesOf(id);
      const nextMs = await keepOrganization(context, network, id);
      // What was sealed meanwhile waits for nothing.
      upkeep.postpone(network.id, id, upkeep.wakesOf(id) === wakes ? nextMs : 0);
    });
  };
  return keepPolling(networks, POLL_MS, (network) =>
    round(network).then(failure(network.id).succeeded, failure(network.id).failed),
  );
}
