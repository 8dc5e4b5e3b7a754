import { type Abi, encodeFunctionData, type Hex, parseAbi } from 'viem';
import { checksumAddress } from '../../../src/chain/address';
import { standardFunctions } from '../../../src/chain/functions';
import { nestedCallsOf } from '../../../src/chain/nestedCalls';
import {
  type ApproverSetting,
  type ContractRule,
  type Limitation,
  NATIVE_CURRENCY,
  type Policy,
} from '../../../src/domain/policy';
import {
  approversOf,
  type ConditionFailure,
  evaluate,
  type PolicyContext,
  type Usage,
  usageWindow,
} from '../../../src/domain/policyEngine';
import { readContent } from '../../../src/domain/transactionContent';
import { aMember, anAddress, anId } from '../../support/builders';
import {
  aCallPolicy,
  aPolicy,
  aRule,
  aTransferPolicy,
  NETWORK_ID,
  type PolicyChange,
  transferData,
} from '../../support/transactions';

const [ALICE, BOB, CAROL] = [aMember().build(), aMember().build(), aMember().build()];
const GROUP = anId('grp');
const ACCOUNT = anId('acc');
const [TOKEN, OTHER_TOKEN, CONTRACT, RECIPIENT] = [anAddress(), anAddress(), anAddress(), anAddress()];
const NOW = new Date('2025-06-01T12:00:00.000Z');
const MAX = 2n ** 256n - 1n;
const LIMITATION: Limitation = {
  hours: 24,
  initiatorScope: 'ALL_ITEMS',
  sourceAccountScope: 'ALL_ITEMS',
  destinationScope: 'ALL_ITEMS',
};

interface Asked {
  readonly to: string;
  readonly value: bigint;
  readonly data: string;
  readonly networkId: number;
  readonly accountId: string;
  readonly initiatorId: string;
}

const native = (value: bigint, to = RECIPIENT): Partial<Asked> => ({ to, value, data: '0x' });
const tokens = (amount: bigint, to = RECIPIENT, token = TOKEN): Partial<Asked> => ({
  to: token,
  value: 0n,
  data: transferData(to, amount),
});
const call = (selector: string, value = 0n, to = CONTRACT): Partial<Asked> => ({
  to,
  value,
  data: `${selector}${'00'.repeat(64)}`,
});

function transaction(asked: Partial<Asked>) {
  const { to, value, data, ...who } = {
    ...native(1n),
    networkId: NETWORK_ID,
    accountId: ACCOUNT,
    initiatorId: ALICE.id,
    ...asked,
  } as Asked;
  const read = readContent({ to, value, data }, checksumAddress);
  if (!read.ok) throw new Error(read.refusal.message);
  return { ...who, content: read.value, nested: nestedCallsOf({ to, value, data }) };
}

function context(change: Partial<PolicyContext> = {}): PolicyContext {
  return {
    account: { id: ACCOUNT, networkIds: [NETWORK_ID] },
    members: new Map([ALICE, BOB, CAROL].map((member) => [member.id, member])),
    groups: new Map([[GROUP, [ALICE, BOB]]]),
    isRestricted: (selector) => standardFunctions().get(selector)?.restricted ?? false,
    nativeAsset: { symbol: 'ETH', decimals: 18 },
    tokenFault: null,
    usage: usage(),
    ...change,
  };
}

function usage(change: Partial<Usage> = {}): Usage {
  return { amount: 0n, executions: 0, oldestBlockAt: null, at: NOW, ...change };
}

const failuresOf = (policy: Policy, asked: Partial<Asked> = {}, world: Partial<PolicyContext> = {}) =>
  evaluate(policy, transaction(asked), context(world)).failures;
const conditionsOf = (...question: Parameters<typeof failuresOf>) =>
  failuresOf(...question).map(({ condition }) => condition);

function failure(condition: string, found: string, wanted: string): ConditionFailure {
  return { condition, found, wanted } as ConditionFailure;
}

describe('the network', () => {
  it('is the one of the policy', () => {
    expect(failuresOf(aPolicy())).toEqual([]);
    expect(failuresOf(aPolicy({ networkId: 1 }))).toEqual([failure('network', '31337', '1')]);
  });

  it('is one that the account is on', () => {
    const account = { id: ACCOUNT, networkIds: [1, 2] };
    expect(failuresOf(aPolicy(), {}, { account })).toEqual([
      failure('network', '31337', 'a network of the account: 1 or 2'),
    ]);
  });
});

