import { decodeFunctionData, encodeFunctionData, type Hex, parseAbi } from 'viem';
import type { MemberSummary } from '../../../src/domain/approval';
import type {
  ApproverSetting,
  ContractRule,
  InitiatorSetting,
  Limitation,
  Policy,
  TokenTransferCondition,
} from '../../../src/domain/policy';
import type { PastExecution } from '../../support/transactions';

/**
 * The rules of sections 5 and 6 of the decisions once more, slow and plain, one sentence after the other. It shares
 * nothing with the engine but the shape of a policy.
 */

/** A policy of any kind, as one reads it: what it does not have is not there. */
interface Written {
  readonly id: string;
  readonly type: Policy['type'];
  readonly transactionType: Policy['transactionType'];
  readonly networkId: number;
  readonly accountIds: readonly string[] | null;
  readonly initiatorSetting: InitiatorSetting | null;
  readonly limitation?: Limitation;
  readonly approverSetting?: ApproverSetting;
  readonly tokenTransferCondition?: TokenTransferCondition;
  readonly contractInteractionCondition?: readonly ContractRule[] | null;
}

/** A transaction as a caller writes it. */
export interface AskedTransaction {
  readonly networkId: number;
  readonly accountId: string;
  readonly initiatorId: string;
  readonly to: string;
  readonly value: bigint;
  readonly data: string;
}

/** Everything there is. */
export interface OracleWorld {
  readonly nowMs: number;
  readonly members: readonly MemberSummary[];
  readonly groups: readonly { readonly id: string; readonly memberIds: readonly string[] }[];
  readonly accounts: readonly { readonly id: string; readonly networkIds: readonly number[] }[];
  /** Tokens that answer what a token must answer; the native currency needs no answer. */
  readonly readableTokens: readonly string[];
  readonly past: readonly PastExecution[];
}

interface OracleAnswer {
  /** 400: it is not a transaction at all. */
  readonly malformed: boolean;
  readonly failing: readonly string[];
  readonly approverIds: readonly string[];
  readonly threshold: number;
  readonly remaining: { readonly amount?: string; readonly count?: number; readonly untilMs: number } | null;
}

const HOUR_MS = 60 * 60 * 1_000;
const NATIVE = `0x${'0'.repeat(40)}`;
/** approve, increaseAllowance, setApprovalForAll, transferFrom, permit, increaseApproval. */
const HANDS_OUT = ['0x095ea7b3', '0x39509351', '0xa22cb465', '0x23b872dd', '0xd505accf', '0xd73dd623'];

const MULTICALL = parseAbi(['function multicall(bytes[] data)']);
const MULTICALL_SELECTOR = '0xac9650d8';

const equal = (one: string, two: string) => one.toLowerCase() === two.toLowerCase();
const oneOf = (list: readonly string[], address: string) => list.some((entry) => equal(entry, address));

interface Sent {
  kind: 'TOKEN_TRANSFER' | 'CONTRACT_INTERACTION';
  token: string;
  amount: bigint;
  destination: string;
  selector: string;
  data: string;
}

/** "A token transfer is: …" */
function whatIsSent({
  to,
  value,
  data,
}: Pick<AskedTransaction, 'to' | 'value' | 'data'>): Sent | 'malformed' {
  const bytes = Buffer.from(data.slice(2), 'hex');
  if (bytes.length === 0 && value > 0n) {
    return { kind: 'TOKEN_TRANSFER', token: NATIVE, amount: value, destination: to, selector: '', data };
  }
  const selector = bytes.subarray(0, 4).toString('hex');
  if (selector === 'a9059cbb') {
    if (bytes.length !== 68) return 'malformed';
    if (bytes.subarray(4, 16).some((byte) => byte !== 0)) return 'malformed';
    if (value !== 0n) return 'malformed';
    const destination = `0x${bytes.subarray(16, 36).toString('hex')}`;
    const amount = BigInt(`0x${bytes.subarray(36, 68).toString('hex')}`);
    return { kind: 'TOKEN_TRANSFER', token: to, amount, destination, selector: '', data };
  }
  return {
    kind: 'CONTRACT_INTERACTION',
    token: NATIVE,
    amount: value,
    destination: to,
    selector: bytes.length >= 4 ? `0x${selector}` : '',
    data,
  };
}

