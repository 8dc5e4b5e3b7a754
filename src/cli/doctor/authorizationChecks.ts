import type { Address, Hex } from 'viem';
import { headOf, outcomeKindOf } from '../../chain/atNonce';
import { type ChainClient, ChainUnavailable } from '../../chain/clients';
import { BLOCKS_AT_ONCE, executionsWith, type FoundExecution, firstSearched } from '../../chain/executions';
import { accountNonce } from '../../chain/safe';
import { type RecordedAuthorization, recordedAuthorizations } from '../../db/authorizations';
import type { Db } from '../../db/database';
import { mapLimit } from '../../mapLimit';
import { count } from '../text';
import { ANSWER_LIMIT_MS, type Finding, fail, firstOf, ok, warn } from './finding';

/** The most authorizations of a network that are compared. */
const MAX_COMPARED = 10_000;
/** The most hashes that one request asks for; nodes allow some hundreds. */
const HASHES_AT_ONCE = 100;
/** The most requests for logs, and for nonces of accounts, to one network. */
const MAX_LOG_REQUESTS = 60;
const MAX_NONCE_REQUESTS = 200;
const AT_ONCE = 10;
/** After this nothing more is asked, so that what was found is reported before the check has to end; in milliseconds. */
const LIMIT_MS = ANSWER_LIMIT_MS / 3;
/** A nonce that something else has just used may be a block that the node shows late. */
const RECENT_MS = 10 * 60_000;

/** What was found on chain about one authorization. */
export interface Looked {
  readonly of: RecordedAuthorization;
  /** The execution of it, of its cancellation, or of what is recorded as unknown; null when there is none where it was looked for. */
  readonly found: FoundExecution | null;
  /** Whether the account's nonce is beyond its own; null where that was not asked. */
  readonly used: boolean | null;
  /** Whether every block was searched in which it can be. */
  readonly complete: boolean;
  /** Whether the node is behind the block in which it is recorded. */
  readonly isAhead: boolean;
}

/** How an authorization compares with its chain. */
type AuthorizationComparison =
  /** The chain shows what is recorded. */
  | 'same'
  /** Neither has an outcome. */
  | 'open'
  /** The chain has decided, with all confirmations, and it is not recorded yet. */
  | 'unread'
  /** Something is recorded that the chain does not show. */
  | 'missing'
  | 'different'
  /** Something else has used its nonce. */
  | 'taken'
  /** Recorded in a block that the node does not have yet. */
  | 'ahead'
  | 'unknown';

/** How one that was not found compares with its chain. */
function withoutExecution({ of, used, complete, isAhead }: Looked): AuthorizationComparison {
  if (isAhead) return 'ahead';
  if (of.outcome !== null) {
    // What is recorded is looked for in its block first.
    return used === false || complete || of.blockNumber !== null ? 'missing' : 'unknown';
  }
  if (used === null) return 'unknown';
  if (!used) return 'open';
  return complete ? 'taken' : 'unknown';
}

/** Compares one authorization with what was found. `confirmed`: the newest block that has the network's confirmations. */
export function comparisonOf(looked: Looked, confirmed: bigint): AuthorizationComparison {
  const { of, found } = looked;
  if (!found) return withoutExecution(looked);
  if (of.outcome !== null)
    return outcomeKindOf({ transaction: of }, found) === of.outcome ? 'same' : 'different';
  return found.blockNumber <= confirmed ? 'unread' : 'open';
}

