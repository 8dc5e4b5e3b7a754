import type { Address, Hex } from 'viem';
import { headOf } from '../../chain/atNonce';
import { ask, assertChainId, type ChainClient, ChainUnavailable } from '../../chain/clients';
import { executionsWith } from '../../chain/executions';
import { deriveAccount } from '../../chain/safeAccount';
import type { NetworkConfig } from '../../config';
import { isSameAddress } from '../../domain/address';
import type { IndexedAuthorization } from '../journal/journalIndex';
import { reportRefusal, SignerRefusal, TemporaryRefusal } from '../refusal';
import type { SignerContext } from '../signerContext';
import { recordedBlocks } from '../store/signedAuthorizations';
import {
  isSameReading,
  type OutcomeReading,
  RECORD_LIMIT_MS,
  type RecordedOutcome,
  recordOutcome,
  recordRead,
} from './confirmOutcome';

/** Most authorizations of a network that one pass reads. */
const MAX_PER_PASS = 1_000;
/** Most authorizations of a block in one request. */
const MAX_PER_REQUEST = 100;
/** Most authorizations in no recorded block that one pass looks up, one by one. */
const MAX_ALONE_PER_PASS = 8;
/** The least time between two such looks at one authorization. */
const ALONE_EVERY_MS = 600_000;

/** After this many failures the pass ends: the network is unavailable. */
const MAX_FAILURES = 3;

type ShownReading = Pick<OutcomeReading, 'outcome' | 'blockAt'>;

/** An undecided authorization, and the address of its account. */
interface Undecided extends IndexedAuthorization {
  readonly account: Address;
}

/** The block at a height, null where the chain has none. */
async function blockAtHeight(rpc: ChainClient['rpc'], blockNumber: bigint) {
  try {
    return await rpc.getBlock({ blockNumber });
  } catch (error) {
    if ((error as Error).name === 'BlockNotFoundError') return null;
    throw error;
  }
}

/** What executions in one block make of authorizations, by one endpoint. Throws ChainUnavailable. */
async function decisionsIn(
  { journal }: SignerContext,
  chain: ChainClient,
  blockNumber: bigint,
  all: readonly Undecided[],
): Promise<ReadonlyMap<string, ShownReading>> {
  const [head, block] = await Promise.all([
    headOf(chain),
    ask(chain, (rpc) => blockAtHeight(rpc, blockNumber)),
    assertChainId(chain),
  ]);
  if (!block || head < blockNumber + BigInt(chain.network.confirmations)) return new Map();
  const blockAt = new Date(Number(block.timestamp) * 1_000);
  const cancelledBy = (id: string) => journal.cancellationOf(id)?.safeTxHash;
  const found = await executionsWith(chain, {
    accounts: [...new Set(all.map(({ account }) => account))],
    safeTxHashes: all.flatMap(
      ({ transactionId, safeTxHash }) => [safeTxHash, cancelledBy(transactionId) ?? []].flat() as Hex[],
    ),
    from: blockNumber,
    to: blockNumber,
  });
  const decisions = new Map<string, ShownReading>();
  for (const one of found) {
    const of = all.find(
      ({ transactionId, account, safeTxHash }) =>
        isSameAddress(one.account, account) &&
        (one.safeTxHash === safeTxHash || one.safeTxHash === cancelledBy(transactionId)),
    );
    if (!of || one.blockHash !== block.hash) continue;
    const executed = one.kind === 'success' ? 'executed' : 'reverted';
    const outcome = one.safeTxHash === of.safeTxHash ? executed : 'cancelled';
    decisions.set(of.transactionId, { outcome, blockAt });
  }
  return decisions;
}