/** "… per scope key." */
function isOfSameKey(limitation: Limitation, past: PastExecution, tx: AskedTransaction, sent: Sent): boolean {
  const { initiatorScope, sourceAccountScope, destinationScope } = limitation;
  if (initiatorScope === 'PER_ITEM' && past.initiatorId !== tx.initiatorId) return false;
  if (sourceAccountScope === 'PER_ITEM' && past.accountId !== tx.accountId) return false;
  return destinationScope !== 'PER_ITEM' || equal(past.destination, sent.destination);
}

/** Where the policy names an asset (a token on its network), another asset does not count. */
function isOfAsset(policy: Written, past: PastExecution): boolean {
  const token = policy.tokenTransferCondition?.tokenAddress ?? null;
  return token === null || (past.networkId === policy.networkId && equal(past.tokenAddress, token));
}

/** "Over any period of `hours` … the sum of executed and executing amounts per scope key." */
function spent(policy: Written, tx: AskedTransaction, sent: Sent, world: OracleWorld): PastExecution[] {
  const { limitation } = policy;
  const counted: PastExecution[] = [];
  if (!limitation) return counted;
  for (const past of world.past) {
    if (past.policyId !== policy.id) continue;
    if (past.state === 'failed') continue;
    if (!isOfAsset(policy, past)) continue;
    if (!isOfSameKey(limitation, past, tx, sent)) continue;
    const ageMs = world.nowMs - (past.blockTimeMs ?? 0);
    if (past.state === 'executed' && ageMs > limitation.hours * HOUR_MS) continue;
    counted.push(past);
  }
  return counted;
}

function budgetHolds(policy: Written, tx: AskedTransaction, sent: Sent, world: OracleWorld): boolean {
  const counted = spent(policy, tx, sent, world);
  const cap = policy.tokenTransferCondition?.amountThreshold ?? null;
  if (cap === null) return counted.length === 0;
  let sum = sent.amount;
  for (const past of counted) sum += past.amount;
  return sum <= BigInt(cap);
}

function remainingOf(policy: Written, tx: AskedTransaction, sent: Sent, world: OracleWorld) {
  if (!policy.limitation) return null;
  const counted = spent(policy, tx, sent, world);
  const windowMs = policy.limitation.hours * HOUR_MS;
  // What executes has yet to be in a block: it counts for a window from now at least.
  let untilMs = world.nowMs + windowMs;
  for (const past of counted) {
    if (past.state === 'executed') untilMs = Math.min(untilMs, (past.blockTimeMs ?? 0) + windowMs);
  }
  const cap = policy.tokenTransferCondition?.amountThreshold ?? null;
  if (cap === null) return { count: counted.length === 0 ? 1 : 0, untilMs };
  let left = BigInt(cap);
  for (const past of counted) left -= past.amount;
  return { amount: String(left < 0n ? 0n : left), untilMs };
}

function approval(policy: Written, tx: AskedTransaction, world: OracleWorld) {
  const setting = policy.approverSetting;
  if (policy.type === 'AUTO_APPROVAL' || !setting) return { approverIds: [], threshold: 0 };
  let ids: readonly string[] = [];
  if (setting.type === 'user') ids = [setting.memberId];
  else ids = world.groups.find(({ id }) => id === setting.groupId)?.memberIds ?? [];
  const approverIds = ids
    .filter((id) => world.members.some((member) => member.id === id))
    .filter((id) => !(setting.excludeInitiator && id === tx.initiatorId));
  return { approverIds, threshold: setting.type === 'user' ? 1 : setting.threshold };
}

/** Is the account one of the policy, and on its network? */
function placeFailures(policy: Written, tx: AskedTransaction, world: OracleWorld): string[] {
  const failing: string[] = [];
  if (policy.networkId !== tx.networkId) failing.push('network');
  const account = world.accounts.find(({ id }) => id === tx.accountId);
  if (!account) failing.push('account');
  else if (!account.networkIds.includes(tx.networkId)) failing.push('network');
  if (policy.accountIds !== null && !policy.accountIds.includes(tx.accountId)) failing.push('account');
  return failing;
}