describe('the account', () => {
  it.each<[string, readonly string[] | null, string[]]>([
    ['any', null, []],
    ['the only one', [ACCOUNT], []],
    ['the last of several', [anId('acc'), ACCOUNT], []],
    ['another', [anId('acc')], ['account']],
    ['none', [], ['account']],
  ])('may be %s', (_, accountIds, conditions) => {
    expect(conditionsOf(aPolicy({ accountIds }))).toEqual(conditions);
  });

  it('must be there, also where any is meant', () => {
    expect(failuresOf(aPolicy(), {}, { account: null })).toEqual([
      failure('account', ACCOUNT, 'an account of the organization'),
    ]);
    expect(conditionsOf(aPolicy({ accountIds: [ACCOUNT] }), {}, { account: null })).toEqual(['account']);
  });

  it('is looked for among many, of which some are named', () => {
    const accountIds = Array.from({ length: 100 }, () => anId('acc'));
    const [found] = failuresOf(aPolicy({ accountIds }));
    expect(found?.wanted).toBe(`${accountIds.slice(0, 5).join(', ')} or 95 more`);
  });
});

describe('the initiator', () => {
  const group = { type: 'group', groupId: GROUP } as const;
  const user = { type: 'user', memberId: ALICE.id } as const;

  it.each<[string, Policy['initiatorSetting'], string, string[]]>([
    ['any member', null, CAROL.id, []],
    ['the member', user, ALICE.id, []],
    ['another member', user, BOB.id, ['initiator']],
    ['of the group', group, BOB.id, []],
    ['not of the group', group, CAROL.id, ['initiator']],
    ['not of a group that is gone', { type: 'group', groupId: anId('grp') }, ALICE.id, ['initiator']],
    ['nobody, by any member', null, anId('mem'), ['initiator']],
  ])('may be %s', (_, initiatorSetting, initiatorId, conditions) => {
    expect(conditionsOf(aPolicy({ initiatorSetting }), { initiatorId })).toEqual(conditions);
  });

  it('is no longer allowed once removed, though the policy and the group still name them', () => {
    const members = new Map([[BOB.id, BOB]]);
    for (const initiatorSetting of [null, user, group]) {
      expect(conditionsOf(aPolicy({ initiatorSetting }), {}, { members })).toEqual(['initiator']);
    }
  });

  it('is allowed as the group is now', () => {
    const policy = aPolicy({ initiatorSetting: group });
    const groups = new Map([[GROUP, [CAROL]]]);
    expect(conditionsOf(policy, { initiatorId: ALICE.id }, { groups })).toEqual(['initiator']);
    expect(conditionsOf(policy, { initiatorId: CAROL.id }, { groups })).toEqual([]);
    expect(conditionsOf(policy, {}, { groups: new Map([[GROUP, []]]) })).toEqual(['initiator']);
  });

  it('is reported with what was wanted', () => {
    expect(failuresOf(aPolicy({ initiatorSetting: group }), { initiatorId: CAROL.id })).toEqual([
      failure('initiator', CAROL.id, `a member of ${GROUP}`),
    ]);
  });
});

describe('the type of a transaction', () => {
  const transfers = aTransferPolicy({ tokenAddress: null });
  const calls = aCallPolicy(null);
  const kinds: [string, Partial<Asked>, boolean][] = [
    ['native currency', native(1n), true],
    ['a token', tokens(1n), true],
    ['a call', call('0x42966c68'), false],
    ['a call with native currency', call('0x42966c68', 1n), false],
    ['a call of no function', { to: CONTRACT, value: 0n, data: '0x' }, false],
    ['fewer bytes than a selector, with native currency', { to: CONTRACT, value: 1n, data: '0x00' }, false],
  ];

  it.each(kinds)('decides which policies cover it: %s', (_, asked, isTransfer) => {
    expect(conditionsOf(transfers, asked)).toEqual(isTransfer ? [] : ['transactionType']);
    expect(conditionsOf(calls, asked)).toEqual(isTransfer ? ['transactionType'] : []);
    expect(conditionsOf(aPolicy(), asked)).toEqual([]);
  });

  it('keeps token transfers from a policy that names the token as a contract, and its function', () => {
    for (const rule of [aRule(TOKEN), aRule(TOKEN, { selectors: ['0xa9059cbb'] })]) {
      expect(failuresOf(aCallPolicy([rule]), tokens(1n))).toEqual([
        failure('transactionType', 'TOKEN_TRANSFER', 'CONTRACT_INTERACTION'),
      ]);
    }
  });
});

