import type { SigningKeys } from '../chain/keys';
import { isSealedHead, openSeal } from '../chain/signedSeals';
import type { Db, Tx } from '../db/database';
import { findSealedState, listSeals, type StoredState } from '../db/seals';
import type { OrganizationState } from '../domain/governance';
import { setNewest } from '../setNewest';
import { sealEntry } from './journal/entries';
import type { Journal } from './journal/journal';
import { ROLLED_BACK, SignerRefusal, TemporaryRefusal } from './refusal';

/** What the admins of an organization have decided, by the signature of its seal key. */
export interface SealedState {
  readonly state: OrganizationState;
  readonly stored: StoredState;
}

/** Reads sealed states, and verifies each once. */
export interface ReadSealedState {
  (handle: Db | Tx, organizationId: string, options?: ReadOptions): Promise<SealedState>;
  /** Takes a state that was sealed here, and is stored, as verified. */
  readonly remember: (sealed: SealedState) => void;
}

/** How a sealed state is read. */
interface ReadOptions {
  readonly lock?: 'share' | 'update';
  /** The one that was verified last will do, where the journal has none since. */
  readonly remembered?: true;
  /** Reads it with something else; null or undefined: there is none. */
  readonly read?: () => Promise<StoredState | null | undefined>;
}

/** What reading sealed states needs. */
interface Deps {
  readonly keystore: Pick<SigningKeys, 'sealKey'>;
  readonly journal: Pick<Journal, 'latestSealed' | 'append'>;
}

type LatestSealed = ReturnType<Journal['latestSealed']>;

/** What the seal key has signed together, and the signature: where all are as they were verified, nothing is to verify. */
const SIGNED = ['organizationId', 'sequence', 'sealHash', 'state', 'signature'] as const;

/** How many verified states a process keeps. */
const KEPT = 100;

/**
 * Puts seals into the journal that the database has and the journal has not: a crash came in between, or the genesis was
 * admitted. Throws SignerRefusal for a seal that the seal key has not signed.
 */
async function journalSeals(
  { journal }: Deps,
  handle: Db | Tx,
  { state: { id: organizationId, sealKey } }: SealedState,
  after: number,
): Promise<void> {
  const seals = await listSeals(handle, organizationId, { after });
  for (const seal of seals) {
    if (await openSeal(sealKey, seal)) continue;
    throw new SignerRefusal(
      'stale',
      `seal ${seal.sequence} of organization ${organizationId} is not of its seal key`,
    );
  }
  await journal.append(...seals.map(sealEntry));
}

/**
 * Throws TemporaryRefusal where the journal had decisions that the database lacks; adds to it those that it lacked itself.
 * `known`: the latest in the journal before the database was read, so that what is sealed meanwhile is not a rollback.
 */
async function compareWithJournal(
  deps: Deps,
  handle: Db | Tx,
  sealed: SealedState,
  known: LatestSealed,
): Promise<void> {
  const { organizationId, sequence, sealHash } = sealed.stored;
  if (known && (known.sequence > sequence || (known.sequence === sequence && known.hash !== sealHash))) {
    throw new TemporaryRefusal(
      'rollback',
      `the journal has decision ${known.sequence} of organization ${organizationId} (${known.hash}), and the table sealed_states has ${sequence} (${sealHash}): ${ROLLED_BACK}`,
    );
  }
  if (!known || known.sequence < sequence) await journalSeals(deps, handle, sealed, known?.sequence ?? -1);
}

function isLatest({ sequence, sealHash }: StoredState, journaled: LatestSealed): boolean {
  return journaled?.sequence === sequence && journaled.hash === sealHash;
}

/**
 * Creates the function that reads a sealed state. It throws SignerRefusal where there is none, and where what is stored
 * is not what the seal key has signed; TemporaryRefusal where it is older than the journal.
 */
export function createReadSealedState(deps: Deps): ReadSealedState {
  const verified = new Map<string, SealedState>();
  /** A state never takes the place of a later one, in whichever order they were read and verified. */
  const remember = (sealed: SealedState) => {
    const { organizationId, sequence } = sealed.stored;
    if ((verified.get(organizationId)?.stored.sequence ?? -1) > sequence) return;
    setNewest(verified, organizationId, sealed, KEPT);
  };
  const read = async (handle: Db | Tx, organizationId: string, options: ReadOptions = {}) => {
    const journaled = deps.journal.latestSealed(organizationId);
    const known = verified.get(organizationId);
    if (options.remembered && known && isLatest(known.stored, journaled)) return known;
    const stored = await (options.read?.() ?? findSealedState(handle, organizationId, options));
    if (!stored) {
      throw new SignerRefusal('stale', `the genesis of organization ${organizationId} is not admitted`);
    }
    const isKnown = known !== undefined && SIGNED.every((column) => known.stored[column] === stored[column]);
    const { address } = deps.keystore.sealKey(organizationId);
    if (!isKnown && !(await isSealedHead(address, stored, stored.signature))) {
      throw new SignerRefusal(
        'stale',
        `the state of organization ${organizationId} in sealed_states is not the one that was sealed`,
      );
    }
    const sealed = { state: isKnown ? known.state : (JSON.parse(stored.state) as OrganizationState), stored };
    await compareWithJournal(deps, handle, sealed, journaled);
    remember(sealed);
    return sealed;
  };
  return Object.assign(read, { remember });
}
