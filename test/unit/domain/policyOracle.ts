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

export interface OracleAnswer {
  /** 400: it is no transaction at all. */
  readonly malformed: boolean;
  readonly failing: readonly string[];
  readonly approverIds: readonly string[];
  readonly threshold: number;
  readonly remaining: { readonly amount?: string; readonly count?: number; readonly untilMs: number } | null;
}

const HOUR_MS = 60 * 60 * 1_000;
const NATIVE = `0x${'0'.repeat(40)}`;
/** approve, increaseAllowance, setApprovalForAll, transferFrom, permit. */
const HANDS_OUT = ['0x095ea7b3', '0x39509351', '0xa22cb465', '0x23b872dd', '0xd505accf'];

const equal = (one: string, two: string) => one.toLowerCase() === two.toLowerCase();
const oneOf = (list: readonly string[], address: string) => list.some((entry) => equal(entry, address));

interface Sent {
  kind: 'TOKEN_TRANSFER' | 'CONTRACT_INTERACTION';
  token: string;
  amount: bigint;
  destination: string;
  selector: string;
}

/** "A token transfer is: …" */
function whatIsSent({ to, value, data }: AskedTransaction): Sent | 'malformed' {
  const bytes = Buffer.from(data.slice(2), 'hex');
  if (bytes.length === 0 && value > 0n) {
    return { kind: 'TOKEN_TRANSFER', token: NATIVE, amount: value, destination: to, selector: '' };
  }
  const selector = bytes.subarray(0, 4).toString('hex');
  if (selector === 'a9059cbb') {
    if (bytes.length !== 68) return 'malformed';
    for (let at = 4; at < 16; at += 1) if (bytes[at] !== 0) return 'malformed';
    if (value !== 0n) return 'malformed';
    const destination = `0x${bytes.subarray(16, 36).toString('hex')}`;
    let amount = 0n;
    for (let at = 36; at < 68; at += 1) amount = amount * 256n + BigInt(bytes[at] ?? 0);
    return { kind: 'TOKEN_TRANSFER', token: to, amount, destination, selector: '' };
  }
  return {
    kind: 'CONTRACT_INTERACTION',
    token: NATIVE,
    amount: value,
    destination: to,
    selector: bytes.length >= 4 ? `0x${selector}` : '',
  };
}

/** "Over any period of `hours` … the sum of executed and executing amounts per scope key." */
function spent(policy: Written, tx: AskedTransaction, sent: Sent, world: OracleWorld): PastExecution[] {
  const { limitation } = policy;
  const counted: PastExecution[] = [];
  if (!limitation) return counted;
  for (const past of world.past) {
    if (past.policyId !== policy.id) continue;
    if (past.state === 'failed') continue;
    const token = policy.tokenTransferCondition?.tokenAddress ?? null;
    // Where the policy names an asset (a token on its network), another asset does not count.
    if (token !== null && past.networkId !== policy.networkId) continue;
    if (token !== null && !equal(past.tokenAddress, token)) continue;
    if (limitation.initiatorScope === 'PER_ITEM' && past.initiatorId !== tx.initiatorId) continue;
    if (limitation.sourceAccountScope === 'PER_ITEM' && past.accountId !== tx.accountId) continue;
    if (limitation.destinationScope === 'PER_ITEM' && !equal(past.destination, sent.destination)) continue;
    if (past.state === 'executed') {
      const ageMs = world.nowMs - (past.blockTimeMs ?? 0);
      if (ageMs > limitation.hours * HOUR_MS) continue;
    }
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

/** Does the transaction fit the policy, in this world? */
export function askOracle(policy: Written, tx: AskedTransaction, world: OracleWorld): OracleAnswer {
  const sent = whatIsSent(tx);
  if (sent === 'malformed') {
    return { malformed: true, failing: [], approverIds: [], threshold: 0, remaining: null };
  }
  const failing = new Set<string>();

  if (policy.networkId !== tx.networkId) failing.add('network');
  const account = world.accounts.find(({ id }) => id === tx.accountId);
  if (!account) failing.add('account');
  else if (!account.networkIds.includes(tx.networkId)) failing.add('network');
  if (policy.accountIds !== null && !policy.accountIds.includes(tx.accountId)) failing.add('account');

  if (!world.members.some(({ id }) => id === tx.initiatorId)) failing.add('initiator');
  const initiator = policy.initiatorSetting;
  if (initiator?.type === 'user' && initiator.memberId !== tx.initiatorId) failing.add('initiator');
  if (initiator?.type === 'group') {
    const group = world.groups.find(({ id }) => id === initiator.groupId);
    if (!group?.memberIds.includes(tx.initiatorId)) failing.add('initiator');
  }

  let covered = policy.transactionType === 'ANY' || policy.transactionType === sent.kind;
  if (!covered) failing.add('transactionType');

  if (sent.kind === 'TOKEN_TRANSFER' && policy.transactionType !== 'CONTRACT_INTERACTION') {
    const condition = policy.tokenTransferCondition;
    if (condition && condition.tokenAddress !== null && !equal(condition.tokenAddress, sent.token)) {
      failing.add('token');
      covered = false;
    }
    if (sent.token !== NATIVE && !oneOf(world.readableTokens, sent.token)) {
      failing.add('token');
      covered = false;
    }
    // An amount says nothing where the token is another.
    if (covered && condition && condition.amountThreshold !== null) {
      if (sent.amount > BigInt(condition.amountThreshold)) failing.add('amount');
    }
    if (condition && condition.destinationAddresses.length > 0) {
      if (!oneOf(condition.destinationAddresses, sent.destination)) failing.add('destination');
    }
  }

  if (sent.kind === 'CONTRACT_INTERACTION' && policy.transactionType !== 'TOKEN_TRANSFER') {
    const rules = policy.contractInteractionCondition;
    if (!rules) {
      if (HANDS_OUT.includes(sent.selector)) failing.add('function');
    } else {
      const rule = rules.find(({ contractAddress }) => equal(contractAddress, sent.destination));
      if (!rule) failing.add('contract');
      if (rule && sent.amount > BigInt(rule.maxValue)) failing.add('value');
      if (rule && rule.functions.length === 0 && HANDS_OUT.includes(sent.selector)) failing.add('function');
      if (rule && rule.functions.length > 0) {
        if (!rule.functions.some(({ selector }) => selector === sent.selector)) failing.add('function');
      }
    }
  }

  // A budget is of what the policy covers; other transactions do not touch it.
  if (covered && policy.limitation && !budgetHolds(policy, tx, sent, world)) failing.add('budget');

  return {
    malformed: false,
    failing: [...failing].sort(),
    ...approval(policy, tx, world),
    remaining: remainingOf(policy, tx, sent, world),
  };
}