describe('the token', () => {
  it.each<[string, string | null, Partial<Asked>, string[]]>([
    ['any token', null, tokens(1n), []],
    ['any token, the native currency', null, native(1n), []],
    ['the token', TOKEN, tokens(1n), []],
    ['the token in lower case', TOKEN.toLowerCase(), tokens(1n), []],
    ['another token', TOKEN, tokens(1n, RECIPIENT, OTHER_TOKEN), ['token']],
    ['the native currency instead', TOKEN, native(1n), ['token']],
    ['the native currency', NATIVE_CURRENCY, native(1n), []],
    ['a token instead of the native currency', NATIVE_CURRENCY, tokens(1n), ['token']],
  ])('may be %s', (_, tokenAddress, asked, conditions) => {
    expect(conditionsOf(aTransferPolicy({ tokenAddress }), asked)).toEqual(conditions);
  });

  it('must be one that can be read, under every policy; the native currency always can', () => {
    const tokenFault = 'there is no contract';
    for (const policy of [
      aTransferPolicy({ tokenAddress: null }),
      aTransferPolicy({ tokenAddress: TOKEN }),
      aPolicy(),
    ]) {
      expect(failuresOf(policy, tokens(1n), { tokenFault })).toEqual([
        failure('token', `${TOKEN}: there is no contract`, 'a token that can be read'),
      ]);
    }
    expect(conditionsOf(aPolicy(), native(1n), { tokenFault })).toEqual([]);
  });
});

describe('the amount', () => {
  it.each<[string, string | null, bigint, string[]]>([
    ['no cap, the largest', null, MAX, []],
    ['below the cap', '1000', 999n, []],
    ['equal to the cap', '1000', 1000n, []],
    ['one above the cap', '1000', 1001n, ['amount']],
    ['nothing under a cap of nothing', '0', 0n, []],
    ['one over a cap of nothing', '0', 1n, ['amount']],
    ['the largest cap', String(MAX), MAX, []],
    ['one over what a float can tell', '9007199254740992', 9007199254740993n, ['amount']],
    ['a cap that is none', '1e3', 1n, ['amount']],
    ['a cap in hex', '0x10', 1n, ['amount']],
    ['a negative cap', '-1', 0n, ['amount']],
    ['an empty cap', '', 0n, ['amount']],
  ])('is held by its maximum: %s', (_, amountThreshold, amount, conditions) => {
    const policy = aTransferPolicy({ tokenAddress: TOKEN, amountThreshold });
    expect(conditionsOf(policy, tokens(amount))).toEqual(conditions);
  });

  it('reports the amount and the maximum in whole units, exact', () => {
    const policy = aTransferPolicy({ amountThreshold: '1500000000000000000' });
    expect(failuresOf(policy, native(1_500_000_000_000_000_001n))).toEqual([
      failure('amount', '1.500000000000000001 "ETH"', 'at most 1.5 "ETH"'),
    ]);
  });

  it('quotes the symbol, which a token has chosen', () => {
    const token = { tokenAddress: TOKEN, tokenSymbol: 'USD" (at most 9\u202e', tokenDecimals: 6 };
    expect(failuresOf(aTransferPolicy({ ...token, amountThreshold: '5' }), tokens(6n))).toEqual([
      failure('amount', '0.000006 "USD\\" (at most 9\\u202e"', 'at most 0.000005 "USD\\" (at most 9\\u202e"'),
    ]);
  });

  it('is in raw units where whole ones are not known, or too long', () => {
    const unnamed = aTransferPolicy({ tokenAddress: null, tokenDecimals: null, amountThreshold: '5' });
    expect(failuresOf(unnamed, tokens(6n))).toEqual([
      failure('amount', '6 raw units', 'an amount of a token that is named'),
    ]);
    const minute = { tokenAddress: TOKEN, tokenSymbol: 'MIN', tokenDecimals: 255, amountThreshold: '5' };
    expect(failuresOf(aTransferPolicy(minute), tokens(6n))).toEqual([
      failure('amount', '6 raw units of "MIN"', 'at most 5 raw units of "MIN"'),
    ]);
  });

  it('has no common maximum over unlike tokens', () => {
    const policy = aTransferPolicy({ tokenAddress: null, amountThreshold: '5' });
    expect(conditionsOf(policy, native(1n))).toEqual(['amount']);
  });
});

describe('the destination', () => {
  it.each<[string, readonly string[], Partial<Asked>, string[]]>([
    ['any', [], native(1n), []],
    ['the one', [RECIPIENT], native(1n), []],
    ['the one, written otherwise', [RECIPIENT.toLowerCase()], native(1n), []],
    ['the last of several', [TOKEN, RECIPIENT], native(1n), []],
    ['another', [TOKEN], native(1n), ['destination']],
    ['whoever a token goes to', [RECIPIENT], tokens(1n), []],
    ['not the token itself', [TOKEN], tokens(1n), ['destination']],
  ])('may be %s', (_, destinationAddresses, asked, conditions) => {
    const policy = aTransferPolicy({ tokenAddress: null, destinationAddresses });
    expect(conditionsOf(policy, asked)).toEqual(conditions);
  });
});

