/** @deep */
import fc from 'fast-check';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { checksumAddress } from '../../../src/chain/address';
import { standardFunctions } from '../../../src/chain/functions';
import { nestedCallsOf } from '../../../src/chain/nestedCalls';
import { contractRules, NATIVE_CURRENCY, type Policy, transferCondition } from '../../../src/domain/policy';
import {
  evaluate,
  type PolicyContext,
  type PolicyTransaction,
  usageWindow,
} from '../../../src/domain/policyEngine';
import { readContent } from '../../../src/domain/transactionContent';
import { aMember, anAddress, anId } from '../../support/builders';
import { seed } from '../../support/random';
import { DEEP } from '../../support/suite';
import { type PastExecution, transferData, usageIn } from '../../support/transactions';
import { type AskedTransaction, askOracle, type OracleWorld } from './policyOracle';

const RUNS = DEEP ? 5_000 : 500;
const HOUR_MS = 3_600_000;
const NOW_MS = Date.parse('2025-06-01T12:00:00.000Z');

const NETWORKS = [1, 2];
const ACCOUNTS = [anId('acc'), anId('acc'), anId('acc')];
const PEOPLE = [0, 1, 2].map(() => aMember().build());
const MEMBERS = PEOPLE.map(({ id }) => id);
const GROUPS = [anId('grp'), anId('grp')];
const POLICIES = [anId('pol'), anId('pol')];
const ADDRESSES = [anAddress(), anAddress(), anAddress()];
/** Four that are restricted, and two that are not. */
const SELECTORS = ['0x095ea7b3', '0x23b872dd', '0xd505accf', '0xd73dd623', '0x42966c68', '0x12345678'];

const anAddressOfAnyCase = fc
  .constantFrom(...ADDRESSES)
  .chain((address) => fc.constantFrom(address, address.toLowerCase()));
const amount = fc.bigInt({ min: 0n, max: 6n });
const scope = fc.constantFrom('PER_ITEM' as const, 'ALL_ITEMS' as const);
const limitation = fc.record({
  hours: fc.integer({ min: 1, max: 3 }),
  initiatorScope: scope,
  sourceAccountScope: scope,
  destinationScope: scope,
});
/** Ids, some of which name nothing that is there. */
const memberId = fc.constantFrom(...MEMBERS);
const groupId = fc.constantFrom(...GROUPS);

const initiatorSetting = fc.oneof(
  fc.constant(null),
  memberId.map((id) => ({ type: 'user' as const, memberId: id })),
  groupId.map((id) => ({ type: 'group' as const, groupId: id })),
);
const excludeInitiator = fc.boolean();
const approval = fc.oneof(
  fc.constant({ type: 'AUTO_APPROVAL' as const }),
  fc
    .oneof(
      fc.record({ type: fc.constant('user' as const), memberId, excludeInitiator }),
      fc.record({
        type: fc.constant('group' as const),
        groupId,
        threshold: fc.integer({ min: 1, max: 3 }),
        excludeInitiator,
      }),
    )
    .map((approverSetting) => ({ type: 'MANUAL_APPROVAL' as const, approverSetting })),
);

const tokenCondition = fc
  .record({
    tokenAddress: fc.constantFrom(null, NATIVE_CURRENCY, ...ADDRESSES),
    amountThreshold: fc.option(amount.map(String)),
    destinationAddresses: fc.subarray(ADDRESSES),
  })
  .map(({ tokenAddress, amountThreshold, destinationAddresses }) => ({
    tokenAddress,
    amountThreshold: tokenAddress === null ? null : amountThreshold,
    destinationAddresses,
    tokenSymbol: '',
    tokenName: '',
    tokenDecimals: 0,
  }));
const rules = fc.uniqueArray(
  fc
    .record({
      contractAddress: anAddressOfAnyCase,
      selectors: fc.subarray(SELECTORS),
      maxValue: amount.map(String),
    })
    .map(({ contractAddress, selectors, maxValue }) => ({
      contractAddress,
      allowedFunctions: selectors,
      functions: selectors.map((selector) => ({ selector })),
      maxValue,
    })),
  { minLength: 1, maxLength: 3, selector: ({ contractAddress }) => contractAddress.toLowerCase() },
);
const cover = fc.oneof(
  tokenCondition.map((tokenTransferCondition) => ({
    transactionType: 'TOKEN_TRANSFER' as const,
    tokenTransferCondition,
  })),
  fc.option(rules).map((contractInteractionCondition) => ({
    transactionType: 'CONTRACT_INTERACTION' as const,
    contractInteractionCondition,
  })),
  fc.constant({
    transactionType: 'ANY' as const,
  }),
);

