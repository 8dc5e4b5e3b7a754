import type { Address } from 'viem';
import { ask, assertChainId, type ChainClient, ChainUnavailable } from '../chain/clients';
import { firstBlock } from '../chain/firstBlock';
import type { ScannedAccount } from '../chain/movementLogs';
import { readRange } from '../chain/movementReading';
import {
  type Head,
  movementSource,
  movementSourceInParts,
  RememberingSource,
  readHead,
} from '../chain/movementSource';
import type { ListedToken } from '../chain/tokenList';
import { readToken } from '../chain/tokens';
import type { Db } from '../db/database';
import {
  type Backfill,
  type BackfillProgress,
  findScanPlace,
  holdsScan,
  type JoiningAccount,
  joinScan,
  leaseScan,
  listJoiningAccounts,
  listScanBlocks,
  listScannedAccounts,
  moveBackfill,
  moveScan,
  nextBackfill,
  readBackfillProgress,
  releaseScan,
  type ScanPlace,
} from '../db/movementScans';
import {
  findStoredMovements,
  listUnreadTokens,
  movementIds,
  noteToken,
  verifyMovements,
} from '../db/movements';
import { max, min } from '../domain/bigint';
import type { BlockRange } from '../domain/movementReading';
import { storeReading } from './movementChanges';

// A node that lags behind answers for blocks that it lacks, with nothing: what is new is read again with what comes after it.
/** So many blocks at least. */
const READ_AGAIN = 16n;
/** And all that were new for so long: some networks make many blocks in a second. */
const READ_AGAIN_MS = 60_000;
/** Blocks per reading. One that is refused is followed by one of half as many, one that is quick by one of twice as many. */
const RANGE = { first: 1_000n, least: 16n, most: 32_000n } as const;
const QUICK_MS = 1_000;
/** Accounts that a request names: endpoints limit the topics of a filter. */
const ACCOUNTS = { first: 500, least: 25 } as const;
/** For so long less is asked for, after a request that was refused. */
const REDUCED_MS = 3_600_000;
const CHAIN_ID_MS = 60_000;
const LEASE_MS = 10_000;
const VERIFY_MS = 60_000;
/** Tokens that are asked for what they are, in one pass: nobody's tokens delay a reading. */
const TOKENS_AT_ONCE = 3;

/**
 * What a pass has done: nothing was new, the newest block is read, there is more to be read at once, or nothing was read: another
 * process has the lease, the node lacks blocks, or was only asked which chain it is.
 */
type ScanResult = 'rest' | 'read' | 'behind' | 'unread';

/** What a scanner needs beside its network. */
interface ScannerDeps {
  readonly db: Db;
  readonly tokens: readonly ListedToken[];
  /** Of the process. */
  readonly owner: string;
}

/** Reads the movements of all accounts on one network. */
export class MovementScanner {
  private readonly source: RememberingSource;
  private readonly listed: readonly string[];
  private range: bigint = RANGE.first;
  private accountsAtOnce: number = ACCOUNTS.first;
  /** Whether even the logs of few accounts are refused. */
  private isRefused = false;
  private reducedAt = Number.NEGATIVE_INFINITY;
  private head: Head | undefined;
  /** Blocks that were the newest ones, and when, oldest first: the first of them for long enough. */
  private heads: readonly { readonly number: bigint; readonly at: number }[] = [];
  private leasedAt = Number.NEGATIVE_INFINITY;
  private checkedAt = Number.NEGATIVE_INFINITY;
  private verifiedAt = Number.NEGATIVE_INFINITY;
  /** Whether there may be tokens that were not asked what they are. */
  private hasUnread = true;

  constructor(
    private readonly deps: ScannerDeps,
    private readonly chain: ChainClient,
  ) {
    const [source, inParts] = [movementSource(chain), movementSourceInParts(chain)];
    this.source = new RememberingSource({
      ...source,
      logs: (...of) => (this.isRefused ? inParts : source).logs(...of),
    });
    this.listed = deps.tokens.flatMap(({ networkId, address }) =>
      networkId === chain.network.id ? [address] : [],
    );
  }

  private get networkId(): number {
    return this.chain.network.id;
  }

  /**
   * Reads what is new, up to so many blocks; one request where nothing is. Other processes wait meanwhile. Throws
   * ChainUnavailable.
   */
  async pass(): Promise<ScanResult> {
    if (!(await this.lease())) return 'unread';
    // Instead of the newest block, once in a while.
    if (await this.checkChainId()) return 'unread';
    const head = await readHead(this.chain);
    // Without a new block no account has come or got anything.
    const result = head.hash === this.head?.hash ? 'rest' : await this.readTo(head);
    if (result === 'read') this.head = head;
    // Once all that is new is read; on a fast network no pass is at rest.
    if (result === 'rest' || result === 'read') await this.tendTokens();
    return result;
  }

