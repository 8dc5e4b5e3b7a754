import { type AdminsSafe, bootstrapCall, bootstrapGas, handover, roll } from '../../chain/adminsSafe';
import type { SafeFound } from '../../chain/safeState';
import type { SafeTransaction } from '../../chain/safeTransaction';
import type { NetworkConfig } from '../../config';
import { adminsSafeStatus, adminsSequence, type Owners, planOwners } from '../../domain/adminsSafe';
import type { OrganizationState } from '../../domain/governance';
import { failpoint } from '../../failpoints';
import type { UpkeepEntry } from '../journal/entries';
import { SignerRefusal } from '../refusal';
import type { SignerContext } from '../signerContext';
import { storedHashes } from '../store/signedAttempts';
import type { SafeStatus } from '../store/upkeep';
import type { ObservedSafe } from './observe';
import { pursue, type SignedUpkeep, settle, type UpkeepCall, upkeepCallAlone, upkeepEntry } from './pursue';

/** The admins' Safe of an organization on a network with its keeper, as both were read. */
interface KeeperOnChain {
  readonly state: OrganizationState;
  readonly admins: AdminsSafe;
  readonly keeper: ObservedSafe;
  readonly safe: ObservedSafe;
}

/** The same, and who is to own it. */
interface KeptSafe extends KeeperOnChain {
  readonly wanted: Owners;
}

const stateIn = (found: SafeFound) => (found.kind === 'safe' ? found.state : null);

/**
 * Why the keeper is not what was made, or null: it is of the signing key alone, and has signed nothing but what is in the journal, or
 * was before lines of it were lost (`isCutOff`).
 */
function keeperFault(
  { admins, keeper: { confirmed } }: KeeperOnChain,
  { last, isCutOff }: { readonly last: UpkeepEntry | undefined; readonly isCutOff: boolean },
): string | null {
  if (confirmed.kind === 'different') return `its keeper ${admins.keeper.address}: ${confirmed.reason}`;
  const found = stateIn(confirmed);
  if (!found) return null;
  const { owners, threshold, modules, guard, nonce } = found;
  const isOwn = owners.length === 1 && owners[0] === admins.keeper.ownerAddress && threshold === 1;
  if (!isOwn || modules.length > 0 || BigInt(guard) !== 0n) return 'its keeper was changed';
  if (isCutOff || nonce <= (last ? BigInt(last.safeNonce) + 1n : 0n)) return null;
  return `nonce ${nonce} of its keeper is ahead of the journal: its key has signed something else`;
}

/** The call that executes a transaction of the keeper: alone, or with what is missing of both Safes. */
function upkeepCallOf({ admins, keeper, safe }: KeeperOnChain) {
  return (signed: SignedUpkeep): UpkeepCall => {
    const { transaction } = signed;
    if (transaction.safeTxGas > 0n) return upkeepCallAlone(signed);
    const missing = { keeper: !keeper.isPresent, safe: !safe.isPresent };
    return {
      call: bootstrapCall(admins, missing, signed),
      gas: bootstrapGas(transaction, missing),
    };
  };
}

/** What the keeper executes next: the handover of a Safe that it owns, or the steps to the wanted owners; null: nothing. */
function nextContent({ admins, wanted, safe }: KeptSafe, status: SafeStatus['status']) {
  if (status === 'missing') return handover(admins, wanted);
  const found = stateIn(safe.confirmed);
  return status === 'behind' && found ? roll(admins, planOwners(found, wanted)) : null;
}

/** How the admins' Safe is, by what its keeper has written before and what was read. */
function statusOf(kept: KeptSafe, written: readonly UpkeepEntry[], isCutOff: boolean): SafeStatus {
  const { state, admins, wanted, safe } = kept;
  const found = stateIn(safe.confirmed);
  const last = written.at(-1);
  const sequence = written.filter((one) => isDone(kept, one)).at(-1)?.sequence ?? null;
  const seen = { owners: found?.owners ?? null, threshold: found?.threshold ?? null, sequence };
  const fault =
    safe.confirmed.kind === 'different'
      ? `${admins.safe.address}: ${safe.confirmed.reason}`
      : keeperFault(kept, { last, isCutOff });
  if (fault !== null) return { status: 'unknown', ...seen, reason: fault };
  const compared = adminsSafeStatus(found, {
    ...{ keeper: admins.keeper.address, fallbackHandler: admins.safe.fallbackHandler, wanted },
    ...{ sequence: adminsSequence(state), written: sequence },
  });
  const isInFlight = last !== undefined && !isDone(kept, last);
  // What is in flight may be what it lacks.
  if (isInFlight && compared.status === 'diverged') return { status: 'behind', ...seen, reason: null };
  return { ...compared, ...seen };
}

