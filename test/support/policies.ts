import fc from 'fast-check';
import { policiesBodies } from '../../src/contract/policyContract';
import type { PolicyDefinition } from '../../src/domain/policy';
import { ANY_TOKEN, definitionFrom } from '../../src/operations/policyItems.request';
import { anAddress, anId } from './builders';

// biome-ignore lint/suspicious/noExplicitAny: a policy as a caller may write it, right or wrong
export type WrittenPolicy = any;

let made = 0;

/** A policy with a name of its own, of transfers of the native currency, by anybody, from any account, to anywhere, without any limit. */
export function aPolicyItem(change: object = {}): WrittenPolicy {
  made += 1;
  return {
    name: `Payroll ${made}`,
    type: 'AUTO_APPROVAL',
    transactionType: 'TOKEN_TRANSFER',
    networkId: 31337,
    accountIds: null,
    initiatorSetting: null,
    tokenTransferCondition: aTokenCondition(),
    ...change,
  };
}

/** Any amount of the native currency to anywhere. */
export function aTokenCondition(change: object = {}): WrittenPolicy {
  return {
    tokenAddress: `0x${'0'.repeat(40)}`,
    amountThreshold: null,
    destinationAddresses: [],
    ...change,
  };
}

/** A policy of calls of one contract. */
export function aContractPolicyItem(rules: readonly object[] | null, change: object = {}): WrittenPolicy {
  const { tokenTransferCondition: _, ...item } = aPolicyItem();
  return {
    ...item,
    transactionType: 'CONTRACT_INTERACTION',
    contractInteractionCondition: rules,
    ...change,
  };
}

/** A policy of everything. */
export function anAnyPolicyItem(change: object = {}): WrittenPolicy {
  const { tokenTransferCondition: _, ...item } = aPolicyItem();
  return { ...item, transactionType: 'ANY', ...change };
}

/** What generated policies can name. */
interface PolicyWorld {
  readonly networkIds: readonly number[];
  readonly accountIds: readonly string[];
  readonly memberIds: readonly string[];
  /** Ids of groups, with the number of their members. */
  readonly groups: readonly { readonly id: string; readonly size: number }[];
  /** Tokens besides the native currency, by network. */
  readonly tokenAddresses: readonly string[];
}

/** A world that nobody has looked at. */
export function aPolicyWorld(): PolicyWorld {
  return {
    networkIds: [1, 31337, 4_294_967_295],
    accountIds: [anId('acc'), anId('acc'), anId('acc')],
    memberIds: [anId('mem'), anId('mem')],
    groups: [
      { id: anId('grp'), size: 1 },
      { id: anId('grp'), size: 3 },
    ],
    tokenAddresses: [anAddress(), anAddress()],
  };
}

const FUNCTIONS = [
  'mint(address,uint256)',
  'approve(address,uint256)',
  'multicall(bytes[])',
  'f((uint256,bool)[2][])',
  '0x12345678',
  '0xDEADBEEF',
  '0xa9059cbb',
];

const amount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String);
const plainName = (maximum: number) =>
  fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: maximum })
    .filter(
      (text) =>
        text.trim() !== '' &&
        [...text].length <= maximum &&
        !/\p{Cc}|\p{Surrogate}|[\u2028\u2029\u2800\u{1d159}]/u.test(text) &&
        !/\p{Default_Ignorable_Code_Point}|\p{Noncharacter_Code_Point}/u.test(text),
    );

/** A name that a user can give: quotes, commas and words of our own sentences among others. */
export const policyName = fc.oneof(
  plainName(40),
  fc.constantFrom(
    'WITHOUT LIMIT',
    '", approved automatically',
    'a\\',
    '"',
    'any member, any number of times',
  ),
);