const policies: fc.Arbitrary<Policy> = fc
  .tuple(
    fc.record({
      id: fc.constantFrom(...POLICIES),
      name: fc.constant('P'),
      networkId: fc.constantFrom(...NETWORKS),
      accountIds: fc.option(fc.subarray(ACCOUNTS, { minLength: 1 })),
      initiatorSetting,
    }),
    fc.oneof(
      fc.constant({}),
      limitation.map((limit) => ({ limitation: limit })),
    ),
    approval,
    cover,
  )
  .map((parts): Policy => Object.assign({}, ...parts));

const multicallAbi = parseAbi(['function multicall(bytes[] data)']);
const multicallOf = (data: fc.Arbitrary<string>) =>
  fc
    .tuple(fc.array(data, { maxLength: 3 }), fc.constantFrom('', '', '', '00'))
    .map(
      ([inner, behind]) => `${encodeFunctionData({ abi: multicallAbi, args: [inner as Hex[]] })}${behind}`,
    );
const carried = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('0x42966c6800', '0x12345678') },
  { weight: 2, arbitrary: fc.constantFrom(...SELECTORS).map((selector) => `${selector}00`) },
  { weight: 1, arbitrary: fc.constantFrom('0x', '0x40', '0xa9059cbb', transferData(NATIVE_CURRENCY, 1n)) },
);

const calldata = fc.oneof(
  { weight: 2, arbitrary: multicallOf(carried) },
  { weight: 1, arbitrary: multicallOf(multicallOf(carried)) },
  { weight: 3, arbitrary: fc.constant('0x') },
  {
    weight: 4,
    arbitrary: fc.tuple(fc.constantFrom(...ADDRESSES), amount).map(([to, n]) => transferData(to, n)),
  },
  { weight: 3, arbitrary: fc.constantFrom(...SELECTORS).map((selector) => `${selector}00`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '0xa9059cbb',
      '0xA9059CBB01',
      '0xa9059c',
      `${transferData(NATIVE_CURRENCY, 1n)}00`,
    ),
  },
  {
    weight: 1,
    arbitrary: fc.nat({ max: 11 }).map((at) => `0xa9059cbb${'00'.repeat(at)}01${'00'.repeat(63 - at)}`),
  },
);
const transactions: fc.Arbitrary<AskedTransaction> = fc.record({
  networkId: fc.constantFrom(...NETWORKS),
  accountId: fc.constantFrom(...ACCOUNTS),
  initiatorId: memberId,
  to: anAddressOfAnyCase,
  value: fc.oneof(fc.constant(0n), amount),
  data: calldata,
});

/** Around every edge of windows of one, two and three hours. */
const blockTimeMs = fc
  .tuple(fc.integer({ min: 0, max: 3 }), fc.constantFrom(-1, 0, 1, 60_000))
  .map(([hours, off]) => NOW_MS - hours * HOUR_MS + off);
const past: fc.Arbitrary<PastExecution> = fc
  .record({
    policyId: fc.constantFrom(...POLICIES),
    networkId: fc.constantFrom(...NETWORKS),
    tokenAddress: fc.constantFrom(NATIVE_CURRENCY, ...ADDRESSES),
    amount: fc.bigInt({ min: 0n, max: 3n }),
    initiatorId: memberId,
    accountId: fc.constantFrom(...ACCOUNTS),
    destination: fc.constantFrom(...ADDRESSES),
    state: fc.constantFrom('executing' as const, 'executed' as const, 'failed' as const),
    blockTimeMs,
  })
  .map((execution) => ({
    ...execution,
    blockTimeMs: execution.state === 'executed' ? execution.blockTimeMs : null,
  }));

const worlds: fc.Arbitrary<OracleWorld> = fc.record({
  nowMs: fc.constant(NOW_MS),
  members: fc.subarray(PEOPLE),
  groups: fc
    .subarray(GROUPS)
    .chain((ids) =>
      fc.tuple(...ids.map((id) => fc.record({ id: fc.constant(id), memberIds: fc.subarray(MEMBERS) }))),
    )
    .map((groups) => groups),
  accounts: fc
    .subarray(ACCOUNTS)
    .chain((ids) =>
      fc.tuple(...ids.map((id) => fc.record({ id: fc.constant(id), networkIds: fc.subarray(NETWORKS) }))),
    ),
  readableTokens: fc.subarray(ADDRESSES),
  past: fc.array(past, { maxLength: 8 }),
});

/** Mostly a world in which everything is there, so that most of what is allowed is met. */
const fullWorlds: fc.Arbitrary<OracleWorld> = worlds.map((world) => ({
  ...world,
  members: PEOPLE,
  groups: GROUPS.map((id) => ({ id, memberIds: MEMBERS })),
  accounts: ACCOUNTS.map((id) => ({ id, networkIds: NETWORKS })),
  readableTokens: ADDRESSES,
}));