/** What all endpoints of the signer say of authorizations that the database shows in one block. Throws ChainUnavailable. */
async function readBlock(
  context: SignerContext,
  network: NetworkConfig,
  blockNumber: bigint,
  all: readonly Undecided[],
): Promise<void> {
  const { journal } = context;
  for (const { transactionId } of all) context.lastLooks.set(transactionId, performance.now());
  const before = new Map(all.map(({ transactionId: id }) => [id, journal.outcomeOf(id)]));
  const answers = await Promise.all(
    context.endpointsOf(network).map((chain) => decisionsIn(context, chain, blockNumber, all)),
  );
  const readAt = performance.now();
  const [first, ...others] = answers;
  const read = all.flatMap(({ organizationId, transactionId }): RecordedOutcome[] => {
    const one = first?.get(transactionId);
    const isAgreed = one && others.every((other) => isSameReading(other.get(transactionId), one));
    return isAgreed ? [{ ref: { organizationId, transactionId }, read: one }] : [];
  });
  const isCurrent = ({ ref: { transactionId: id } }: RecordedOutcome) =>
    journal.outcomeOf(id) === before.get(id);
  const isLate = () => performance.now() - readAt > RECORD_LIMIT_MS;
  if (read.length > 0) {
    await recordRead(context, network.id, () => (isLate() ? [] : read.filter(isCurrent)));
  }
}

/** The undecided authorizations of a network, those that were looked up longest ago first. */
function undecidedOn({ journal, keystore, lastLooks }: SignerContext, networkId: number): Undecided[] {
  const lookedAt = (id: string) => lastLooks.get(id) ?? Number.NEGATIVE_INFINITY;
  return journal
    .undecidedIds()
    .flatMap((id) => journal.authorizationOf(id) ?? [])
    .filter((one) => one.networkId === networkId)
    .sort((one, other) => lookedAt(one.transactionId) - lookedAt(other.transactionId))
    .slice(0, MAX_PER_PASS)
    .map((one) => {
      const { address } = deriveAccount(keystore.organizationKey(one.organizationId).address, one.accountId);
      return { ...one, account: address as Address };
    });
}

/** Looks up, one by one, what the database shows in no block. Throws ChainUnavailable. */
async function lookUpAlone(context: SignerContext, all: readonly Undecided[]): Promise<void> {
  const since = performance.now() - ALONE_EVERY_MS;
  const due = all.filter(({ transactionId }) => (context.lastLooks.get(transactionId) ?? since) <= since);
  for (const { organizationId, transactionId } of due.slice(0, MAX_ALONE_PER_PASS)) {
    try {
      await recordOutcome(context, { organizationId, transactionId });
    } catch (error) {
      // The database lies or was rolled back: others can be read.
      if (!(error instanceof SignerRefusal)) throw error;
      if (error instanceof TemporaryRefusal) reportRefusal(context, error.reason, error.message);
    }
  }
}

/**
 * Reads what became of authorizations soon after the database shows them in a block, all of a block together, without
 * delaying payments: an amount counts in its budget until the signer has read its outcome, and nodes drop old logs. What the
 * database shows in no block is looked up every `ALONE_EVERY_MS`. Throws ChainUnavailable.
 */
export async function readOutcomes(context: SignerContext, network: NetworkConfig): Promise<void> {
  if (context.endpointsOf(network).length === 0) return;
  const all = undecidedOn(context, network.id);
  if (all.length === 0) return;
  const blocks = await recordedBlocks(
    context.db,
    all.map(({ transactionId }) => transactionId),
  );
  let failures = 0;
  for (const blockNumber of new Set(blocks.values())) {
    const of = all.filter(({ transactionId }) => blocks.get(transactionId) === blockNumber);
    for (let from = 0; from < of.length; from += MAX_PER_REQUEST) {
      try {
        await readBlock(context, network, blockNumber, of.slice(from, from + MAX_PER_REQUEST));
      } catch (error) {
        // A node may not have this one block any more, and have others.
        failures += 1;
        if (!(error instanceof ChainUnavailable) || failures >= MAX_FAILURES) throw error;
      }
    }
  }
  await lookUpAlone(
    context,
    all.filter(({ transactionId }) => context.journal.outcomeOf(transactionId)?.outcome == null),
  );
}