describe('the contract', () => {
  it.each<[string, readonly ContractRule[] | null, string[]]>([
    ['any', null, []],
    ['the one', [aRule(CONTRACT)], []],
    ['the one, written otherwise', [aRule(CONTRACT.toLowerCase())], []],
    ['the last of several', [aRule(TOKEN), aRule(CONTRACT)], []],
    ['another', [aRule(TOKEN)], ['contract']],
    ['none', [], ['contract']],
  ])('may be %s', (_, rules, conditions) => {
    expect(conditionsOf(aCallPolicy(rules), call('0x42966c68'))).toEqual(conditions);
  });
});

describe('the function', () => {
  const named = (...selectors: string[]) => aCallPolicy([aRule(CONTRACT, { selectors })]);

  it.each<[string, Policy, Partial<Asked>, string[]]>([
    ['any function', named(), call('0x42966c68'), []],
    ['no function at all under any', named(), { to: CONTRACT, value: 0n, data: '0x' }, []],
    ['three bytes under any', named(), { to: CONTRACT, value: 0n, data: '0x42966c' }, []],
    ['the named one', named('0x42966c68'), call('0x42966c68'), []],
    ['the named one without arguments', named('0x42966c68'), { ...call('0x'), data: '0x42966c68' }, []],
    ['the last of several', named('0x12345678', '0x42966c68'), call('0x42966c68'), []],
    ['another', named('0x42966c68'), call('0x42966c67'), ['function']],
    ['none though one is named', named('0x42966c68'), { ...call('0x'), data: '0x' }, ['function']],
    ['part of the named one', named('0x42966c68'), { ...call('0x'), data: '0x42966c' }, ['function']],
    ['the named one in upper case', named('0xdeadbeef'), { ...call('0x'), data: '0xDEADBEEF' }, []],
  ])('may be %s', (_, policy, asked, conditions) => {
    expect(conditionsOf(policy, asked)).toEqual(conditions);
  });

  const restricted = [...standardFunctions().values()].filter((known) => known.restricted);
  it.each(restricted.map(({ signature, selector }) => [signature, selector]))(
    'that is restricted is matched only when named: %s',
    (_, selector = '') => {
      const asked = call(selector);
      expect(conditionsOf(aPolicy(), asked)).toEqual(['function']);
      expect(conditionsOf(aCallPolicy(null), asked)).toEqual(['function']);
      expect(conditionsOf(named(), asked)).toEqual(['function']);
      expect(conditionsOf(named('0x42966c68'), asked)).toEqual(['function']);
      expect(conditionsOf(named('0x42966c68', selector), asked)).toEqual([]);
    },
  );

  it('that is restricted is named for one contract and not for the next', () => {
    const policy = aCallPolicy([aRule(TOKEN, { selectors: ['0x095ea7b3'] }), aRule(CONTRACT)]);
    expect(conditionsOf(policy, call('0x095ea7b3', 0n, TOKEN))).toEqual([]);
    expect(conditionsOf(policy, call('0x095ea7b3'))).toEqual(['function']);
  });

  it('that is restricted cannot be called with fewer than 4 bytes, which contracts may fill up with zeros', () => {
    const short = restricted.filter(({ selector }) => selector.endsWith('00'));
    // Every argument of such a call is zero: nothing is moved, and nobody is granted anything.
    expect(short.filter(({ abi }) => abi.inputs.length === 0)).toEqual([]);
  });

  it('of a rule that contradicts itself is none', () => {
    const rule = aRule(CONTRACT, { selectors: ['0x42966c68'] });
    expect(conditionsOf(aCallPolicy([{ ...rule, functions: [] }]), call('0x42966c68'))).toEqual(['function']);
    expect(conditionsOf(aCallPolicy([{ ...rule, allowedFunctions: [] }]), call('0x12345678'))).toEqual([
      'function',
    ]);
  });
});