/** What the engine answers, in the words of the oracle. */
function askEngine(policy: Policy, tx: AskedTransaction, world: OracleWorld) {
  const read = readContent(tx, checksumAddress);
  if (!read.ok) return { malformed: true, failing: [], approverIds: [], threshold: 0, remaining: null };
  const { networkId, accountId, initiatorId } = tx;
  const transaction: PolicyTransaction = {
    networkId,
    accountId,
    initiatorId,
    content: read.value,
    nested: nestedCallsOf(tx),
  };
  const window = usageWindow(policy, transaction);
  const members = new Map(world.members.map((member) => [member.id, member]));
  const token = read.value.type === 'TOKEN_TRANSFER' ? read.value.tokenAddress : NATIVE_CURRENCY;
  const readable = [NATIVE_CURRENCY, ...world.readableTokens].some(
    (address) => address.toLowerCase() === token.toLowerCase(),
  );
  const context: PolicyContext = {
    account: world.accounts.find(({ id }) => id === accountId) ?? null,
    members,
    groups: new Map(
      world.groups.map(({ id, memberIds }) => [id, memberIds.flatMap((member) => members.get(member) ?? [])]),
    ),
    isRestricted: (selector) => standardFunctions().get(selector)?.restricted ?? false,
    nativeAsset: { symbol: 'ETH', decimals: 18 },
    tokenFault: readable ? null : 'there is no contract',
    usage: window && usageIn(window, world.past, world.nowMs),
  };
  const { allowed, failures, approvers, threshold, remaining } = evaluate(policy, transaction, context);
  expect(allowed).toBe(failures.length === 0);
  expect(failures.every(({ found, wanted }) => found !== '' && wanted !== '')).toBe(true);
  return {
    malformed: false,
    failing: failures.map(({ condition }) => condition).sort(),
    approverIds: approvers.map(({ id }) => id),
    threshold,
    remaining: remaining && {
      ...('amount' in remaining ? { amount: String(remaining.amount) } : { count: remaining.count }),
      untilMs: remaining.until.getTime(),
    },
  };
}

/** The bytes of a transaction that fit the condition of a policy, if it has one. */
function contentTowards(
  policy: Policy,
  { to, value, data }: AskedTransaction,
): Pick<AskedTransaction, 'to' | 'value' | 'data'> {
  const token = transferCondition(policy);
  if (!token) return { to: contractRules(policy)?.[0]?.contractAddress ?? to, value, data };
  const [destination] = token.destinationAddresses;
  return token.tokenAddress === NATIVE_CURRENCY
    ? { to: destination ?? to, value: value + 1n, data: '0x' }
    : { to: token.tokenAddress ?? to, value: 0n, data: transferData(destination ?? NATIVE_CURRENCY, value) };
}

/** Makes a transaction fit a policy in all but one respect or none, so that every edge is met often. */
function towards(policy: Policy, tx: AskedTransaction, spared: string): AskedTransaction {
  const { initiatorSetting } = policy;
  const fitting = {
    network: { networkId: policy.networkId },
    account: { accountId: policy.accountIds?.[0] ?? tx.accountId },
    initiator: initiatorSetting?.type === 'user' ? { initiatorId: initiatorSetting.memberId } : {},
    content: contentTowards(policy, tx),
  };
  const changes = Object.entries(fitting).flatMap(([respect, fields]) => (respect === spared ? [] : fields));
  return Object.assign({ ...tx }, ...changes);
}

const aggregateAbi = parseAbi([
  'function aggregate3Value((address target, bool allowFailure, uint256 value, bytes callData)[] calls)',
]);

/** A call that carries another one, of a contract that the policy covers, and sends nothing itself. */
function carrierOf(policy: Policy, { to, value, data }: AskedTransaction) {
  const carried = { target: to as Hex, allowFailure: false, value, callData: data as Hex };
  return {
    to: contractRules(policy)?.find(({ functions }) => functions.length === 0)?.contractAddress ?? to,
    value: 0n,
    data: encodeFunctionData({ abi: aggregateAbi, args: [[carried]] }),
  };
}

/** Every condition that a transaction can fail. */
const CONDITIONS = [
  'account',
  'amount',
  'budget',
  'contract',
  'destination',
  'function',
  'initiator',
  'network',
  'token',
  'transactionType',
  'value',
];

const spared = fc.constantFrom('nothing', 'network', 'account', 'initiator', 'content');