  private async readTo(head: Head): Promise<ScanResult> {
    const place = await findScanPlace(this.deps.db, this.networkId);
    const joining = await listJoiningAccounts(this.deps.db, this.networkId);
    this.source.advance(head);
    return place ? this.readOn(place, head, joining) : this.begin(head, joining);
  }

  /** Whether this process is the one that reads the network. */
  get isReading(): boolean {
    return this.leasedAt > Number.NEGATIVE_INFINITY;
  }

  /** Ends the lease, so that another process goes on at once. */
  async stop(): Promise<void> {
    await releaseScan(this.deps.db, this.networkId, this.deps.owner);
  }

  /** How much of the past of accounts is left to be read. */
  progress(): Promise<BackfillProgress> {
    return readBackfillProgress(this.deps.db, this.networkId);
  }

  /** Reads a part of the past of accounts. False where none is left. Throws ChainUnavailable. */
  async readPast(): Promise<boolean> {
    const { db } = this.deps;
    const place = await findScanPlace(db, this.networkId);
    const next = place && (await nextBackfill(db, this.networkId, this.accountsAtOnce));
    if (!next) return false;
    const part: Backfill = { ...next, to: min(next.to, next.from + this.range - 1n) };
    const announced = new Set(next.accounts.flatMap(({ id, announced: is }) => (is ? [id] : [])));
    const read = await this.read(part, part.accounts, place.number);
    await db.transaction(async (tx) => {
      await storeReading(tx, { ...this.stored, isAnnounced: (id) => announced.has(id) }, read);
      await moveBackfill(tx, this.networkId, part);
    });
    return true;
  }

  private get stored() {
    return { networkId: this.networkId, listed: this.listed };
  }

  private async lease(): Promise<boolean> {
    const now = performance.now();
    if (now - this.leasedAt < LEASE_MS) return true;
    const isOurs = await leaseScan(this.deps.db, this.networkId, this.deps.owner);
    this.leasedAt = isOurs ? now : Number.NEGATIVE_INFINITY;
    return isOurs;
  }

  /** Whether the chain was asked which one it is, and nothing else is to be asked for now. */
  private async checkChainId(): Promise<boolean> {
    const now = performance.now();
    if (now - this.checkedAt < CHAIN_ID_MS) return false;
    const isFirst = this.checkedAt === Number.NEGATIVE_INFINITY;
    await assertChainId(this.chain);
    this.checkedAt = now;
    return !isFirst;
  }

  /** Verifies the movements of tokens that have become known, and asks a few new ones what they are. */
  private async tendTokens(): Promise<void> {
    const { db } = this.deps;
    if (performance.now() - this.verifiedAt >= VERIFY_MS) {
      await verifyMovements(db, this.networkId, this.listed);
      this.verifiedAt = performance.now();
      this.hasUnread = true;
    }
    if (!this.hasUnread) return;
    const unread = await listUnreadTokens(db, this.networkId, TOKENS_AT_ONCE);
    this.hasUnread = unread.length > 0;
    for (const address of unread) {
      const read = await readToken(this.chain, address as Address);
      if (!read.ok && read.unavailable) return;
      const facts = read.ok ? read.token : { symbol: '', name: null, decimals: null };
      await noteToken(db, { networkId: this.networkId, address }, facts);
    }
  }

  /** The first reading: it goes on from here, and what was before is the past of each account. */
  private async begin(head: Head, joining: readonly JoiningAccount[]): Promise<ScanResult> {
    const number = max(head.number - BigInt(this.chain.network.confirmations), 0n);
    const at = await this.source.block(number);
    if (!at) return 'unread';
    const joined = await this.firstBlocks(joining, number);
    const isWritten = await this.write(async (tx) => {
      await moveScan(tx, this.networkId, at);
      await joinScan(tx, this.networkId, joined, number + 1n);
    });
    return isWritten ? 'behind' : 'unread';
  }

  /** The blocks from which on new accounts are read. */
  private async firstBlocks(joining: readonly JoiningAccount[], newest: bigint) {
    const joined: { accountId: string; fromBlock: bigint }[] = [];
    for (const { accountId, address, blockNumber } of joining) {
      const fromBlock = blockNumber ?? (await this.deployedAt(address as Address, newest));
      joined.push({ accountId, fromBlock });
    }
    return joined;
  }

  /** The block in which an account was deployed; the one after the newest where the node has no state of the past. */
  private async deployedAt(address: Address, newest: bigint): Promise<bigint> {
    const isThere = async (blockNumber: bigint) =>
      (await ask(this.chain, (rpc) => rpc.getCode({ address, blockNumber }))) !== undefined;
    try {
      return await firstBlock(newest, isThere);
    } catch (error) {
      if (error instanceof ChainUnavailable) return newest + 1n;
      throw error;
    }
  }