describe('a function that carries calls', () => {
  const abi = parseAbi([
    'function multicall(bytes[] data)',
    'function aggregate3((address target, bool allowFailure, bytes callData)[] calls)',
    'function aggregate3Value((address target, bool allowFailure, uint256 value, bytes callData)[] calls)',
    'function executeBatch(address[] dest, uint256[] value, bytes[] func)',
    'function execute(address target, uint256 value, bytes data)',
    'function execute(bytes commands, bytes[] inputs, uint256 deadline)',
  ]);
  const encode = (functionName: string, ...args: unknown[]) =>
    encodeFunctionData({ abi: abi as Abi, functionName, args });
  const BURN = `0x42966c68${'0'.repeat(64)}` as Hex;
  const APPROVE = `0x095ea7b3${'0'.repeat(128)}` as Hex;
  const TRANSFER = transferData(RECIPIENT, 5n) as Hex;
  const itself = (...data: Hex[]) => ({ to: CONTRACT, value: 0n, data: encode('multicall', data) });
  const ofOthers = (...calls: [string, bigint, Hex][]) => ({
    to: CONTRACT,
    value: 0n,
    data: encode(
      'aggregate3Value',
      calls.map(([target, value, callData]) => ({ target, allowFailure: false, value, callData })),
    ),
  });
  const any = aCallPolicy(null);
  const [one, both] = [aCallPolicy([aRule(CONTRACT)]), aCallPolicy([aRule(CONTRACT), aRule(TOKEN)])];
  const named = aCallPolicy([aRule(CONTRACT), aRule(TOKEN, { selectors: ['0x095ea7b3'] })]);
  const paid = aCallPolicy([aRule(CONTRACT), aRule(TOKEN, { maxValue: '5' })]);
  const bytes = (data: Hex) => ({ to: CONTRACT, value: 0n, data });

  it.each<[string, Policy, Partial<Asked>, boolean]>([
    ['calls of any function', any, itself(BURN, BURN), true],
    ['none', any, itself(), true],
    ['calls of any function of the contract', one, itself(BURN), true],
    ['one of a restricted function', any, itself(BURN, APPROVE), false],
    ['one of a restricted function, in another', any, itself(itself(BURN).data, itself(APPROVE).data), false],
    ['calls in another', any, itself(itself(itself(BURN).data).data), true],
    ['a token transfer under a policy of calls', any, itself(TRANSFER), false],
    ['a token transfer under a policy of anything', aPolicy(), itself(TRANSFER), false],
    ['native currency under a policy of calls', any, ofOthers([RECIPIENT, 1n, '0x']), false],
    ['native currency under a policy of anything', aPolicy(), ofOthers([RECIPIENT, 1n, '0x']), true],
    ['a call of another contract', one, ofOthers([TOKEN, 0n, BURN]), false],
    ['a call of another contract that is covered', both, ofOthers([TOKEN, 0n, BURN]), true],
    ['a call with more native currency than its contract may get', both, ofOthers([TOKEN, 1n, BURN]), false],
    [
      'calls with the native currency that their contract may get',
      paid,
      ofOthers([TOKEN, 2n, BURN], [TOKEN, 3n, BURN]),
      true,
    ],
    ['calls with more of it together', paid, ofOthers([TOKEN, 3n, BURN], [TOKEN, 3n, BURN]), false],
    [
      'calls with more of it together, one in another',
      paid,
      ofOthers([TOKEN, 3n, BURN], [CONTRACT, 0n, ofOthers([TOKEN, 3n, BURN]).data]),
      false,
    ],
    ['a call of a function that is named', named, ofOthers([TOKEN, 0n, APPROVE]), true],
    ['one that is named, with bytes behind it', named, ofOthers([TOKEN, 0n, `${APPROVE}00`]), false],
    [
      'one that is named, with a dirty address',
      named,
      ofOthers([TOKEN, 0n, `0x095ea7b3${'f'.repeat(64)}${'0'.repeat(64)}`]),
      false,
    ],
    [
      'one that is named, with bytes behind it, in another',
      named,
      ofOthers([CONTRACT, 0n, ofOthers([TOKEN, 0n, `${APPROVE}00`]).data]),
      false,
    ],
    ['a call of a function that is not named there', named, ofOthers([TOKEN, 0n, BURN]), false],
    ['a call of the zero address', any, ofOthers([NATIVE_CURRENCY, 0n, BURN]), false],
    ['calls of lists', any, bytes(encode('executeBatch', [TOKEN], [0n], [BURN])), true],
    ['a restricted one in lists', any, bytes(encode('executeBatch', [TOKEN], [0n], [APPROVE])), false],
    ['lists of different lengths', any, bytes(encode('executeBatch', [TOKEN, TOKEN], [0n], [BURN])), false],
    ['one call', any, bytes(encode('execute', TOKEN, 0n, BURN)), true],
    ['one restricted call', any, bytes(encode('execute', TOKEN, 0n, APPROVE)), false],
    ['a restricted one, with bytes behind it', any, itself(`${APPROVE}00`), false],
    [
      'a restricted one, with a dirty address',
      any,
      itself(`0x095ea7b3${'f'.repeat(64)}${'0'.repeat(64)}`),
      false,
    ],
    ['a program that nobody reads', any, bytes(encode('execute', '0x00', [BURN], 1n)), false],
    ['a program in another call', any, itself(encode('execute', '0x00', [BURN], 1n)), false],
    ['a program under a policy of anything', aPolicy(), bytes(encode('execute', '0x00', [BURN], 1n)), false],
    ['calls, with bytes behind them', any, bytes(`${itself(BURN).data}00` as Hex), false],
    ['what nobody can read', any, bytes('0x8d80ff0a'), false],
    ['calls under a limit of executions', aCallPolicy(null, { limitation: LIMITATION }), itself(BURN), false],
  ])('is permitted under any only if each would be: %s', (_, policy, asked, isPermitted) => {
    expect(conditionsOf(policy, asked)).toEqual(isPermitted ? [] : ['function']);
  });

  it.each<[string, Hex, string]>([
    ['bytes that are a restricted call', `0x12345678${APPROVE.slice(2)}`, 'approve(address,uint256)'],
    ['bytes that are a token transfer', `0x12345678${TRANSFER.slice(2)}`, 'transfer(address,uint256)'],
    [
      'calls in a function that is not known',
      `0x12345678${itself(BURN).data.slice(2)}`,
      'multicall(bytes[])',
    ],
  ])('is not hidden by a function that nobody knows: %s', (_, data, carried) => {
    const found = `0x12345678, which carries ${carried}`;
    const wanted = 'a function that is not restricted, unless it is named';
    for (const policy of [any, one, aPolicy()]) {
      expect(failuresOf(policy, bytes(data))).toEqual([failure('function', found, wanted)]);
      expect(failuresOf(policy, itself(data))).toEqual([failure('function', '0xac9650d8', wanted)]);
    }
    const byName = aCallPolicy([aRule(CONTRACT, { selectors: ['0x12345678'] })]);
    expect(failuresOf(byName, bytes(data))).toEqual([]);
  });

  it('is read four levels deep', () => {
    const nested = (levels: number) =>
      Array.from({ length: levels }).reduce<Hex>((data) => itself(data).data, BURN);
    expect(conditionsOf(any, bytes(nested(4)))).toEqual([]);
    expect(conditionsOf(any, bytes(nested(5)))).toEqual(['function']);
  });

  it('is permitted with all that it carries where it is named', () => {
    const policy = aCallPolicy([aRule(CONTRACT, { selectors: ['0xac9650d8'] })]);
    expect(conditionsOf(policy, itself(APPROVE))).toEqual([]);
  });
});

