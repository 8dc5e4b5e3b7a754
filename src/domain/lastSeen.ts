/** The roles that poll task queues. */
export const POLLING_ROLES = ['worker', 'chain', 'signer'] as const;
export type PollingRole = (typeof POLLING_ROLES)[number];

/** How often a process notes that it polls, in milliseconds. */
export const HEARTBEAT_MS = 5_000;
/** A process that has noted nothing for so long polls no more, in milliseconds: several beats, on a busy machine too. */
export const SILENT_MS = 20_000;

/** When somebody was seen last, by the database's clock; null: never. */
export interface Seen {
  readonly lastSeen: Date | null;
  /** It was seen a moment ago, and has not ended since. */
  readonly isUp: boolean;
}

/** Who was seen when: each task queue, by the processes that poll it, and whoever has the lease of the signer. */
export interface LastSeen {
  /** When this was read, by the database's clock. */
  readonly at: Date;
  readonly queues: ReadonlyMap<string, Seen>;
  readonly signer: Seen;
}

/** A role of the installation, with the task queues that its processes poll. */
export interface SeenRole extends Seen {
  readonly role: PollingRole;
  readonly queues: readonly (Seen & { readonly name: string })[];
}

/** The name of a role as a part of the installation. */
export const PART_OF_ROLE: { readonly [R in PollingRole]: string } = {
  worker: 'worker',
  chain: 'chain worker',
  signer: 'signer',
};

const NEVER: Seen = { lastSeen: null, isUp: false };

/** The earliest of some times; null where one is. */
function earliest(seen: readonly Seen[]): Date | null {
  const times = seen.map(({ lastSeen }) => lastSeen?.getTime() ?? 0);
  const first = Math.min(...times);
  return first === 0 ? null : new Date(first);
}

/** What is known of a role that polls some task queues. The signer polls all of its own for as long as it has the lease. */
export function seenRole(
  role: PollingRole,
  names: readonly string[],
  { queues, signer }: LastSeen,
): SeenRole {
  const seen = names.map((name) => ({ name, ...(role === 'signer' ? signer : (queues.get(name) ?? NEVER)) }));
  const silent = seen.filter(({ isUp }) => !isUp);
  return {
    role,
    queues: seen,
    isUp: silent.length === 0,
    lastSeen: earliest(silent.length > 0 ? silent : seen),
  };
}

/** That nobody polls some queues of a role, in words; undefined where all are polled. */
export function silentText({ queues }: Pick<SeenRole, 'queues'>): string | undefined {
  const idle = queues.filter(({ isUp }) => !isUp).map(({ name }) => name);
  return idle.length === 0 ? undefined : `no process polls ${idle.join(', ')}`;
}