  /** The last block up to which the chain is as it was read: where it has lost blocks, one before them. */
  private async placeOnChain(place: ScanPlace): Promise<bigint> {
    for (const { number, hash } of await listScanBlocks(this.deps.db, this.networkId)) {
      if (number <= place.number && (await this.source.block(number))?.hash === hash) return number;
    }
    return -1n;
  }

  private async readOn(
    place: ScanPlace,
    head: Head,
    joining: readonly JoiningAccount[],
  ): Promise<ScanResult> {
    // The node lags behind another one, or starts anew: what it does not have yet is not lost.
    if (head.number < place.number) return 'unread';
    const at = await this.source.block(place.number);
    if (!at) return 'unread';
    const known = at.hash === place.hash ? place.number : await this.placeOnChain(place);
    const joined = await this.firstBlocks(joining, place.number);
    const accounts = await listScannedAccounts(this.deps.db, this.networkId);
    const confirmedTo = head.number - BigInt(this.chain.network.confirmations);
    const range = {
      from: max(min(known + 1n - READ_AGAIN, this.newestBefore(head)), 0n),
      to: min(head.number, max(known, 0n) + this.range),
    };
    const read = await this.read(range, accounts, confirmedTo);
    const next = await this.source.block(max(min(range.to, confirmedTo), min(known, confirmedTo)));
    const isWritten = await this.write(async (tx) => {
      const { added } = await storeReading(tx, { ...this.stored, isAnnounced: () => true }, read);
      if (added > 0) this.hasUnread = true;
      if (next && next.hash !== place.hash) await moveScan(tx, this.networkId, next);
      // They were not among those that were just read: all of that is their past.
      await joinScan(tx, this.networkId, joined, (next ?? place).number + 1n);
    });
    if (!isWritten) return 'unread';
    return range.to < head.number || joined.length > 0 ? 'behind' : 'read';
  }

  /** The block that was the newest one when nodes may not have had more; of this process, as far as it remembers. */
  private newestBefore({ number }: Head): bigint {
    const now = performance.now();
    const seen = [...this.heads, { number, at: now }];
    const first = seen.findLastIndex(({ at }) => at <= now - READ_AGAIN_MS);
    this.heads = seen.slice(Math.max(first, 0));
    return this.heads[0]?.number ?? number;
  }

  /** Reads a range; what the network refuses, or is too slow for, is asked for in smaller parts from then on. */
  private async read(range: BlockRange, accounts: readonly ScannedAccount[], confirmedTo: bigint) {
    if (performance.now() - this.reducedAt >= REDUCED_MS) {
      this.accountsAtOnce = ACCOUNTS.first;
      this.isRefused = false;
    }
    const accountIds = accounts.map(({ id }) => id);
    for (;;) {
      const startedAt = performance.now();
      try {
        const read = await readRange(this.source, {
          ...{ range, accounts, confirmedTo, accountsAtOnce: this.accountsAtOnce },
          idOf: movementIds(this.networkId),
          stored: (within, ids) =>
            findStoredMovements(this.deps.db, { networkId: this.networkId, accountIds, ...within }, ids),
        });
        const isFull = range.to - range.from + 1n >= this.range;
        const isQuick = performance.now() - startedAt < QUICK_MS;
        if (isFull && isQuick) this.range = min(2n * this.range, RANGE.most);
        return read;
      } catch (error) {
        await this.reduce(error, accounts.length);
      }
    }
  }

  /**
   * Asks for less from now on: fewer blocks at once, and fewer accounts; where they are few, for what is refused in parts. Throws the
   * error where the network answers nothing, or nothing else is left.
   */
  private async reduce(error: unknown, accounts: number): Promise<void> {
    if (!(error instanceof ChainUnavailable) || this.isRefused) throw error;
    // Whether it refuses only this: endpoints refuse long lists of topics as they refuse long ranges, and say it in many ways.
    await readHead(this.chain);
    this.reducedAt = performance.now();
    this.range = max(this.range / 2n, RANGE.least);
    const named = Math.min(this.accountsAtOnce, accounts);
    if (named > ACCOUNTS.least) this.accountsAtOnce = Math.max(Math.ceil(named / 2), ACCOUNTS.least);
    else this.isRefused = true;
  }

  /** Writes in one transaction; false where another process has taken the lease meanwhile: then nothing is written. */
  private async write(work: (tx: Parameters<typeof moveScan>[0]) => Promise<void>): Promise<boolean> {
    return this.deps.db.transaction(async (tx) => {
      const isHeld = await holdsScan(tx, this.networkId, this.deps.owner);
      if (isHeld) await work(tx);
      else this.leasedAt = Number.NEGATIVE_INFINITY;
      return isHeld;
    });
  }
}