describe('the value of a call', () => {
  it.each<[string, string, bigint, string[]]>([
    ['nothing where nothing may go', '0', 0n, []],
    ['one where nothing may go', '0', 1n, ['value']],
    ['equal to the maximum', '1000', 1000n, []],
    ['one above the maximum', '1000', 1001n, ['value']],
    ['the largest', String(MAX), MAX, []],
    ['a maximum that is none', 'ten', 0n, ['value']],
  ])('is held by its maximum: %s', (_, maxValue, value, conditions) => {
    const policy = aCallPolicy([aRule(CONTRACT, { maxValue })]);
    expect(conditionsOf(policy, call('0x42966c68', value))).toEqual(conditions);
  });

  it('has no maximum where any contract is covered', () => {
    expect(conditionsOf(aCallPolicy(null), call('0x42966c68', MAX))).toEqual([]);
  });
});

describe('the window of a limitation', () => {
  const limitation = LIMITATION;
  const one = { initiatorId: null, accountId: null, destination: null };

  it('is there only with a limitation', () => {
    expect(usageWindow(aPolicy(), transaction({}))).toBeNull();
  });

  it.each<[string, Partial<Limitation>, object]>([
    ['all share one', {}, {}],
    ['each initiator', { initiatorScope: 'PER_ITEM' }, { initiatorId: ALICE.id }],
    ['each account', { sourceAccountScope: 'PER_ITEM' }, { accountId: ACCOUNT }],
    ['each destination', { destinationScope: 'PER_ITEM' }, { destination: RECIPIENT }],
    [
      'each of all three',
      { initiatorScope: 'PER_ITEM', sourceAccountScope: 'PER_ITEM', destinationScope: 'PER_ITEM' },
      { initiatorId: ALICE.id, accountId: ACCOUNT, destination: RECIPIENT },
    ],
  ])('keeps in its key what has a limit of its own: %s', (_, change, key) => {
    const policy = aTransferPolicy({ tokenAddress: TOKEN }, { limitation: { ...limitation, ...change } });
    expect(usageWindow(policy, transaction(tokens(1n)))).toEqual({
      policyId: policy.id,
      hours: 24,
      asset: { networkId: NETWORK_ID, tokenAddress: TOKEN },
      ...one,
      ...key,
    });
  });

  it.each<[string, Policy]>([
    ['any token', aTransferPolicy({ tokenAddress: null })],
    ['any call', aCallPolicy(null)],
    ['everything', aPolicy()],
  ])('is of whatever the policy let out where no token is named: %s', (_, policy) => {
    const limited = { ...policy, limitation };
    expect(usageWindow(limited, transaction({}))).toMatchObject({ asset: null });
  });

  it('takes the contract as the destination of a call', () => {
    const policy = aCallPolicy(null, { limitation: { ...limitation, destinationScope: 'PER_ITEM' } });
    expect(usageWindow(policy, transaction(call('0x42966c68')))).toMatchObject({ destination: CONTRACT });
  });
});

