import { nativeAmount } from './chain/nativeAmount';
import { readRelayerBalances } from './chain/relayerFunds';
import { SharedReads } from './chain/sharedReads';
import type { Clients } from './clients';
import type { ListedPart } from './contract/partContract';
import { readLastSeen } from './db/lastSeen';
import { listRelayersInUse } from './db/relayers';
import {
  PART_OF_ROLE,
  POLLING_ROLES,
  type PollingRole,
  type SeenRole,
  seenRole,
  silentText,
} from './domain/lastSeen';
import { type CheckedPart, type CheckedParts, type PartState, PartUnknown, statesOf } from './parts';
import { polledQueues } from './temporal/polledQueues';

/** How long others get the same answer, in milliseconds. */
const SEEN_MS = 1_000;
const FUNDS_MS = 10_000;
const LISTED_MS = 5_000;
/** How long a part is waited for that is listed for clients, in milliseconds. */
const LISTED_LIMIT_MS = 5_000;

/** Runs `read`; what it cannot read without the database is unknown. */
async function orUnknown<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new PartUnknown('the database does not answer', { cause: error });
  }
}

/** The processes of a role, wherever they run, by what they and the lease of the signer say. */
function rolePart(
  role: PollingRole,
  { config, sender }: Clients,
  read: () => ReturnType<typeof readLastSeen>,
): CheckedPart {
  const names = polledQueues(
    sender.queues,
    config.networks.map(({ id }) => id),
  )[role];
  let seen: SeenRole | undefined;
  return {
    isRequired: false,
    async check() {
      seen = seenRole(role, names, await orUnknown(read));
      const silent = silentText(seen);
      if (silent !== undefined) throw new Error(silent);
    },
    shown: () => ({
      lastSeen: seen?.lastSeen ?? null,
      queues: Object.fromEntries((seen?.queues ?? []).map(({ name, lastSeen }) => [name, lastSeen])),
    }),
  };
}

/** The relayers of a network: up while each can pay for a deployment. */
function relayersPart({ db, chains, config }: Clients, networkId: number): CheckedPart {
  const reads = new SharedReads<Awaited<ReturnType<typeof readRelayerBalances>>>(FUNDS_MS);
  const read = async () => {
    const relayers = await orUnknown(() => listRelayersInUse(db, config.networks));
    const own = relayers.filter((relayer) => relayer.networkId === networkId);
    const chain = chains.get(networkId);
    const balances = await readRelayerBalances(new Map(chain ? [[networkId, chain]] : []), own);
    if (own.length > balances.length) throw new PartUnknown('the network does not answer');
    return balances;
  };
  return {
    isRequired: false,
    async check() {
      const empty = (await reads.read('', read)).filter(({ funds }) => funds === 'empty');
      if (empty.length === 0) return;
      const texts = empty.map(({ network, address, wei }) => `${address} has ${nativeAmount(network, wei)}`);
      throw new Error(`too little for a deployment: ${texts.join(', ')}`);
    },
  };
}

/** The parts of the installation, whichever process runs them: the roles, and the relayers of each network. */
export function installationParts(clients: Clients): CheckedParts {
  const seen = new SharedReads<Awaited<ReturnType<typeof readLastSeen>>>(SEEN_MS);
  const read = () => seen.read('', () => readLastSeen(clients.db));
  const roles = POLLING_ROLES.map((role) => [PART_OF_ROLE[role], rolePart(role, clients, read)]);
  const relayers = clients.config.networks.map(({ id }) => [`relayers:${id}`, relayersPart(clients, id)]);
  return Object.fromEntries([...roles, ...relayers]);
}

/** What is said to clients: an error of a network or of Temporal may name its address. */
const REASONS = { network: 'no endpoint answers', temporal: 'Temporal does not answer' } as const;

function listed(name: string, { status, reason, lastSeen }: PartState): ListedPart {
  const [kind = name, id] = name.split(':');
  const part = (kind === 'chain worker' ? 'chainWorker' : kind) as ListedPart['part'];
  const said = part === 'network' || part === 'temporal' ? REASONS[part] : (reason ?? null);
  return {
    part,
    networkId: id === undefined ? null : Number(id),
    status,
    reason: status === 'down' ? said : null,
    lastSeen,
  };
}

/** Reads the state of parts for clients of the API: every few seconds at most, however many ask. */
export function createReadParts(parts: CheckedParts): () => Promise<readonly ListedPart[]> {
  const reads = new SharedReads<readonly ListedPart[]>(LISTED_MS);
  return () =>
    reads.read('', async () => {
      const { parts: states } = await statesOf(parts, LISTED_LIMIT_MS);
      return Object.entries(states).map(([name, state]) => listed(name, state));
    });
}
