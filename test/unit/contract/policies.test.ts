import fc from 'fast-check';
import { describeIssue, fieldIssues } from '../../../src/contract/issues';
import { policiesBodies } from '../../../src/contract/policyContract';
import { policyOfView, policyView } from '../../../src/domain/policy';
import { proposedPolicy } from '../../../src/domain/shownPolicy';
import { anAddress, anId } from '../../support/builders';
import {
  aContractPolicyItem,
  anAnyPolicyItem,
  aPolicyItem,
  aPolicyWorld,
  aTokenCondition,
  policyItems,
  storedPolicy,
  type WrittenPolicy,
} from '../../support/policies';

type BodyName = 'mixed' | 'add' | 'update';

function fieldsOf(item: WrittenPolicy, body: BodyName = 'mixed'): string[] {
  const parsed = policiesBodies[body].safeParse({ policies: [item] }, { error: describeIssue });
  return parsed.success
    ? []
    : fieldIssues(parsed.error).map(({ field }) => field.replace('policies[0].', ''));
}

function messageOf(item: WrittenPolicy): string | undefined {
  const parsed = policiesBodies.mixed.safeParse({ policies: [item] }, { error: describeIssue });
  return parsed.success ? undefined : fieldIssues(parsed.error)[0]?.message;
}

function without(item: WrittenPolicy, ...path: string[]): WrittenPolicy {
  const copy = structuredClone(item);
  const last = path.pop() ?? '';
  delete path.reduce((inner, key) => inner[key], copy)[last];
  return copy;
}

const member = anId('mem');
const group = anId('grp');
const account = anId('acc');
const contract = anAddress();
const transfer = (change: object) => aPolicyItem({ tokenTransferCondition: aTokenCondition(change) });
const rule = (change: object = {}) => ({ contractAddress: contract, allowedFunctions: [], ...change });
const calls = (...rules: object[]) => aContractPolicyItem(rules);
const approvedBy = (approverSetting: unknown) => aPolicyItem({ type: 'MANUAL_APPROVAL', approverSetting });
const initiatedBy = (initiatorSetting: unknown) => aPolicyItem({ initiatorSetting });
const limited = (change: object) =>
  aPolicyItem({
    limitation: {
      hours: 24,
      initiatorScope: 'PER_ITEM',
      sourceAccountScope: 'ALL_ITEMS',
      destinationScope: 'PER_ITEM',
      ...change,
    },
  });

const UINT_256 = 2n ** 256n;
const token = 'tokenTransferCondition';
const contracts = 'contractInteractionCondition';