describe('the value of a call', () => {
  const policy = aCallPolicy([aRule(CONTRACT, { maxValue: '1500000000000000000' })]);

  it('is reported in whole units of the native currency', () => {
    expect(failuresOf(policy, call('0x42966c68', 2n * 10n ** 18n))).toEqual([
      failure('value', '2 "ETH"', 'at most 1.5 "ETH"'),
    ]);
  });

  it('is in raw units of a network that is not configured any more', () => {
    expect(failuresOf(policy, call('0x42966c68', 2n * 10n ** 18n), { nativeAsset: null })).toEqual([
      failure(
        'value',
        '2000000000000000000 raw units of the native currency',
        'at most 1500000000000000000 raw units of the native currency',
      ),
    ]);
  });
});

describe('the budget', () => {
  const limitation = LIMITATION;
  const capped = (amountThreshold: string | null) =>
    aTransferPolicy({ tokenAddress: TOKEN, amountThreshold }, { limitation });
  const spent = (amount: bigint, executions = 1) => ({ usage: usage({ amount, executions }) });

  it.each<[string, bigint, bigint, string[]]>([
    ['nothing spent, all of it', 0n, 1000n, []],
    ['the rest of it', 400n, 600n, []],
    ['one more than the rest', 400n, 601n, ['budget']],
    ['nothing left', 1000n, 1n, ['budget']],
    ['nothing of nothing left', 1000n, 0n, []],
    ['nothing where more is spent than the cap of now', 1001n, 0n, ['budget']],
    ['more than the whole of it', 1n, 1001n, ['amount', 'budget']],
  ])('is the rest of the amount: %s', (_, used, amount, conditions) => {
    expect(conditionsOf(capped('1000'), tokens(amount), spent(used))).toEqual(conditions);
  });

  it('reports the usage and the maximum', () => {
    const budget = { tokenAddress: TOKEN, tokenSymbol: 'USDC', tokenDecimals: 2, amountThreshold: '1000' };
    const policy = aTransferPolicy(budget, { limitation });
    expect(failuresOf(policy, tokens(601n), spent(400n))).toEqual([
      failure('budget', '4 "USDC" before this 6.01 "USDC"', 'at most 10 "USDC" within any 24 hours'),
    ]);
  });

  it.each<[string, Policy, Partial<Asked>]>([
    ['transfers without a cap', capped(null), tokens(5n)],
    ['calls', aCallPolicy(null, { limitation }), call('0x42966c68')],
    ['everything', aPolicy({ limitation }), native(1n)],
  ])('is one execution where there is no amount: %s', (_, policy, asked) => {
    expect(conditionsOf(policy, asked, spent(0n, 0))).toEqual([]);
    expect(failuresOf(policy, asked, spent(0n, 1))).toEqual([
      failure('budget', '1 execution before this one', 'at most 1 execution within any 24 hours'),
    ]);
    expect(conditionsOf(policy, asked, spent(0n, 2))).toEqual(['budget']);
  });

  it('is not touched by what the policy does not cover', () => {
    expect(conditionsOf(capped('1000'), native(1n), spent(1000n))).toEqual(['token']);
    expect(conditionsOf(capped('1000'), call('0x42966c68'), spent(1000n))).toEqual(['transactionType']);
  });

  it('is the only condition that is not checked at creation', () => {
    const found = evaluate(capped('1000'), transaction(tokens(1001n)), context({ usage: null }));
    expect(found.failures.map(({ condition }) => condition)).toEqual(['amount']);
    expect(found.remaining).toBeNull();
  });

  it.each<[string, object]>([
    ['no hours', { hours: 0 }],
    ['half an hour', { hours: 0.5 }],
    ['more than a year', { hours: 8_761 }],
    ['an unknown scope', { destinationScope: 'PER_MEMBER' }],
    ['no scope', { initiatorScope: undefined }],
  ])('is refused for an unreadable limitation: %s', (_, change) => {
    const policy = aTransferPolicy({}, { limitation: { ...limitation, ...change } as Limitation });
    expect(usageWindow(policy, transaction({}))).toBeNull();
    for (const known of [usage(), null]) {
      expect(conditionsOf(policy, native(1n), { usage: known })).toEqual(['budget']);
    }
  });

  describe('the remaining budget', () => {
    const left = (policy: Policy, used: Partial<Usage>) =>
      evaluate(policy, transaction(tokens(1n)), context({ usage: usage(used) })).remaining;
    const end = (iso: string) => new Date(iso);

    it('is null without a limitation', () => {
      expect(left(aTransferPolicy({ amountThreshold: '5' }), {})).toBeNull();
    });

    it('is all of it while nothing is spent; what is spent now comes back a window later', () => {
      const until = end('2025-06-02T12:00:00.000Z');
      expect(left(capped('1000'), {})).toEqual({ amount: 1000n, until });
      expect(left(capped(null), {})).toEqual({ count: 1, until });
    });

    it('is the rest until the oldest block is out of the window', () => {
      const oldestBlockAt = end('2025-05-31T13:30:00.000Z');
      const until = end('2025-06-01T13:30:00.000Z');
      expect(left(capped('1000'), { amount: 400n, executions: 2, oldestBlockAt })).toEqual({
        amount: 600n,
        until,
      });
      expect(left(capped(null), { executions: 1, oldestBlockAt })).toEqual({ count: 0, until });
    });

    it('is zero, not negative, where more is spent than the current maximum', () => {
      expect(left(capped('1000'), { amount: 1001n, executions: 1 })).toMatchObject({ amount: 0n });
    });

    it('comes back a window from now at the earliest while all of it executes', () => {
      expect(left(capped('1000'), { amount: 1n, executions: 1 })?.until).toEqual(
        end('2025-06-02T12:00:00.000Z'),
      );
    });
  });
});

