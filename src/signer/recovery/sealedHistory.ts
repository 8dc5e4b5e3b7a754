import { isSealedHead, openSeal } from '../../chain/signedSeals';
import type { StoredSeal, StoredState } from '../../db/seals';
import type { OrganizationState } from '../../domain/governance';
import { NO_SEAL, type Seal } from '../../domain/seal';
import { decidedState } from '../../operations/change';
import { JournalError } from '../journal/entries';

/** The seals of an organization in order. Throws JournalError unless its seal key has signed them, each after the one before. */
async function openAll(
  sealKey: string,
  organizationId: string,
  stored: readonly StoredSeal[],
): Promise<Seal[]> {
  const seals: Seal[] = [];
  let previousHash = NO_SEAL;
  for (const one of stored) {
    const { sequence } = one;
    const seal = await openSeal(sealKey, one);
    if (seal?.organizationId !== organizationId || seal.sequence !== sequence) {
      throw new JournalError(
        `decision ${sequence} of organization ${organizationId} in the database is not of the seal key in this keystore`,
      );
    }
    if (sequence !== seals.length || seal.previousHash !== previousHash) {
      throw new JournalError(
        `decision ${sequence} of organization ${organizationId} in the database does not follow the one before it`,
      );
    }
    seals.push(seal);
    previousHash = one.hash;
  }
  return seals;
}

/** A state, from when on it was in force (ISO 8601). */
interface Sealed {
  readonly at: string;
  readonly state: OrganizationState;
}

function after(before: OrganizationState | undefined, seal: Seal): OrganizationState {
  if (seal.type === 'genesis') return seal.state;
  const decided = before && decidedState(before, seal);
  if (decided?.ok) return decided.value.state;
  throw new JournalError(
    `decision ${seal.sequence} of organization ${seal.organizationId} in the database does not apply`,
  );
}

/** What the admins of an organization had decided at a time (ISO 8601). */
export type StatesAt = (time: string) => readonly OrganizationState[];

/**
 * The states of an organization by all of its seals, in order: the one at a time, the one before it, which counts for what was
 * decided at that moment, and that of now, under which votes are verified again after a crash. Throws JournalError unless its
 * seal key has signed them.
 */
export async function sealedHistory(
  sealKey: string,
  organizationId: string,
  { seals, now }: { readonly seals: readonly StoredSeal[]; readonly now: StoredState | undefined },
): Promise<StatesAt> {
  const states: Sealed[] = [];
  if (now && !(await isSealedHead(sealKey, now, now.signature))) {
    throw new JournalError(
      `the state of organization ${organizationId} in sealed_states is not of the seal key in this keystore`,
    );
  }
  const latest: OrganizationState | undefined = now && JSON.parse(now.state);
  for (const seal of await openAll(sealKey, organizationId, seals)) {
    states.push({ at: seal.at, state: after(states.at(-1)?.state, seal) });
  }
  return (time) => {
    const next = states.findIndex(({ at }) => at > time);
    const place = (next < 0 ? states.length : next) - 1;
    return [states[place]?.state, states[place - 1]?.state, latest].flatMap((state) => state ?? []);
  };
}