/** What doctor says about a network. */
export function authorizationFindings(
  { id, confirmed, total }: { readonly id: number; readonly confirmed: bigint; readonly total: number },
  looked: readonly Looked[],
  now = Date.now(),
): Finding[] {
  const part = `authorizations ${id}`;
  const by = new Map<AuthorizationComparison, RecordedAuthorization[]>();
  for (const one of looked) {
    const comparison = comparisonOf(one, confirmed);
    by.set(comparison, [...(by.get(comparison) ?? []), one.of]);
  }
  const of = (comparison: AuthorizationComparison) => by.get(comparison) ?? [];
  const shown = (list: readonly RecordedAuthorization[]) =>
    firstOf(
      list.map(({ transactionId, outcome }) => (outcome ? `${transactionId} (${outcome})` : transactionId)),
    );
  const isRecent = ({ authorizedAt }: RecordedAuthorization) => now - authorizedAt.getTime() < RECENT_MS;
  const [recent, old] = [of('taken').filter(isRecent), of('taken').filter((one) => !isRecent(one))];
  const [todo, wait] = ['see "An outcome is not on chain" in the runbook', 'run doctor again in a minute'];
  const some = (list: readonly RecordedAuthorization[], finding: (text: string) => Finding) =>
    list.length === 0 ? [] : [finding(shown(list))];
  const findings = [
    ...some(of('missing'), (ids) => fail(part, `recorded, and not on chain: ${ids}`, todo)),
    ...some(of('different'), (ids) =>
      fail(part, `the chain shows another outcome than recorded: ${ids}`, todo),
    ),
    ...some(old, (ids) => fail(part, `something else has used the nonce of ${ids}`, todo)),
    ...some(recent, (ids) => warn(part, `something else has used the nonce of ${ids}`, wait)),
    ...some(of('unread'), (ids) => warn(part, `decided on chain, and not recorded yet: ${ids}`, wait)),
    ...some(of('ahead'), (ids) =>
      warn(
        part,
        `recorded in blocks that its node does not have yet: ${ids}`,
        `${wait}; then check the node`,
      ),
    ),
  ];
  if (findings.length > 0) return findings;
  const compared = looked.length - of('unknown').length;
  const open = of('open').length;
  const those =
    compared < total ? `${compared} of ${total} compared` : count(total, 'authorization', 'authorizations');
  const undecided = open === 0 ? '' : `, ${open} undecided`;
  return [ok(part, total === 0 ? 'none yet' : `${those}${undecided}: the chain shows what is recorded`)];
}

/** How much may still be asked of a network. */
interface Allowance {
  requests: number;
  readonly untilMs: number;
}

function take(allowance: Allowance): boolean {
  if (allowance.requests <= 0 || performance.now() >= allowance.untilMs) return false;
  allowance.requests -= 1;
  return true;
}

const hashesOf = ({ safeTxHash, cancellationHash, unknownHash }: RecordedAuthorization) =>
  [safeTxHash, cancellationHash, unknownHash].filter((hash) => hash !== null) as Hex[];

type Found = Map<string, FoundExecution>;

async function search(
  chain: ChainClient,
  wanted: readonly RecordedAuthorization[],
  { from, to }: { from: bigint; to: bigint },
  found: Found,
): Promise<void> {
  const accounts = [...new Set(wanted.map(({ address }) => address as Address))];
  const safeTxHashes = wanted.flatMap(hashesOf);
  for (const one of await executionsWith(chain, { accounts, safeTxHashes, from, to })) {
    found.set(one.safeTxHash, one);
  }
}

/** Splits what has a recorded block into groups that one request each answers; the newest first. */
export function groupsByBlock<T extends { readonly blockNumber: bigint | null }>(
  authorizations: readonly T[],
): T[][] {
  const sorted = authorizations
    .filter(({ blockNumber }) => blockNumber !== null)
    .sort((a, b) => Number((b.blockNumber ?? 0n) - (a.blockNumber ?? 0n)));
  const groups: T[][] = [];
  for (const one of sorted) {
    const group = groups.at(-1);
    const newest = group?.[0]?.blockNumber ?? 0n;
    const fits = group && group.length < HASHES_AT_ONCE && newest - (one.blockNumber ?? 0n) < BLOCKS_AT_ONCE;
    if (fits) group.push(one);
    else groups.push([one]);
  }
  return groups;
}

/** Looks for what is recorded, in its block. Returns those that were not asked for. */
async function searchRecorded(
  chain: ChainClient,
  authorizations: readonly RecordedAuthorization[],
  { allowance, found }: { allowance: Allowance; found: Found },
): Promise<Set<RecordedAuthorization>> {
  const skipped = new Set<RecordedAuthorization>();
  await mapLimit(AT_ONCE, groupsByBlock(authorizations), async (group) => {
    const [to, from] = [group[0]?.blockNumber ?? 0n, group.at(-1)?.blockNumber ?? 0n];
    if (take(allowance)) await search(chain, group, { from, to }, found);
    else for (const one of group) skipped.add(one);
  });
  return skipped;
}

