import {
  type Address,
  decodeAbiParameters,
  type Hex,
  hexToBigInt,
  pad,
  parseAbiParameters,
  size,
  slice,
  toEventSelector,
} from 'viem';
import type { Movement } from '../domain/movement';
import { ZERO_ADDRESS } from '../domain/movement';
import type { Pause } from '../pause';
import { checksumAddress } from './address';

/** A log as eth_getLogs and receipts hold it. */
export interface BlockLog {
  readonly address: Address;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly transactionHash: Hex;
  readonly logIndex: number;
}

/** An account whose movements are read. */
export interface ScannedAccount {
  readonly id: string;
  readonly organizationId: string;
  readonly address: Address;
}

/** The filter of an eth_getLogs, apart from its blocks. */
export interface LogFilter {
  readonly address?: readonly Address[];
  readonly topics: readonly (readonly Hex[] | null)[];
}

// Sources: ERC-20, ERC-721 (the same topic; the id is indexed), ERC-1155.
const TRANSFER = toEventSelector('Transfer(address,address,uint256)');
const TRANSFER_SINGLE = toEventSelector('TransferSingle(address,address,address,uint256,uint256)');
const TRANSFER_BATCH = toEventSelector('TransferBatch(address,address,address,uint256[],uint256[])');
// Source: SafeL2 1.4.1.
const RECEIVED = toEventSelector('SafeReceived(address,uint256)');
const BEGUN_PARAMETERS = parseAbiParameters(
  'address, uint256, bytes, uint8, uint256, uint256, uint256, address, address, bytes, bytes',
);
const BEGUN = toEventSelector(
  `SafeMultiSigTransaction(${BEGUN_PARAMETERS.map(({ type }) => type).join(',')})`,
);
const SUCCESS = toEventSelector('ExecutionSuccess(bytes32,uint256)');
const FAILURE = toEventSelector('ExecutionFailure(bytes32,uint256)');
const MODULE_PARAMETERS = parseAbiParameters('address, address, uint256, bytes, uint8');
const MODULE_BEGUN = toEventSelector(
  `SafeModuleTransaction(${MODULE_PARAMETERS.map(({ type }) => type).join(',')})`,
);
const MODULE_SUCCESS = toEventSelector('ExecutionFromModuleSuccess(address)');
const MODULE_FAILURE = toEventSelector('ExecutionFromModuleFailure(address)');

const OF_ACCOUNTS = [RECEIVED, BEGUN, SUCCESS, FAILURE, MODULE_BEGUN, MODULE_SUCCESS, MODULE_FAILURE];
const OF_TOKENS = [TRANSFER, TRANSFER_SINGLE, TRANSFER_BATCH];
/** An ERC-1155 log with more transfers is not read: no block has room for them. */
const MAX_BATCH = 10_000;
const WORD = 32;

/**
 * The filters that together find every movement of some accounts: what they log themselves, and token transfers with one of them
 * at each place where a standard has a sender or a recipient.
 */
export function movementFilters(addresses: readonly Address[]): LogFilter[] {
  const words = addresses.map((address) => pad(address, { size: WORD }).toLowerCase() as Hex);
  return [
    { address: addresses, topics: [OF_ACCOUNTS] },
    { topics: [[TRANSFER], words] },
    // The recipient of Transfer, and the sender of the others.
    { topics: [OF_TOKENS, null, words] },
    { topics: [[TRANSFER_SINGLE, TRANSFER_BATCH], null, null, words] },
  ];
}

/** Whether a filter finds a log. */
export function isFound({ address, topics }: LogFilter, log: BlockLog): boolean {
  const is = (one: string, other: string | undefined) => one.toLowerCase() === other?.toLowerCase();
  return (
    (address === undefined || address.some((one) => is(one, log.address))) &&
    topics.every((wanted, at) => wanted === null || wanted.some((one) => is(one, log.topics[at])))
  );
}

/** What a log of a token itself says. Who sends and receives in lower case, as `accountsByAddress` has it. */
interface Transfer {
  readonly kind: Movement['kind'];
  readonly tokenId: bigint | null;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
}

/** An execution of an account that has begun. */
interface OpenExecution {
  readonly account: ScannedAccount;
  readonly isModule: boolean;
  readonly safeTxHash: string | null;
  /** What it pays in the native currency when it succeeds. */
  readonly pays: { readonly to: string; readonly value: bigint } | undefined;
  /** Who gets a fee in the native currency. */
  readonly feeTo: string | undefined;
}

const accountKey = (address: string) => address.toLowerCase();
const TOPIC = /^0x[0-9a-f]{64}$/i;