describe('the policy engine', () => {
  it('matches the oracle for any policy, transaction and context', () => {
    fc.assert(
      fc.property(policies, transactions, worlds, (policy, tx, world) => {
        expect(askEngine(policy, tx, world)).toEqual(askOracle(policy, tx, world));
      }),
      { numRuns: RUNS },
    );
  });

  it('matches the oracle for transactions close to the limits', () => {
    const met = { allowed: 0, refused: 0, conditions: new Set<string>() };
    const property = fc.property(policies, transactions, fullWorlds, spared, (policy, tx, world, but) => {
      const near = towards(policy, tx, but);
      const answer = askEngine(policy, near, world);
      expect(answer).toEqual(askOracle(policy, near, world));
      for (const condition of answer.failing) met.conditions.add(condition);
      if (answer.failing.length === 0) met.allowed += 1;
      else met.refused += 1;
    });
    // Again with other values while a condition has not been met: some are rare.
    for (let batch = 0; batch < 20 && met.conditions.size < CONDITIONS.length; batch += 1) {
      fc.assert(property, { numRuns: RUNS, seed: seed() + batch });
    }
    // It is not a proof where one of the two hardly happens.
    expect(met.allowed).toBeGreaterThan(RUNS / 20);
    expect(met.refused).toBeGreaterThan(RUNS / 20);
    expect([...met.conditions].sort()).toEqual(CONDITIONS);
  });

  it('permits no call that another one carries and that it would not permit alone', () => {
    const met = { permitted: 0, refused: 0 };
    const property = fc.property(policies, transactions, fullWorlds, (policy, tx, world) => {
      const { to, value, data } = towards(policy, tx, 'nothing');
      const alone = { ...towards(policy, tx, 'content'), to, value, data };
      const carrying = { ...alone, ...carrierOf(policy, alone) };
      if (askEngine(policy, carrying, world).failing.length > 0) {
        met.refused += 1;
        return;
      }
      met.permitted += 1;
      const { malformed, failing } = askEngine(policy, alone, world);
      expect([malformed, failing]).toEqual([false, []]);
    });
    fc.assert(property, { numRuns: RUNS });
    expect(met.permitted).toBeGreaterThan(RUNS / 20);
    expect(met.refused).toBeGreaterThan(RUNS / 20);
  });

  it('never exceeds the budget in any window', () => {
    const step = fc.record({
      tx: transactions,
      // Up to the next edge of a window of an hour, and just over it.
      waitMs: fc.constantFrom(0, 1, 20 * 60_000, HOUR_MS - 1, HOUR_MS, HOUR_MS + 1),
      fails: fc.boolean(),
    });
    const limited = policies.chain((policy) => limitation.map((limit) => ({ ...policy, limitation: limit })));
    fc.assert(
      fc.property(limited, fullWorlds, fc.array(step, { maxLength: 12 }), (policy, world, steps) => {
        let now: OracleWorld = { ...world, past: [] };
        for (const { tx, waitMs, fails } of steps) {
          now = { ...now, nowMs: now.nowMs + waitMs };
          const near = towards(policy, tx, 'nothing');
          const answer = askEngine(policy, near, now);
          if (answer.malformed || answer.failing.length > 0) continue;
          now = { ...now, past: [...now.past, executionOf(policy, near, now.nowMs, fails)] };
        }
        for (const first of now.past) expect(excess(policy, first, now.past)).toBe(false);
      }),
      { numRuns: DEEP ? 1_000 : 100 },
    );
  });
});

function executionOf(policy: Policy, tx: AskedTransaction, nowMs: number, fails: boolean): PastExecution {
  const read = readContent(tx, checksumAddress);
  if (!read.ok) throw new Error('it was allowed and is not a transaction');
  const content = read.value;
  return {
    policyId: policy.id,
    networkId: tx.networkId,
    initiatorId: tx.initiatorId,
    accountId: tx.accountId,
    state: fails ? 'failed' : 'executed',
    blockTimeMs: fails ? null : nowMs,
    ...(content.type === 'TOKEN_TRANSFER'
      ? { tokenAddress: content.tokenAddress, amount: content.amount, destination: content.destination }
      : { tokenAddress: NATIVE_CURRENCY, amount: content.value, destination: content.contractAddress }),
  };
}

/** Whether more than the budget went out in the window that begins with an execution, for its own key. */
function excess(policy: Policy, first: PastExecution, all: readonly PastExecution[]) {
  const { limitation: limit } = policy;
  if (!limit || first.blockTimeMs === null) return false;
  const begin = first.blockTimeMs;
  const together = all.filter(
    ({ blockTimeMs: at, initiatorId, accountId, destination }) =>
      at !== null &&
      at >= begin &&
      at <= begin + limit.hours * HOUR_MS &&
      (limit.initiatorScope === 'ALL_ITEMS' || initiatorId === first.initiatorId) &&
      (limit.sourceAccountScope === 'ALL_ITEMS' || accountId === first.accountId) &&
      (limit.destinationScope === 'ALL_ITEMS' ||
        destination.toLowerCase() === first.destination.toLowerCase()),
  );
  const cap = transferCondition(policy)?.amountThreshold ?? null;
  if (cap === null) return together.length > 1;
  return together.reduce((sum, { amount: part }) => sum + part, 0n) > BigInt(cap);
}