/** May this member initiate? */
function mayInitiate({ initiatorSetting }: Written, { initiatorId }: AskedTransaction, world: OracleWorld) {
  if (!world.members.some(({ id }) => id === initiatorId)) return false;
  if (initiatorSetting === null) return true;
  if (initiatorSetting.type === 'user') return initiatorSetting.memberId === initiatorId;
  const group = world.groups.find(({ id }) => id === initiatorSetting.groupId);
  return group?.memberIds.includes(initiatorId) === true;
}

/** Is a transfer one of the token, the amount and the destinations? */
function transferFailures(policy: Written, sent: Sent, world: OracleWorld): string[] {
  const failing: string[] = [];
  const {
    tokenAddress = null,
    amountThreshold = null,
    destinationAddresses = [],
  } = policy.tokenTransferCondition ?? {};
  if (tokenAddress !== null && !equal(tokenAddress, sent.token)) failing.push('token');
  if (sent.token !== NATIVE && !oneOf(world.readableTokens, sent.token)) failing.push('token');
  // The amount is not checked where the token differs.
  if (failing.length === 0 && amountThreshold !== null && sent.amount > BigInt(amountThreshold)) {
    failing.push('amount');
  }
  if (destinationAddresses.length > 0 && !oneOf(destinationAddresses, sent.destination)) {
    failing.push('destination');
  }
  return failing;
}

/**
 * "A function that carries calls is permitted through "any" only if every inner call would be; what cannot be read is
 * refused." Here it is multicall, which calls its own contract.
 */
function carriesRefused(policy: Written, { data, destination }: Sent): boolean {
  if (policy.limitation) return true;
  let inner: readonly Hex[];
  try {
    [inner] = decodeFunctionData({ abi: MULTICALL, data: data as Hex }).args;
  } catch {
    return true;
  }
  if (encodeFunctionData({ abi: MULTICALL, args: [inner] }) !== data.toLowerCase()) return true;
  for (const one of inner) {
    const sent = whatIsSent({ to: destination, value: 0n, data: one });
    if (sent === 'malformed' || sent.kind === 'TOKEN_TRANSFER') return true;
    if (callFailures(policy, sent).length > 0) return true;
  }
  return false;
}

/** Must the function of a call be named? */
function needsName(policy: Written, sent: Sent): boolean {
  if (HANDS_OUT.includes(sent.selector)) return true;
  return sent.selector === MULTICALL_SELECTOR && carriesRefused(policy, sent);
}

/** Is a call one of the contracts, the functions and the value? */
function callFailures(policy: Written, sent: Sent): string[] {
  const rules = policy.contractInteractionCondition;
  const handsOut = needsName(policy, sent);
  if (!rules) return handsOut ? ['function'] : [];
  const rule = rules.find(({ contractAddress }) => equal(contractAddress, sent.destination));
  if (!rule) return ['contract'];
  const failing: string[] = [];
  if (sent.amount > BigInt(rule.maxValue)) failing.push('value');
  if (rule.functions.length === 0 && handsOut) failing.push('function');
  if (rule.functions.length > 0 && !rule.functions.some(({ selector }) => selector === sent.selector)) {
    failing.push('function');
  }
  return failing;
}

/** Is what is sent covered by the policy? */
function contentFailures(policy: Written, sent: Sent, world: OracleWorld): string[] {
  if (policy.transactionType !== 'ANY' && policy.transactionType !== sent.kind) return ['transactionType'];
  return sent.kind === 'TOKEN_TRANSFER' ? transferFailures(policy, sent, world) : callFailures(policy, sent);
}

/** Does the transaction fit the policy, in this world? */
export function askOracle(policy: Written, tx: AskedTransaction, world: OracleWorld): OracleAnswer {
  const sent = whatIsSent(tx);
  if (sent === 'malformed') {
    return { malformed: true, failing: [], approverIds: [], threshold: 0, remaining: null };
  }
  const content = contentFailures(policy, sent, world);
  const failing = new Set([...placeFailures(policy, tx, world), ...content]);
  if (!mayInitiate(policy, tx, world)) failing.add('initiator');
  // A budget is of what the policy covers; other transactions do not touch it.
  const covered = !content.includes('transactionType') && !content.includes('token');
  if (covered && policy.limitation && !budgetHolds(policy, tx, sent, world)) failing.add('budget');
  return {
    malformed: false,
    failing: [...failing].sort(),
    ...approval(policy, tx, world),
    remaining: remainingOf(policy, tx, sent, world),
  };
}