/** The address in a topic, in lower case. Throws TypeError for what is not a topic. */
function addressIn(topic: Hex): string {
  if (!TOPIC.test(topic)) throw new TypeError('a topic has 32 bytes');
  return accountKey(`0x${topic.slice(-40)}`);
}

const amountIn = (data: Hex) => (size(data) >= WORD ? hexToBigInt(slice(data, 0, WORD)) : undefined);

/** What `read` decodes; undefined for what is malformed: contracts log what they like. */
function decoded<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function transfersOf({ topics, data }: BlockLog): Transfer[] {
  const [topic, first, second, third] = topics;
  if (first === undefined || second === undefined) return [];
  if (topic === TRANSFER) {
    const [from, to] = [addressIn(first), addressIn(second)];
    if (third !== undefined) {
      return [{ kind: 'erc721', tokenId: hexToBigInt(third), from, to, amount: 1n }];
    }
    const amount = amountIn(data);
    return amount === undefined ? [] : [{ kind: 'erc20', tokenId: null, from, to, amount }];
  }
  if (third === undefined || (topic !== TRANSFER_SINGLE && topic !== TRANSFER_BATCH)) return [];
  const of = { kind: 'erc1155', from: addressIn(second), to: addressIn(third) } as const;
  if (topic === TRANSFER_SINGLE) {
    const [tokenId, amount] = decodeAbiParameters(parseAbiParameters('uint256, uint256'), data);
    return [{ ...of, tokenId, amount }];
  }
  const [ids, amounts] = decodeAbiParameters(parseAbiParameters('uint256[], uint256[]'), data);
  if (ids.length !== amounts.length || ids.length > MAX_BATCH) return [];
  return ids.map((tokenId, index) => ({ ...of, tokenId, amount: amounts[index] ?? 0n }));
}

/** What begins with a log of an account; undefined where none does. */
function begunBy(account: ScannedAccount, { topics: [topic], data }: BlockLog): OpenExecution | undefined {
  const paying = (operation: number, to: string, value: bigint) =>
    operation === 0 && value > 0n ? { to, value } : undefined;
  if (topic === BEGUN) {
    const [to, value, , operation, , , gasPrice, gasToken, refundReceiver, , info] = decodeAbiParameters(
      BEGUN_PARAMETERS,
      data,
    );
    const [, sender] = decodeAbiParameters(parseAbiParameters('uint256, address, uint256'), info);
    const isFee = gasPrice > 0n && gasToken === ZERO_ADDRESS;
    const feeTo = isFee ? (refundReceiver === ZERO_ADDRESS ? sender : refundReceiver) : undefined;
    return { account, isModule: false, safeTxHash: null, pays: paying(operation, to, value), feeTo };
  }
  if (topic !== MODULE_BEGUN) return undefined;
  const [, to, value, , operation] = decodeAbiParameters(MODULE_PARAMETERS, data);
  return { account, isModule: true, safeTxHash: null, pays: paying(operation, to, value), feeTo: undefined };
}

/** What is read of the logs of one transaction. */
interface Walk {
  readonly accounts: ReadonlyMap<string, ScannedAccount>;
  readonly checksummed: (address: string) => Address;
  readonly open: OpenExecution[];
  readonly found: { movement: Movement; within: OpenExecution | undefined }[];
  /** The hashes of executions that have ended. */
  readonly hashes: Map<OpenExecution, string>;
}

function add(
  walk: Walk,
  log: BlockLog,
  account: ScannedAccount,
  of: Omit<Transfer, 'from' | 'to'> & Side,
): void {
  const { kind, tokenId, amount, direction, cause = 'transfer' } = of;
  const { transactionHash, blockNumber: number, blockHash: hash, logIndex } = log;
  const movement: Movement = {
    accountId: account.id,
    ...{ direction, kind, cause, tokenId, amount },
    tokenAddress: kind === 'native' ? ZERO_ADDRESS : walk.checksummed(log.address),
    counterparty: walk.checksummed(of.counterparty),
    ...{ transactionHash, logIndex, block: { number, hash }, safeTxHash: null },
  };
  const within =
    of.within ?? walk.open.findLast((one) => one.account.organizationId === account.organizationId);
  walk.found.push({ movement, within });
}

/** A transfer as one of its accounts sees it. */
interface Side {
  readonly direction: Movement['direction'];
  readonly counterparty: string;
  readonly cause?: Movement['cause'];
  readonly within?: OpenExecution;
}

const NATIVE = { kind: 'native', tokenId: null } as const;