/** Any policy that may be asked for in that world. */
export function policyItems(world: PolicyWorld): fc.Arbitrary<WrittenPolicy> {
  const scope = fc.constantFrom('PER_ITEM', 'ALL_ITEMS');
  const someAddresses = fc
    .uniqueArray(
      fc.bigInt({ min: 1n, max: 2n ** 160n - 1n }).map((n) => `0x${n.toString(16).padStart(40, '0')}`),
      { maxLength: 8 },
    )
    .chain((addresses) => fc.constantFrom(addresses, ...(addresses.length === 0 ? [null] : [])));
  const member = fc
    .constantFrom(...world.memberIds)
    .chain((id) =>
      fc.constantFrom(
        { type: 'user', memberId: id },
        { type: 'user', userId: id },
        { type: 'user', memberId: id, userId: id, groupId: null },
      ),
    );
  const group = fc.constantFrom(...world.groups);
  const initiator = fc.oneof(
    fc.constant(null),
    member,
    group.map(({ id }) => ({ type: 'group', groupId: id })),
  );
  const approver = fc
    .tuple(
      fc.oneof(
        member,
        group.chain(({ id, size }) =>
          fc.integer({ min: 1, max: size }).map((threshold) => ({ type: 'group', groupId: id, threshold })),
        ),
      ),
      fc.constantFrom({}, { excludeInitiator: true }, { excludeInitiator: false }),
    )
    .map(([setting, more]) => ({ ...setting, ...more }));
  const approval = fc.oneof(
    fc.constantFrom({ type: 'AUTO_APPROVAL' }, { type: 'AUTO_APPROVAL', approverSetting: null }),
    approver.map((approverSetting) => ({ type: 'MANUAL_APPROVAL', approverSetting })),
  );
  const token = fc.oneof(
    fc.record({ tokenAddress: fc.constant(null), amountThreshold: fc.constant(null) }),
    fc.record({
      tokenAddress: fc.constantFrom(`0x${'0'.repeat(40)}`, ...world.tokenAddresses),
      amountThreshold: fc.option(amount),
    }),
  );
  const rule = fc.record(
    {
      contractAddress: fc
        .bigInt({ min: 1n, max: 2n ** 160n - 1n })
        .map((n) => `0x${n.toString(16).padStart(40, '0')}`),
      allowedFunctions: fc.oneof(fc.constant(null), fc.subarray(FUNCTIONS)),
      maxValue: amount,
    },
    { requiredKeys: ['contractAddress', 'allowedFunctions'] },
  );
  const cover = fc.oneof(
    fc.tuple(token, someAddresses).map(([condition, destinationAddresses]) => ({
      transactionType: 'TOKEN_TRANSFER',
      tokenTransferCondition: { ...condition, destinationAddresses },
    })),
    fc
      .option(
        fc.uniqueArray(rule, {
          minLength: 1,
          maxLength: 7,
          selector: ({ contractAddress }) => contractAddress,
        }),
      )
      .map((contractInteractionCondition) => ({
        transactionType: 'CONTRACT_INTERACTION',
        contractInteractionCondition,
      })),
    fc.constant({ transactionType: 'ANY' }),
  );
  return fc
    .tuple(
      fc.record(
        {
          name: policyName,
          networkId: fc.constantFrom(...world.networkIds),
          description: fc.option(fc.constantFrom('', 'Salaries', 'x'.repeat(1_000))),
          accountIds: fc.oneof(fc.constant(null), fc.subarray([...world.accountIds], { minLength: 1 })),
          initiatorSetting: initiator,
          limitation: fc.option(
            fc.record({
              hours: fc.integer({ min: 1, max: 8_760 }),
              initiatorScope: scope,
              sourceAccountScope: scope,
              destinationScope: scope,
            }),
          ),
        },
        { requiredKeys: ['name', 'networkId', 'accountIds', 'initiatorSetting'] },
      ),
      approval,
      cover,
    )
    .map((parts) => Object.assign({}, ...parts));
}

/** What is stored of an item, with invented facts of its token. */
export function storedPolicy(item: WrittenPolicy): PolicyDefinition {
  const [parsed] = policiesBodies.mixed.parse({ policies: [item] }).policies;
  if (!parsed) throw new Error('nothing was read');
  const token = { symbol: 'T', name: 'Token', decimals: 6, logoUrl: 'https://logo.example' };
  const anyToken = parsed.tokenTransferCondition?.tokenAddress === null;
  return definitionFrom(parsed, anyToken ? ANY_TOKEN : token);
}