/** Searches the newest blocks, back to the first in which any of these can be. Returns the first that was searched. */
async function searchBack(
  chain: ChainClient,
  wanted: readonly RecordedAuthorization[],
  { head, allowance, found }: { head: bigint; allowance: Allowance; found: Found },
): Promise<bigint> {
  let searched = head + 1n;
  while (searched > 0n) {
    const left = wanted.filter((one) => {
      const since = firstSearched(one.fromBlock);
      return since < searched && !hashesOf(one).some((hash) => found.has(hash));
    });
    const asked = left.slice(0, HASHES_AT_ONCE);
    if (asked.length === 0 || !take(allowance)) break;
    const from = searched > BLOCKS_AT_ONCE ? searched - BLOCKS_AT_ONCE : 0n;
    await search(chain, asked, { from, to: searched - 1n }, found);
    // What did not fit into one request stays unsearched from here on.
    if (asked.length < left.length) break;
    searched = from;
  }
  return searched;
}

/** The nonces of the accounts of these, as far as they may be asked; null: there is no contract. */
async function noncesOf(
  chain: ChainClient,
  authorizations: readonly RecordedAuthorization[],
  untilMs: number,
): Promise<ReadonlyMap<string, bigint | null>> {
  const nonces = new Map<string, bigint | null>();
  const allowance: Allowance = { requests: MAX_NONCE_REQUESTS, untilMs };
  await mapLimit(AT_ONCE, [...new Set(authorizations.map(({ address }) => address))], async (address) => {
    if (take(allowance)) nonces.set(address, await accountNonce(chain, address as Address));
  });
  return nonces;
}

/**
 * Looks up authorizations, with a bounded number of requests. `findAtNonce` asks about one nonce, with several requests each: here
 * a hundred hashes are in each request, of thousands of authorizations. Throws ChainUnavailable.
 */
async function lookUp(
  chain: ChainClient,
  authorizations: readonly RecordedAuthorization[],
  { head, untilMs }: { head: bigint; untilMs: number },
): Promise<Looked[]> {
  const found: Found = new Map();
  const executionOf = (of: RecordedAuthorization) =>
    hashesOf(of).flatMap((hash) => found.get(hash) ?? [])[0] ?? null;
  const unplaced = authorizations.filter(({ blockNumber }) => blockNumber === null);
  const nonces = await noncesOf(chain, unplaced, untilMs);
  const usedOf = ({ address, safeNonce }: RecordedAuthorization) => {
    const nonce = nonces.get(address);
    return nonce === undefined ? null : nonce !== null && nonce > safeNonce;
  };
  const allowance: Allowance = { requests: MAX_LOG_REQUESTS, untilMs };
  const recent = { requests: MAX_LOG_REQUESTS / 2, untilMs };
  const wanted = unplaced.filter((one) => usedOf(one) === true);
  const searched = await searchBack(chain, wanted, { head, allowance: recent, found });
  const skipped = await searchRecorded(chain, authorizations, { allowance, found });
  return authorizations.flatMap((of): Looked[] => {
    if (skipped.has(of)) return [];
    const complete = usedOf(of) === true && searched <= firstSearched(of.fromBlock);
    const isAhead = of.blockNumber !== null && of.blockNumber > head;
    return [{ of, found: executionOf(of), used: usedOf(of), complete, isAhead }];
  });
}

/** Looks up every authorization of a network on chain, by its safeTxHash. */
export async function checkAuthorizations(chain: ChainClient, db: Db): Promise<Finding[]> {
  const untilMs = performance.now() + LIMIT_MS;
  const { id, confirmations } = chain.network;
  const { authorizations, total } = await recordedAuthorizations(db, id, MAX_COMPARED);
  try {
    const head = await headOf(chain);
    const looked = await lookUp(chain, authorizations, { head, untilMs });
    return authorizationFindings({ id, confirmed: head - BigInt(confirmations), total }, looked);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    const those = count(total, 'authorization', 'authorizations');
    return [warn(`authorizations ${id}`, `${those} not compared: ${error.message}`, 'see the network above')];
  }
}