describe('those who have to approve', () => {
  const manual = (approverSetting: ApproverSetting | undefined, type = 'MANUAL_APPROVAL' as Policy['type']) =>
    aPolicy({ type, approverSetting });
  const user = { type: 'user', memberId: BOB.id, excludeInitiator: false } as const;
  const group = { type: 'group', groupId: GROUP, threshold: 2, excludeInitiator: false } as const;

  it.each<[string, Policy, string, (typeof ALICE)[], number]>([
    ['nobody', aPolicy(), ALICE.id, [], 0],
    ['one member', manual(user), ALICE.id, [BOB], 1],
    ['one member, who initiates', manual(user), BOB.id, [BOB], 1],
    ['one member, who must not initiate', manual({ ...user, excludeInitiator: true }), BOB.id, [], 1],
    ['one member, when another initiates', manual({ ...user, excludeInitiator: true }), ALICE.id, [BOB], 1],
    ['a group', manual(group), ALICE.id, [ALICE, BOB], 2],
    ['a group without its initiator', manual({ ...group, excludeInitiator: true }), ALICE.id, [BOB], 2],
    ['a group, by an outsider', manual({ ...group, excludeInitiator: true }), CAROL.id, [ALICE, BOB], 2],
    ['a member who is gone', manual({ ...user, memberId: anId('mem') }), ALICE.id, [], 1],
    ['a group that is gone', manual({ ...group, groupId: anId('grp') }), ALICE.id, [], 2],
    ['nobody who is named', manual(undefined), ALICE.id, [], 1],
    ['a group that needs nobody', manual({ ...group, threshold: 0 }), ALICE.id, [], 1],
    ['by a type that nobody knows', manual(undefined, 'NO_APPROVAL' as Policy['type']), ALICE.id, [], 1],
    ['though it says it is automatic', manual(user, 'AUTO_APPROVAL'), ALICE.id, [BOB], 1],
  ])('are %s', (_, policy, initiatorId, approvers, threshold) => {
    expect(approversOf(policy, initiatorId, context())).toEqual({ approvers, threshold });
    expect(evaluate(policy, transaction({ initiatorId }), context())).toMatchObject({ approvers, threshold });
  });

  it('are those who are in the group now', () => {
    const groups = new Map([[GROUP, [CAROL]]]);
    expect(approversOf(manual(group), ALICE.id, context({ groups })).approvers).toEqual([CAROL]);
  });
});

describe('a policy of which something is unknown', () => {
  it.each<[string, object, string]>([
    ['a type of transactions', { transactionType: 'SWAP' }, 'transactionType'],
    ['a kind of initiator', { initiatorSetting: { type: 'role', roleId: 'x' } }, 'initiator'],
    ['its token', { transactionType: 'TOKEN_TRANSFER', tokenTransferCondition: null }, 'token'],
  ])('refuses: %s', (_, change, condition) => {
    expect(conditionsOf(aPolicy(change as PolicyChange))).toEqual([condition]);
  });
});

describe('a transaction that meets no condition', () => {
  it('is reported with every unmet condition', () => {
    const policy = aTransferPolicy(
      { tokenAddress: TOKEN, amountThreshold: '5', destinationAddresses: [TOKEN] },
      {
        networkId: 1,
        accountIds: [anId('acc')],
        initiatorSetting: { type: 'user', memberId: BOB.id },
        limitation: {
          hours: 1,
          initiatorScope: 'ALL_ITEMS',
          sourceAccountScope: 'ALL_ITEMS',
          destinationScope: 'ALL_ITEMS',
        },
      },
    );
    const { allowed, failures } = evaluate(policy, transaction(tokens(6n)), context());
    expect(allowed).toBe(false);
    expect(failures.map(({ condition }) => condition)).toEqual([
      'network',
      'account',
      'initiator',
      'amount',
      'destination',
      'budget',
    ]);
  });
});