/** Ends an execution of an account: what it has paid is a movement. */
function end(walk: Walk, account: ScannedAccount, log: BlockLog): void {
  const [topic, safeTxHash] = log.topics;
  const isModule = topic === MODULE_SUCCESS || topic === MODULE_FAILURE;
  const at = walk.open.findLastIndex((one) => one.account === account && one.isModule === isModule);
  const [ended] = at < 0 ? [] : walk.open.splice(at);
  if (!ended) return;
  if (!isModule && safeTxHash !== undefined) walk.hashes.set(ended, safeTxHash);
  const out = { ...NATIVE, direction: 'out', within: ended } as const;
  const { pays, feeTo } = ended;
  if (pays && (topic === SUCCESS || topic === MODULE_SUCCESS)) {
    add(walk, log, account, { ...out, amount: pays.value, counterparty: pays.to });
  }
  const fee = isModule ? undefined : amountIn(log.data);
  if (feeTo !== undefined && fee) {
    add(walk, log, account, { ...out, amount: fee, counterparty: feeTo, cause: 'fee' });
  }
}

function readAccountLog(walk: Walk, account: ScannedAccount, log: BlockLog): void {
  const [topic, sender] = log.topics;
  if (topic === RECEIVED && sender !== undefined) {
    const amount = amountIn(log.data);
    const counterparty = decoded(() => addressIn(sender));
    if (amount && counterparty) add(walk, log, account, { ...NATIVE, amount, direction: 'in', counterparty });
    return;
  }
  const begun = decoded(() => begunBy(account, log));
  if (begun) walk.open.push(begun);
  else if (topic !== undefined && [SUCCESS, FAILURE, MODULE_SUCCESS, MODULE_FAILURE].includes(topic)) {
    end(walk, account, log);
  }
}

function readTokenLog(walk: Walk, log: BlockLog): void {
  for (const { from, to, ...of } of decoded(() => transfersOf(log)) ?? []) {
    const [sender, recipient] = [walk.accounts.get(from), walk.accounts.get(to)];
    if (sender) add(walk, log, sender, { ...of, direction: 'out', counterparty: to });
    if (recipient) add(walk, log, recipient, { ...of, direction: 'in', counterparty: from });
  }
}

/** The accounts by their addresses, as logs are looked up by them. */
export function accountsByAddress(accounts: readonly ScannedAccount[]): ReadonlyMap<string, ScannedAccount> {
  return new Map(accounts.map((account) => [accountKey(account.address), account]));
}

/** The checksummed form of addresses, each computed once: it takes more time than all else that is read of a log. */
function checksums(): (address: string) => Address {
  const known = new Map<string, Address>();
  return (address) => {
    const found = known.get(address) ?? checksumAddress(address);
    known.set(address, found);
    return found;
  };
}

async function movementsInTransaction(
  { accounts, checksummed }: Pick<Walk, 'accounts' | 'checksummed'>,
  logs: readonly BlockLog[],
  pause: Pause,
): Promise<Movement[]> {
  const walk: Walk = { accounts, checksummed, open: [], found: [], hashes: new Map() };
  for (const log of logs) {
    const account = accounts.get(accountKey(log.address));
    if (account) readAccountLog(walk, account, log);
    readTokenLog(walk, log);
    await pause();
  }
  return walk.found.map(({ movement, within }) => ({
    ...movement,
    safeTxHash: (within && walk.hashes.get(within)) ?? null,
  }));
}

/** The logs of each transaction in their order, each once. */
async function logsByTransaction(logs: readonly BlockLog[], pause: Pause): Promise<BlockLog[][]> {
  const transactions = new Map<string, Map<number, BlockLog>>();
  for (const log of logs) {
    const key = `${log.blockHash}/${log.transactionHash}`;
    const own = transactions.get(key) ?? new Map<number, BlockLog>();
    transactions.set(key, own.set(log.logIndex, log));
    await pause();
  }
  return [...transactions.values()].map((own) =>
    [...own.values()].sort((one, two) => one.logIndex - two.logIndex),
  );
}

/**
 * The movements of accounts in logs, in any order and any of them twice, in the order of the chain. Of a log that is not as its
 * standard says, nothing is read: whoever owns a contract has it log anything, and as often as a block has room for.
 */
export async function movementsIn(
  accounts: ReadonlyMap<string, ScannedAccount>,
  logs: readonly BlockLog[],
  pause: Pause,
): Promise<Movement[]> {
  const of = { accounts, checksummed: checksums() };
  const found: Movement[][] = [];
  for (const own of await logsByTransaction(logs, pause)) {
    found.push(await movementsInTransaction(of, own, pause));
  }
  return found
    .flat()
    .sort((one, two) => Number(one.block.number - two.block.number) || one.logIndex - two.logIndex);
}