/** The nonce of the keeper, with the network's confirmations. */
const nonceOf = ({ keeper }: KeeperOnChain) => stateIn(keeper.confirmed)?.nonce ?? 0n;

function isDone(kept: KeeperOnChain, { safeNonce }: UpkeepEntry): boolean {
  return BigInt(safeNonce) < nonceOf(kept);
}

/** What its keeper has written, as the journal has it. */
const writtenOn = ({ journal }: SignerContext, network: NetworkConfig, { admins }: KeeperOnChain) =>
  journal.upkeepsOf({ networkId: network.id, safe: admins.keeper.address });

/**
 * Resumes what the keeper has in flight, the first of it first, and records what is done. Returns whether something is. Throws
 * SignerRefusal, TemporaryRefusal and ChainUnavailable.
 */
async function resume(
  context: SignerContext,
  network: NetworkConfig,
  kept: KeeperOnChain,
  written: readonly UpkeepEntry[],
): Promise<boolean> {
  const done = written.filter((one) => isDone(kept, one));
  // A database that has lost some gets all of them back.
  const stored = await storedHashes(
    context.db,
    done.map(({ safeTxHash }) => safeTxHash),
  );
  for (const entry of done) {
    context.upkeep.noteSettled(entry.safeTxHash, true);
    if (entry === done.at(-1) || !stored.has(entry.safeTxHash)) await settle(context, network, entry);
  }
  const next = written.find((one) => !isDone(kept, one));
  if (next) await pursue(context, network, next, upkeepCallOf(kept));
  return next !== undefined;
}

/**
 * Resumes what the keeper has in flight where nobody is to own the admins' Safe any more. Returns whether something is. Throws
 * SignerRefusal, TemporaryRefusal and ChainUnavailable.
 */
export async function endInFlight(
  context: SignerContext,
  network: NetworkConfig,
  kept: KeeperOnChain,
): Promise<boolean> {
  const written = writtenOn(context, network, kept);
  const isCutOff = context.journal.cutoffOf(kept.state.id) !== undefined;
  const fault = keeperFault(kept, { last: written.at(-1), isCutOff });
  return fault === null && resume(context, network, kept, written);
}

/** Throws SignerRefusal for what needs more gas than is ever signed: its nonce would be taken for ever. */
function assertCarriable({ maxGas }: SignerContext, kept: KeptSafe, transaction: SafeTransaction): void {
  const { gas } = upkeepCallOf(kept)({ transaction, signature: '0x' });
  if (gas <= maxGas) return;
  const owners = kept.wanted.owners.length;
  throw new SignerRefusal(
    'reverted',
    `writing ${owners} owners needs ${gas} gas, above the ceiling of ${maxGas} (MAX_GAS)`,
  );
}

/**
 * Keeps the admins' Safe of an organization on a network: one transaction of its keeper at a time, each in the journal before
 * it is signed. Returns how it is, and whether something is in flight. Throws SignerRefusal, TemporaryRefusal and ChainUnavailable.
 */
export async function keepAdminsSafe(
  context: SignerContext,
  network: NetworkConfig,
  kept: KeptSafe,
): Promise<{ readonly status: SafeStatus; readonly inFlight: boolean }> {
  const { state } = kept;
  const { journal } = context;
  const written = writtenOn(context, network, kept);
  const status = statusOf(kept, written, journal.cutoffOf(state.id) !== undefined);
  if (status.status === 'unknown') return { status, inFlight: false };
  if (await resume(context, network, kept, written)) return { status, inFlight: true };
  const content = nextContent(kept, status.status);
  if (!content) return { status, inFlight: false };
  const transaction: SafeTransaction = { ...content, networkId: network.id, nonce: nonceOf(kept) };
  assertCarriable(context, kept, transaction);
  const of = { organizationId: state.id, accountId: null, sequence: adminsSequence(state) };
  const entry = upkeepEntry(of, transaction);
  await journal.append(entry);
  failpoint('signer.upkeepJournaled');
  await pursue(context, network, entry, upkeepCallOf(kept));
  return { status, inFlight: true };
}