describe('a policy in a request', () => {
  it.each<[string, WrittenPolicy]>([
    ['of transfers', aPolicyItem()],
    ['of transfers of any token', transfer({ tokenAddress: null })],
    ['of transfers of any token, as it was read', transfer({ tokenAddress: null, tokenDecimals: 0 })],
    ['of transfers up to 0', transfer({ amountThreshold: '0' })],
    ['of transfers up to 2^256-1', transfer({ amountThreshold: String(UINT_256 - 1n) })],
    [
      'of transfers to 100 addresses',
      transfer({ destinationAddresses: Array.from({ length: 100 }, anAddress) }),
    ],
    ['of transfers to null, which is anywhere', transfer({ destinationAddresses: null })],
    ['of calls of any contract', aContractPolicyItem(null)],
    ['of calls of any function', calls(rule({ allowedFunctions: null }))],
    ['of calls of two functions', calls(rule({ allowedFunctions: ['mint(address,uint256)', '0x12345678'] }))],
    ['of calls that send native currency', calls(rule({ maxValue: '1' }))],
    ['of everything', anAnyPolicyItem()],
    ['of transfers, with an empty list of contracts', aPolicyItem({ [contracts]: [] })],
    ['of everything, with an empty list of contracts', anAnyPolicyItem({ [contracts]: [] })],
    ['approved by a group, by 1 where it says no threshold', approvedBy({ type: 'group', groupId: group })],
    ['of everything, with conditions that are null', anAnyPolicyItem({ [token]: null, [contracts]: null })],
    ['of a member', initiatedBy({ type: 'user', memberId: member })],
    ['of a member by the other name', initiatedBy({ type: 'user', userId: member })],
    ['of a member by both names', initiatedBy({ type: 'user', memberId: member, userId: member })],
    ['of a group', initiatedBy({ type: 'group', groupId: group, memberId: null, userId: null })],
    ['approved by a member', approvedBy({ type: 'user', memberId: member, threshold: null })],
    [
      'approved by a group',
      approvedBy({ type: 'group', groupId: group, threshold: 2, excludeInitiator: true }),
    ],
    ['without an approver, in so many words', aPolicyItem({ approverSetting: null, limitation: null })],
    ['of one hour', limited({ hours: 1 })],
    ['of a year', limited({ hours: 8_760 })],
    ['with what only a response has', aPolicyItem({ accounts: 5, createdAt: null, updatedAt: [] })],
  ])('%s is taken', (_, item) => {
    expect(fieldsOf(item)).toEqual([]);
  });

  it.each<[string, WrittenPolicy, string]>([
    // Wide only on purpose: what is absent never means any.
    ['without a name', without(aPolicyItem(), 'name'), 'name'],
    ['without a type', without(aPolicyItem(), 'type'), 'type'],
    ['without a transactionType', without(aPolicyItem(), 'transactionType'), 'transactionType'],
    ['without a network', without(aPolicyItem(), 'networkId'), 'networkId'],
    ['without accounts', without(aPolicyItem(), 'accountIds'), 'accountIds'],
    ['without initiators', without(aPolicyItem(), 'initiatorSetting'), 'initiatorSetting'],
    ['without the condition of its transfers', without(aPolicyItem(), token), token],
    ['with null as the condition of its transfers', aPolicyItem({ [token]: null }), token],
    ['without the condition of its calls', without(aContractPolicyItem(null), contracts), contracts],
    ['without a token', without(aPolicyItem(), token, 'tokenAddress'), `${token}.tokenAddress`],
    ['without an amount', without(aPolicyItem(), token, 'amountThreshold'), `${token}.amountThreshold`],
    [
      'without destinations',
      without(aPolicyItem(), token, 'destinationAddresses'),
      `${token}.destinationAddresses`,
    ],
    [
      'without functions',
      without(calls(rule()), contracts, '0', 'allowedFunctions'),
      `${contracts}[0].allowedFunctions`,
    ],
    [
      'without a contract',
      without(calls(rule()), contracts, '0', 'contractAddress'),
      `${contracts}[0].contractAddress`,
    ],
    ['with an empty list of accounts', aPolicyItem({ accountIds: [] }), 'accountIds'],
    ['with an empty list of contracts', aContractPolicyItem([]), contracts],
    // Conditions that exclude each other.
    ['of transfers with a condition of calls', aPolicyItem({ [contracts]: [rule()] }), contracts],
    [
      'of calls with a condition of transfers',
      aContractPolicyItem(null, { [token]: aTokenCondition() }),
      token,
    ],
    ['of everything with a condition of transfers', anAnyPolicyItem({ [token]: aTokenCondition() }), token],
    ['of everything with a condition of calls', anAnyPolicyItem({ [contracts]: [rule()] }), contracts],
    [
      'with an approver that it must not have',
      aPolicyItem({ approverSetting: { type: 'user', memberId: member } }),
      'approverSetting',
    ],
    ['without the approver that it must have', aPolicyItem({ type: 'MANUAL_APPROVAL' }), 'approverSetting'],
    ['with null as the approver that it must have', approvedBy(null), 'approverSetting'],
    // Words.
    ['of another type', aPolicyItem({ type: 'AUTO' }), 'type'],
    ['of another transactionType', aPolicyItem({ transactionType: 'TRANSFER' }), 'transactionType'],
    ['of a network that is a text', aPolicyItem({ networkId: '31337' }), 'networkId'],
    ['with a name of nothing', aPolicyItem({ name: '' }), 'name'],
    ['with a name that turns round', aPolicyItem({ name: 'a\u202eb' }), 'name'],
    [
      'with a description of 1,001 characters',
      aPolicyItem({ description: 'x'.repeat(1_001) }),
      'description',
    ],
    ['with a description of two lines', aPolicyItem({ description: 'a\nb' }), 'description'],
    ['with an id that is none', aPolicyItem({ id: 'pol_1' }), 'id'],
    ['with the id of an account', aPolicyItem({ id: account }), 'id'],
    ['with an unknown key', aPolicyItem({ initiator: null }), 'initiator'],
    ['with an account that is none', aPolicyItem({ accountIds: ['Treasury'] }), 'accountIds[0]'],
    ['with an account twice', aPolicyItem({ accountIds: [account, anId('acc'), account] }), 'accountIds[2]'],
    [
      'with 101 accounts',
      aPolicyItem({ accountIds: Array.from({ length: 101 }, () => anId('acc')) }),
      'accountIds',
    ],
    // Who.
    ['of an initiator of no type', initiatedBy({ memberId: member }), 'initiatorSetting.type'],
    [
      'of an initiator of another type',
      initiatedBy({ type: 'member', memberId: member }),
      'initiatorSetting.type',
    ],
    ['of a member without an id', initiatedBy({ type: 'user' }), 'initiatorSetting.memberId'],
    [
      'of a member whose id is null',
      initiatedBy({ type: 'user', memberId: null }),
      'initiatorSetting.memberId',
    ],
    [
      'of a member by two names that differ',
      initiatedBy({ type: 'user', memberId: member, userId: anId('mem') }),
      'initiatorSetting.userId',
    ],
    [
      'of a member and a group',
      initiatedBy({ type: 'user', memberId: member, groupId: group }),
      'initiatorSetting.groupId',
    ],
    ['of a group without an id', initiatedBy({ type: 'group' }), 'initiatorSetting.groupId'],
    [
      'of a group by the id of a member',
      initiatedBy({ type: 'group', groupId: member }),
      'initiatorSetting.groupId',
    ],
    [
      'of a group and a member',
      initiatedBy({ type: 'group', groupId: group, memberId: member }),
      'initiatorSetting.memberId',
    ],
    [
      'of a group and a member by the other name',
      initiatedBy({ type: 'group', groupId: group, userId: member }),
      'initiatorSetting.userId',
    ],
    [
      'of a group of initiators with a threshold',
      initiatedBy({ type: 'group', groupId: group, threshold: 1 }),
      'initiatorSetting.threshold',
    ],
    [
      'approved by a group with a threshold of null',
      approvedBy({ type: 'group', groupId: group, threshold: null }),
      'approverSetting.threshold',
    ],
    [
      'approved by a group with a threshold of 0',
      approvedBy({ type: 'group', groupId: group, threshold: 0 }),
      'approverSetting.threshold',
    ],
    [
      'approved by a group with half a threshold',
      approvedBy({ type: 'group', groupId: group, threshold: 1.5 }),
      'approverSetting.threshold',
    ],
    [
      'approved by a member with a threshold',
      approvedBy({ type: 'user', memberId: member, threshold: 1 }),
      'approverSetting.threshold',
    ],
    [
      'with an exclusion that is a text',
      approvedBy({ type: 'user', memberId: member, excludeInitiator: 'true' }),
      'approverSetting.excludeInitiator',
    ],
    // How often.
    ['of 0 hours', limited({ hours: 0 }), 'limitation.hours'],
    ['of 8,761 hours', limited({ hours: 8_761 }), 'limitation.hours'],
    ['of half an hour', limited({ hours: 0.5 }), 'limitation.hours'],
    ['of -1 hours', limited({ hours: -1 }), 'limitation.hours'],
    ['of hours in a text', limited({ hours: '24' }), 'limitation.hours'],
    ['of an unknown scope', limited({ initiatorScope: 'PER_USER' }), 'limitation.initiatorScope'],
    [
      'of a scope in small letters',
      limited({ destinationScope: 'all_items' }),
      'limitation.destinationScope',
    ],
    [
      'without a scope',
      without(limited({}), 'limitation', 'sourceAccountScope'),
      'limitation.sourceAccountScope',
    ],
    // Amounts.
    ...[
      ['negative', '-1'],
      ['with a sign', '+1'],
      ['a fraction', '1.5'],
      ['a fraction of nothing', '1.'],
      ['with an exponent', '1e18'],
      ['hexadecimal', '0x10'],
      ['of 79 digits', '1'.repeat(79)],
      ['2^256', String(UINT_256)],
      ['with a leading zero', '01'],
      ['with a space', ' 1'],
      ['with a separator', '1,000'],
      ['of other digits', '١'],
      ['nothing', ''],
      ['a number', 1],
      ['infinite', 'Infinity'],
    ].flatMap(([how, amount]): [string, WrittenPolicy, string][] => [
      [`of an amount that is ${how}`, transfer({ amountThreshold: amount }), `${token}.amountThreshold`],
      [`of a value that is ${how}`, calls(rule({ maxValue: amount })), `${contracts}[0].maxValue`],
    ]),
    [
      'of an amount of any token',
      transfer({ tokenAddress: null, amountThreshold: '1' }),
      `${token}.amountThreshold`,
    ],
    [
      'of decimals of any token',
      transfer({ tokenAddress: null, tokenDecimals: 6 }),
      `${token}.tokenDecimals`,
    ],
    ['of 256 decimals', transfer({ tokenDecimals: 256 }), `${token}.tokenDecimals`],
    ['of a value that is null', calls(rule({ maxValue: null })), `${contracts}[0].maxValue`],
    // Addresses.
    ['of a token that is none', transfer({ tokenAddress: 'USDC' }), `${token}.tokenAddress`],
    [
      'of a token with a wrong checksum',
      transfer({ tokenAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79c8' }),
      `${token}.tokenAddress`,
    ],
    [
      'to the zero address',
      transfer({ destinationAddresses: [contract, `0x${'0'.repeat(40)}`] }),
      `${token}.destinationAddresses[1]`,
    ],
    [
      'to one address in two cases',
      transfer({ destinationAddresses: [contract, contract.toLowerCase()] }),
      `${token}.destinationAddresses[1]`,
    ],
    [
      'to 101 addresses',
      transfer({ destinationAddresses: Array.from({ length: 101 }, anAddress) }),
      `${token}.destinationAddresses`,
    ],
    [
      'to an address that is not a list',
      transfer({ destinationAddresses: contract }),
      `${token}.destinationAddresses`,
    ],
    [
      'of calls of the zero address',
      calls(rule({ contractAddress: `0x${'0'.repeat(40)}` })),
      `${contracts}[0].contractAddress`,
    ],
    [
      'of calls of one contract in two cases',
      calls(rule(), rule({ contractAddress: contract.toLowerCase() })),
      `${contracts}[1].contractAddress`,
    ],
    [
      'of calls of 101 contracts',
      calls(...Array.from({ length: 101 }, () => rule({ contractAddress: anAddress() }))),
      contracts,
    ],
    ['with an unknown key in its transfers', transfer({ symbol: 'ETH' }), `${token}.symbol`],
    ['with an unknown key in its calls', calls(rule({ selectors: [] })), `${contracts}[0].selectors`],
    // Functions.
    ['of a bare name', calls(rule({ allowedFunctions: ['mint'] })), `${contracts}[0].allowedFunctions[0]`],
    [
      'of a selector that is none',
      calls(rule({ allowedFunctions: ['0x1234567'] })),
      `${contracts}[0].allowedFunctions[0]`,
    ],
    [
      'of a signature with spaces',
      calls(rule({ allowedFunctions: ['mint(address, uint256)'] })),
      `${contracts}[0].allowedFunctions[0]`,
    ],
    [
      'of a clashing selector',
      calls(rule({ allowedFunctions: ['f()', 'many_msg_babbage(bytes1)'] })),
      `${contracts}[0].allowedFunctions[1]`,
    ],
    [
      'of a function twice',
      calls(rule({ allowedFunctions: ['f()', 'f()'] })),
      `${contracts}[0].allowedFunctions[1]`,
    ],
    [
      'of a function and its selector',
      calls(rule({ allowedFunctions: ['0xA9059CBB', 'transfer(address,uint256)'] })),
      `${contracts}[0].allowedFunctions[1]`,
    ],
    [
      'of a function that is a number',
      calls(rule({ allowedFunctions: [5] })),
      `${contracts}[0].allowedFunctions[0]`,
    ],
    [
      'of 101 functions',
      calls(rule({ allowedFunctions: Array.from({ length: 101 }, (_, i) => `f${i}()`) })),
      `${contracts}[0].allowedFunctions`,
    ],
  ])('%s is refused at its field', (_, item, field) => {
    expect(fieldsOf(item)).toEqual([field]);
  });

  it('says in words what is wrong', () => {
    expect(messageOf(without(aPolicyItem(), 'accountIds'))).toBe('is required');
    expect(messageOf(aPolicyItem({ type: 'MANUAL_APPROVAL' }))).toBe('is required for MANUAL_APPROVAL');
    expect(messageOf(initiatedBy({ memberId: member }))).toBe('is required');
    expect(messageOf(initiatedBy({ type: 'all' }))).toBe('must be user or group');
    expect(messageOf(calls(rule({ allowedFunctions: ['many_msg_babbage(bytes1)'] })))).toContain(
      'transfer(address,uint256)',
    );
  });

  it('is read with checksums, selectors, and null for what is not there', () => {
    const lower = contract.toLowerCase();
    const other = anAddress();
    const parsed = policiesBodies.add.parse({
      policies: [
        transfer({ tokenAddress: lower, destinationAddresses: [other.toLowerCase()] }),
        calls({ contractAddress: lower, allowedFunctions: ['f()', '0xA9059CBB'] }),
      ],
    });
    const nothing = { description: null, limitation: null, approverSetting: null };
    expect(parsed.policies).toEqual([
      {
        ...aPolicyItem({ name: expect.any(String) }),
        ...nothing,
        contractInteractionCondition: null,
        tokenTransferCondition: {
          tokenAddress: contract,
          tokenDecimals: null,
          amountThreshold: null,
          destinationAddresses: [other],
        },
      },
      {
        ...aContractPolicyItem(null, { name: expect.any(String) }),
        ...nothing,
        tokenTransferCondition: null,
        contractInteractionCondition: [
          {
            contractAddress: contract,
            allowedFunctions: ['f()', '0xA9059CBB'],
            functions: [
              { name: 'f', selector: '0x26121ff0' },
              { name: 'transfer', selector: '0xa9059cbb' },
            ],
            maxValue: '0',
          },
        ],
      },
    ]);
  });
});

describe('a request about policies', () => {
  const id = anId('pol');
  const fields = (name: keyof typeof policiesBodies, body: unknown) => {
    const parsed = policiesBodies[name].safeParse(body, { error: describeIssue });
    return parsed.success ? [] : fieldIssues(parsed.error).map(({ field }) => field);
  };

  it('has ids where its policies are there, and none where they are new', () => {
    expect(fieldsOf(aPolicyItem({ id }), 'add')).toEqual(['id']);
    expect(fieldsOf(aPolicyItem(), 'update')).toEqual(['id']);
    expect(fieldsOf(aPolicyItem({ id }), 'update')).toEqual([]);
    expect(fieldsOf(aPolicyItem({ id }), 'mixed')).toEqual([]);
  });

  it.each<[string, keyof typeof policiesBodies, unknown, string]>([
    ['nothing', 'mixed', {}, 'policies'],
    ['no policies', 'mixed', { policies: [] }, 'policies'],
    [
      '101 policies',
      'add',
      { policies: Array.from({ length: 101 }, (_, i) => aPolicyItem({ name: `p${i}` })) },
      'policies',
    ],
    [
      'a policy that is there twice',
      'mixed',
      { policies: [aPolicyItem({ id }), aPolicyItem({ id, name: 'b' })] },
      'policies[1].id',
    ],
    [
      'a new policy twice',
      'add',
      {
        policies: ['a', 'b', 'a'].map((name, i) =>
          aPolicyItem({ name, ...(i === 2 ? { description: '' } : {}) }),
        ),
      },
      'policies[2]',
    ],
    ['an unknown key', 'mixed', { policies: [aPolicyItem()], dryRun: true }, 'dryRun'],
    ['no policies to remove', 'remove', { policyIds: [] }, 'policyIds'],
    ['a policy to remove twice', 'remove', { policyIds: [id, id] }, 'policyIds[1]'],
    ['something else to remove', 'remove', { policyIds: [account] }, 'policyIds[0]'],
    ['policies to remove by another name', 'remove', { ids: [id] }, 'policyIds'],
  ])('with %s is refused', (_, name, body, field) => {
    expect(fields(name, body)[0]).toBe(field);
  });
});

/** Where null means any, or no maximum; nowhere else is there one. */
const MEANING_ANY =
  /^(accountIds|initiatorSetting|contractInteractionCondition|tokenTransferCondition\.(tokenAddress|amountThreshold))$/;

/** The paths of what is null. */
function nullsIn(value: unknown, path: readonly string[] = []): string[] {
  if (value === null) return [path.join('.')];
  if (typeof value !== 'object') return [];
  return Object.entries(value as object).flatMap(([key, inner]) => nullsIn(inner, [...path, key]));
}

describe('the destinations, contracts and functions of a request', () => {
  const address = (i: number) => `0x${(i + 1).toString(16).padStart(40, '0')}`;
  const paying = (count: number) => ({
    tokenTransferCondition: { destinationAddresses: Array.from({ length: count }, (_, i) => address(i)) },
  });
  const calling = (count: number, functions: number) => ({
    contractInteractionCondition: Array.from({ length: count }, (_, i) => ({
      contractAddress: address(i),
      allowedFunctions: Array.from({ length: functions }, (_, n) => `f${n}()`),
    })),
  });
  const issuesOf = (policies: unknown) =>
    policiesBodies.mixed
      .safeParse({ policies }, { error: describeIssue })
      .error?.issues.map(({ message }) => message) ?? [];
  const TOO_MANY = /^must have at most 500 destinations, contracts and functions together \(has (\d+)\)$/;

  it('are counted before any of them is read', () => {
    const half = calling(25, 9);
    expect(issuesOf([half, half]).filter((message) => TOO_MANY.test(message))).toEqual([]);
    expect(issuesOf([half, half, paying(1)])).toEqual([expect.stringMatching(TOO_MANY)]);
    expect(issuesOf(Array(6).fill(paying(100)))).toEqual([expect.stringMatching(TOO_MANY)]);
  });

  it('are none where something else is there', () => {
    for (const policies of [undefined, null, 0, {}, [null], [{ contractInteractionCondition: [null, 1] }]]) {
      expect(issuesOf(policies).filter((message) => TOO_MANY.test(message))).toEqual([]);
    }
  });
});

describe('every policy', () => {
  const world = aPolicyWorld();
  const accounts = world.accountIds.map((id, i) => ({ id, name: `Account ${i}`, address: anAddress() }));

  it('can be sent back as it was answered, and is then the same', () => {
    fc.assert(
      fc.property(policyItems(world), (item) => {
        const definition = storedPolicy(item);
        const answered = {
          id: anId('pol'),
          ...policyView(definition, accounts),
          createdAt: '2025-06-01T12:00:00.000Z',
          updatedAt: '2025-06-01T12:00:00.000Z',
        };
        expect(storedPolicy(JSON.parse(JSON.stringify(answered)))).toEqual(definition);
      }),
    );
  });

  it('comes out of what was signed as it went in', () => {
    fc.assert(
      fc.property(policyItems(world), (item) => {
        const definition = storedPolicy(item);
        const shown = JSON.parse(JSON.stringify(policyView(definition, accounts)));
        const proposed = { id: anId('pol'), ...shown };
        expect(proposedPolicy.parse(proposed)).toEqual(proposed);
        const changed = { ...proposed, revision: 3 };
        expect(proposedPolicy.parse(changed)).toEqual(changed);
        expect(policyOfView(shown)).toEqual(definition);
        const keys = Object.keys(shown);
        expect(keys).toEqual(expect.arrayContaining(['accountIds', 'accounts', 'initiatorSetting']));
        expect(nullsIn(shown)).toEqual(nullsIn(shown).filter((path) => MEANING_ANY.test(path)));
        expect(keys.includes(token)).toBe(item.transactionType === 'TOKEN_TRANSFER');
        expect(keys.includes(contracts)).toBe(item.transactionType === 'CONTRACT_INTERACTION');
      }),
    );
  });
});
