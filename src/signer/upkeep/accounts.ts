import type { Address } from 'viem';
import { type AdminsSafe, deriveAdminsSafe, securing } from '../../chain/adminsSafe';
import { deriveAccount } from '../../chain/safeAccount';
import type { SafeTransaction } from '../../chain/safeTransaction';
import type { NetworkConfig } from '../../config';
import type { Tx } from '../../db/database';
import type { AccountDerivation } from '../../domain/account';
import { type AccountRescue, adminsSequence } from '../../domain/adminsSafe';
import type { OrganizationState } from '../../domain/governance';
import { failpoint } from '../../failpoints';
import type { UpkeepEntry } from '../journal/entries';
import { type SignerContext, withNetwork } from '../signerContext';
import { provideUpkeep, takenOfAccount } from '../store/upkeep';
import type { ObservedSafe } from './observe';
import { pursue, reserveFirst, settle, termsOf, unsigned, upkeepCallAlone, upkeepEntry } from './pursue';

/** An account of which the admins' Safe is to be the module. */
interface ToSecure {
  readonly state: OrganizationState;
  readonly admins: AdminsSafe;
  readonly accountId: string;
  readonly account: AccountDerivation;
  readonly networkId: number;
}

/**
 * The transaction with which an account gets the module, at one of its nonces. It follows from the account and nothing else, so that
 * it is known without a record of it.
 */
export function securingEntry(
  { state, accountId, networkId }: Pick<ToSecure, 'state' | 'accountId' | 'networkId'>,
  nonce: bigint,
): UpkeepEntry {
  const address = deriveAccount(state.signingKey, accountId).address as Address;
  const content = securing(address, deriveAdminsSafe(state));
  const transaction: SafeTransaction = { ...content, networkId, nonce };
  return upkeepEntry({ organizationId: state.id, accountId, sequence: adminsSequence(state) }, transaction);
}

/** What takes a nonce of an account, and its attempt. */
interface TakenNonce {
  readonly entry: UpkeepEntry;
  readonly attemptId: bigint;
}

/**
 * Takes the next nonce of an account for it, while nothing of the account is in flight. Call it with the network locked; the entry
 * goes into the journal before that is committed, so that no row takes a nonce that nobody uses. Undefined: later.
 */
export async function takeNonce(
  { journal, pending }: Pick<SignerContext, 'journal' | 'pending'>,
  tx: Tx,
  of: Pick<ToSecure, 'state' | 'accountId' | 'networkId'>,
  next: bigint,
): Promise<TakenNonce | undefined> {
  const { accountId, networkId } = of;
  const { highest, isDecided, upkeepHash } = await takenOfAccount(tx, of);
  const entry = securingEntry(of, next);
  const isUnjournaled =
    highest === next &&
    upkeepHash === entry.safeTxHash &&
    !journal.takenAt({ accountId, networkId, safeNonce: next });
  const isFree =
    isDecided &&
    (highest ?? -1n) + 1n === next &&
    (journal.highestNonce({ accountId, networkId }) ?? -1n) + 1n === next &&
    pending.highestNonce({ accountId, networkId }) === -1n;
  // Or a crash came before it was in the journal.
  return isFree || isUnjournaled ? { entry, attemptId: await provideUpkeep(tx, entry) } : undefined;
}

/**
 * Whether an account without the module is to get it: where its owners have removed it, or it had too little gas, the service does
 * not fight, and repeats it after a later decision only.
 */
function isDue(state: OrganizationState, done: UpkeepEntry | undefined): boolean {
  return !done || done.sequence < adminsSequence(state);
}

/**
 * Makes the admins' Safe the module of an existing account, at its next free nonce. Returns whether the admins can take it over.
 * Throws SignerRefusal, TemporaryRefusal and ChainUnavailable.
 */
export async function secureAccount(
  context: SignerContext,
  network: NetworkConfig,
  of: ToSecure,
  { confirmed, isPresent, isPossible }: ObservedSafe & { readonly isPossible: boolean },
): Promise<AccountRescue> {
  const { account, admins } = of;
  const written = context.journal.upkeepsOf({ networkId: network.id, safe: account.address });
  if (confirmed.kind === 'different') return 'none';
  if (confirmed.kind === 'missing') {
    const [first] = written;
    // Its deployment brings the module; where a stranger was faster, the transaction alone does.
    if (isPresent && first) await pursue(context, network, first, upkeepCallAlone);
    return 'pending';
  }
  const { owners, modules, nonce } = confirmed.state;
  if (owners.length !== 1 || owners[0] !== account.ownerAddress) return 'takenOver';
  const done = written.filter(({ safeNonce }) => BigInt(safeNonce) < nonce);
  for (const entry of done) await settle(context, network, entry);
  if (isPossible && modules.includes(admins.safe.address)) return 'ready';
  const open = written.find(({ safeNonce }) => BigInt(safeNonce) >= nonce);
  if (!open && !(isPossible && isDue(of.state, done.at(-1)))) return 'none';
  const next = open ?? (await takeAtNonce(context, network, of, nonce));
  if (next) await pursue(context, network, next, upkeepCallAlone);
  return 'pending';
}

/**
 * Takes a nonce of an account, and the next one of its relayer with it: what the account executes after it is behind it there.
 */
async function takeAtNonce(
  context: SignerContext,
  network: NetworkConfig,
  of: ToSecure,
  nonce: bigint,
): Promise<UpkeepEntry | undefined> {
  const entry = securingEntry(of, nonce);
  const upkeepCall = upkeepCallAlone(unsigned(entry));
  const terms = await termsOf(context, network, entry, { upkeepCall });
  return withNetwork(context, network.id, async (tx) => {
    const taken = await takeNonce(context, tx, of, nonce);
    if (!taken) return undefined;
    await reserveFirst(context, tx, taken, { terms, leastGas: upkeepCall.gas });
    await context.journal.append(taken.entry);
    failpoint('signer.securingJournaled');
    return taken.entry;
  });
}
