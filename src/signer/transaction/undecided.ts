import { ChainUnavailable } from '../../chain/clients';
import type { TransactionSnapshot } from '../../db/storedTransactions';
import { isExpired } from '../../domain/approval';
import type { TransactionRef } from '../../domain/transaction';
import { mapLimit } from '../../mapLimit';
import type { IndexedAuthorization } from '../journal/journalIndex';
import { SignerRefusal, TemporaryRefusal } from '../refusal';
import type { SignerContext } from '../signerContext';
import { undecidedAuthorizations } from '../store/signedAuthorizations';
import { recordOutcome } from './confirmOutcome';
import { BudgetBehind } from './journaled';
import { networkAndPolicyOf } from './record';
import type { ReplacedOutcomeUnavailable } from './replacements';

/** How many authorizations are looked up when a budget is used up, and how many of them at once. */
const LOOKED_UP = 100;
const LOOKED_UP_AT_ONCE = 8;

/**
 * Looks up what became of undecided authorizations of a policy, by the journal or by the table, those that were looked up
 * longest ago first: until the signer has read it, they count in every window. True when that has changed for one of them.
 */
async function decideUndecided(
  context: SignerContext,
  { organizationId }: TransactionRef,
  policyId: string,
): Promise<boolean> {
  const { db, journal, lastLooks } = context;
  const stored = await undecidedAuthorizations(db, { policyId, limit: LOOKED_UP });
  const ids = new Set([
    ...journal.undecidedIds(policyId),
    ...stored.map(({ transactionId }) => transactionId),
  ]);
  const lookedAt = (id: string) => lastLooks.get(id) ?? 0;
  const longestAgo = [...ids].sort((one, other) => lookedAt(one) - lookedAt(other)).slice(0, LOOKED_UP);
  let hasChanged = false;
  const unavailable: ChainUnavailable[] = [];
  await mapLimit(LOOKED_UP_AT_ONCE, longestAgo, async (transactionId) => {
    const before = journal.outcomeOf(transactionId);
    try {
      const outcome = await recordOutcome(context, { organizationId, transactionId });
      hasChanged ||= outcome !== null || journal.outcomeOf(transactionId) !== before;
    } catch (error) {
      // Of others it may be read.
      if (error instanceof ChainUnavailable) unavailable.push(error);
      else if (!(error instanceof SignerRefusal)) throw error;
    }
  });
  const [first] = unavailable;
  if (first && !hasChanged) throw first;
  return hasChanged;
}

/** Older blocks are not reorganized: an outcome in one needs no search of the logs. */
const LOSABLE_MS = 86_400_000;

/**
 * Reads the outcomes of the others that stand for the same payment again, before the first signature: the chain may have lost
 * a block since. Returns why the transaction waits, where one cannot be read.
 */
export async function decideReplaced(
  context: SignerContext,
  { record, now }: TransactionSnapshot,
  others: readonly IndexedAuthorization[],
): Promise<ReplacedOutcomeUnavailable> {
  const { journal, networks } = context;
  const { id, organizationId } = record;
  if (isExpired(record, now.time) || journal.authorizationOf(id)) return undefined;
  for (const { transactionId, networkId } of others) {
    // What is recorded counts where the network is not configured any more.
    if (!networks.some((network) => network.id === networkId)) continue;
    try {
      const known = journal.outcomeOf(transactionId);
      const search = !known?.outcome || now.time.getTime() - Date.parse(known.blockAt) < LOSABLE_MS;
      await recordOutcome(context, { organizationId, transactionId }, { search });
    } catch (error) {
      if (!(error instanceof ChainUnavailable || error instanceof SignerRefusal)) throw error;
      const message = `transaction ${id} replaces ${transactionId}, whose outcome the signer cannot read now: ${error.message}`;
      return new TemporaryRefusal('undecided', message);
    }
  }
  return undefined;
}

/** Reads the outcomes of a policy whose budget refuses. Throws the refusal where that changes nothing. */
export async function readOutcomesOfBudget(
  context: SignerContext,
  ref: TransactionRef,
  refusal: SignerRefusal,
) {
  if (refusal.code !== 'budget' && !(refusal instanceof BudgetBehind)) throw refusal;
  const { policyId } = await networkAndPolicyOf(context.db, ref);
  if (!(await decideUndecided(context, ref, policyId))) throw refusal;
}
