import fc from 'fast-check';
import { formatUnits } from 'viem';
import { z } from 'zod';
import { policiesBodies } from '../../../src/contract/policyContract';
import { definitionOf } from '../../../src/db/policies';
import {
  type ContractRule,
  NATIVE_CURRENCY,
  type PolicyDefinition,
  type PolicyView,
  policyOfView,
  policyView,
} from '../../../src/domain/policy';
import { displayAmount, type PolicyNames, policyDanger, policyLines } from '../../../src/domain/policyText';
import { definitionFrom } from '../../../src/operations/policyItems.request';
import { anAddress, anId } from '../../support/builders';
import { aPolicyWorld, policyItems, policyName, type WrittenPolicy } from '../../support/policies';
import { aPolicy, type PolicyChange } from '../../support/transactions';

const TOKEN = '0x468f18d57bC8bAE33874e6429638edf9F6F77c41';
const names: PolicyNames = {
  network: { name: 'Local One', nativeAsset: { symbol: 'ETH', decimals: 18 } },
  account: (id) => ({ name: `Account ${id}`, address: `0x${id}` }),
  member: (id) => `Member ${id}`,
  group: (id) => `Group ${id}`,
};

const policy = (change: PolicyChange = {}): PolicyDefinition =>
  definitionOf(aPolicy({ name: 'Payroll', ...change }));

const transfers = (change: object = {}, more: PolicyChange = {}) =>
  policy({
    transactionType: 'TOKEN_TRANSFER',
    tokenTransferCondition: {
      tokenAddress: TOKEN,
      tokenSymbol: 'DEMO',
      tokenName: 'Demo Token',
      tokenDecimals: 6,
      amountThreshold: '1500000',
      destinationAddresses: [],
      ...change,
    },
    ...more,
  });

const calls = (rules: readonly ContractRule[] | null) =>
  policy({ transactionType: 'CONTRACT_INTERACTION', contractInteractionCondition: rules });

const anybody = [
  'Approved automatically',
  'Initiated by any member',
  'From any account of the organization on "Local One" (31337)',
  'Any number of times',
];

describe('a policy in words', () => {
  it('says what is transferred, where, from where, by whom and how often', () => {
    expect(policyLines(transfers(), names)).toEqual([
      `Transfers of at most 1.5 "DEMO" ("Demo Token", ${TOKEN}) each`,
      'To any address',
      ...anybody,
    ]);
  });

  it('says WITHOUT LIMIT where nothing caps the amount', () => {
    expect(policyLines(transfers({ amountThreshold: null }), names)).toContain(
      `Transfers of "DEMO" ("Demo Token", ${TOKEN}) WITHOUT LIMIT`,
    );
    expect(
      policyLines(
        transfers({ tokenAddress: null, amountThreshold: null, destinationAddresses: ['0xA'] }),
        names,
      ),
    ).toEqual(['Transfers of any token WITHOUT LIMIT', 'To 0xA', ...anybody]);
  });

  it('names the native currency', () => {
    const native = {
      tokenAddress: NATIVE_CURRENCY,
      tokenSymbol: 'ETH',
      tokenName: 'Ether',
      tokenDecimals: 18,
    };
    expect(policyLines(transfers({ ...native, amountThreshold: '1' }), names)).toContain(
      'Transfers of at most 0.000000000000000001 "ETH" ("Ether", native currency) each',
    );
  });

  it('has a line of its own for what is dangerous, whatever is named', () => {
    const long = '😀'.repeat(97);
    const unlimited = transfers(
      { tokenName: long, tokenSymbol: long, amountThreshold: null },
      { name: long },
    );
    const shown = '😀'.repeat(12);
    expect(policyLines(unlimited, names)[0]).toBe(
      `Transfers of "${'😀'.repeat(6)}"… ("${shown}"…, ${TOKEN}) WITHOUT LIMIT`,
    );
    expect(policyDanger(unlimited)).toEqual({ unlimited: true, automatic: true });
    expect(policyDanger(transfers())).toEqual({ unlimited: false, automatic: true });
  });

  it('has an amount whole, in raw units where these are shorter', () => {
    const [line] = policyLines(transfers({ tokenDecimals: 255 }), names);
    expect(line).toBe(`Transfers of at most 1500000 raw units of "DEMO" ("Demo Token", ${TOKEN}) each`);
  });

  it('counts the addresses for which a line has no room', () => {
    const addresses = Array.from({ length: 100 }, () => TOKEN);
    const [, line = ''] = policyLines(transfers({ destinationAddresses: addresses }), names);
    expect(line).toBe(`To ${Array.from({ length: 4 }, () => TOKEN).join(', ')} and 96 more`);
  });

  it('says which contracts and functions may be called, and with how much native currency', () => {
    const rules = [
      {
        contractAddress: '0xA',
        allowedFunctions: ['mint(address,uint256)', '0xa9059cbb', '0x12345678'],
        functions: [
          { name: 'mint', selector: '0x40c10f19' },
          { name: 'transfer', selector: '0xa9059cbb' },
          { selector: '0x12345678' },
        ],
        maxValue: '0',
      },
      { contractAddress: '0xB', allowedFunctions: [], functions: [], maxValue: '1500000000000000000' },
    ];
    expect(policyLines(calls(rules), names)).toEqual([
      'Calls of 0xB with at most 1.5 "ETH": any function WITHOUT LIMIT',
      'Calls of 0xA with no native currency: mint(address,uint256), 0xa9059cbb (transfer), 0x12345678',
      ...anybody,
    ]);
    const named = { contractAddress: '0xA', allowedFunctions: ['a()'], functions: [], maxValue: '0' };
    const many = [...Array.from({ length: 9 }, () => named), { ...named, allowedFunctions: [] }];
    expect(policyLines(calls(many), names).slice(0, 3)).toEqual([
      'Calls of 0xA with no native currency: any function WITHOUT LIMIT',
      'Calls of 0xA with no native currency: a()',
      'Calls of 8 more contracts',
    ]);
    const dangerous = many.map((rule) => ({ ...rule, allowedFunctions: [] }));
    expect(policyLines(calls(dangerous), names)[2]).toBe(
      'Calls of 8 more contracts, any function of 8 of them WITHOUT LIMIT',
    );
    expect(policyLines(calls(null), names)[0]).toBe('Calls of any contract WITHOUT LIMIT');
  });

  it('says WITHOUT LIMIT where everything is covered', () => {
    expect(policyLines(policy(), names)).toContain(
      'Transfers of any token and calls of any contract WITHOUT LIMIT',
    );
  });

  it('says from which accounts', () => {
    expect(policyLines(policy({ accountIds: ['1'] }), names)).toContain(
      'From the account "Account 1" (0x1) on "Local One" (31337)',
    );
    expect(policyLines(policy({ accountIds: ['1', '2'] }), names)).toContain(
      'From the accounts "Account 1" (0x1), "Account 2" (0x2) on "Local One" (31337)',
    );
    const many = Array.from({ length: 100 }, (_, i) => String(i));
    expect(policyLines(policy({ accountIds: many }), names).join()).toMatch(
      /"Account 8" \(0x8\) and 91 more on "Local One" \(31337\)/,
    );
  });

  it('says who may initiate and who must approve', () => {
    const lines = (change: PolicyChange) => policyLines(policy(change), names);
    expect(lines({ initiatorSetting: { type: 'user', memberId: 'mem_1' } })).toContain(
      'Initiated by "Member mem_1" (mem_1)',
    );
    expect(lines({ initiatorSetting: { type: 'group', groupId: 'grp_1' } })).toContain(
      'Initiated by any member of the group "Group grp_1" (grp_1)',
    );
    expect(
      lines({ approverSetting: { type: 'user', memberId: 'mem_1', excludeInitiator: false } }),
    ).toContain('Approved by "Member mem_1" (mem_1), the initiator may approve too');
    expect(
      lines({ approverSetting: { type: 'group', groupId: 'grp_1', threshold: 2, excludeInitiator: true } }),
    ).toContain('Approved by 2 of the group "Group grp_1" (grp_1), never by the initiator');
    const byTwo = (memberId: string) =>
      lines({
        initiatorSetting: { type: 'user', memberId: 'mem_1' },
        approverSetting: { type: 'user', memberId, excludeInitiator: false },
      });
    expect(byTwo('mem_1')).toContain('Approved by "Member mem_1" (mem_1), the initiator may approve too');
    expect(byTwo('mem_2')).toContain('Approved by "Member mem_2" (mem_2)');
  });

  it.each([
    [
      ['PER_ITEM', 'PER_ITEM', 'PER_ITEM'],
      24,
      'within any 24 hours for each initiator, each account and each destination',
    ],
    [
      ['ALL_ITEMS', 'ALL_ITEMS', 'ALL_ITEMS'],
      1,
      'within any hour over all initiators, accounts and destinations',
    ],
    [
      ['ALL_ITEMS', 'PER_ITEM', 'ALL_ITEMS'],
      8_760,
      'within any 8760 hours for each account, over all initiators and destinations',
    ],
  ] as const)(
    'says what a limitation of %j allows',
    ([initiatorScope, sourceAccountScope, destinationScope], hours, words) => {
      const limitation = { hours, initiatorScope, sourceAccountScope, destinationScope };
      expect(policyLines(transfers({}, { limitation }), names).at(-1)).toBe(
        `At most 1.5 "DEMO" together ${words}`,
      );
      expect(policyLines(policy({ limitation }), names).at(-1)).toBe(`At most one execution ${words}`);
    },
  );
});

describe('an amount', () => {
  it('is shown in whole units, exactly', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
        fc.integer({ min: 0, max: 255 }),
        (raw, decimals) => {
          expect(displayAmount(String(raw), decimals)).toBe(formatUnits(raw, decimals));
        },
      ),
    );
  });
});

describe('every policy in words', () => {
  const world = aPolicyWorld();
  const addresses = new Map(world.accountIds.map((id) => [id, anAddress()]));
  const QUOTED = /("(?:[^"\\]|\\.)*")(…)?/g;

  /** A name stands whole, or with a mark as its beginning. */
  function assertShown(name: string, quotation: string, mark: string | undefined): void {
    const shown = JSON.parse(quotation);
    expect(mark ? name.startsWith(shown) && shown !== name : shown === name).toBe(true);
  }

  it('has names in quotes only, and says exactly where there is no limit, and where the initiator may approve', () => {
    // A letter that no sentence of ours has marks whatever somebody has named.
    const marked = policyName.map((name) => `Ж${name}Ж`);
    fc.assert(
      fc.property(
        policyItems(world),
        marked,
        fc.integer({ min: 0, max: 255 }),
        (item, name, tokenDecimals) => {
          const [parsed] = policiesBodies.mixed.parse({ policies: [{ ...item, name: 'x' }] }).policies;
          if (!parsed) throw new Error('nothing was read');
          const token = { symbol: name, name, decimals: tokenDecimals, logoUrl: null };
          const definition = definitionFrom({ ...parsed, name }, token);
          const lines = policyLines(definition, {
            network: { name, nativeAsset: { symbol: name, decimals: 18 } },
            account: (id) => ({ name, address: addresses.get(id) ?? '' }),
            member: () => name,
            group: () => name,
          });
          for (const line of lines) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(252);
          const text = lines.join('\n');
          const ours = text.replace(QUOTED, '');
          expect(ours).not.toMatch(/["Ж]/);
          for (const [, quotation = '', mark] of text.matchAll(QUOTED)) assertShown(name, quotation, mark);
          const unlimited =
            item.transactionType === 'ANY' ||
            (item.transactionType === 'CONTRACT_INTERACTION' &&
              (item.contractInteractionCondition?.some(
                (rule: { allowedFunctions: readonly string[] | null }) => !rule.allowedFunctions?.length,
              ) ??
                true)) ||
            (item.transactionType === 'TOKEN_TRANSFER' &&
              item.tokenTransferCondition.amountThreshold === null);
          expect(ours.includes('WITHOUT LIMIT')).toBe(unlimited);
          expect(policyDanger(definition)).toEqual({
            unlimited,
            automatic: definition.approverSetting === undefined,
          });
          const { initiatorSetting: initiator, approverSetting: approver } = definition;
          const isAnother =
            initiator?.type === 'user' &&
            approver?.type === 'user' &&
            initiator.memberId !== approver.memberId;
          const mayApprove = approver !== undefined && !approver.excludeInitiator && !isAnother;
          expect(ours.includes('the initiator may approve too')).toBe(mayApprove);
        },
      ),
    );
  });
});

describe('a policy that contradicts itself', () => {
  const member = { type: 'user', memberId: 'mem_1', excludeInitiator: false } as const;
  const shown: WrittenPolicy = policyView(policy({ type: 'MANUAL_APPROVAL', approverSetting: member }), []);
  const approvers = { type: 'group', groupId: 'grp_1', threshold: 1, excludeInitiator: false };
  const limitation = {
    hours: 24,
    initiatorScope: 'PER_ITEM',
    sourceAccountScope: 'PER_ITEM',
    destinationScope: 'PER_ITEM',
  };
  const { approverSetting: _, ...unapproved } = shown;

  it.each<[string, WrittenPolicy]>([
    ['a group of approvers without a threshold', { approverSetting: { ...approvers, threshold: undefined } }],
    ['a group of which none must approve', { approverSetting: { ...approvers, threshold: 0 } }],
    ['an initiator without an id', { initiatorSetting: { type: 'group' } }],
    ['an initiator of an unknown type', { initiatorSetting: { type: 'role', roleId: 'x' } }],
    ['an unknown transactionType', { transactionType: 'SWAP' }],
    ['a condition of another transactionType', { contractInteractionCondition: null }],
    ['an unknown field', { dailyLimit: '1' }],
    ['an unknown scope', { limitation: { ...limitation, destinationScope: 'SOME' } }],
    ['a window of no length', { limitation: { ...limitation, hours: 0 } }],
    ['a window longer than a year', { limitation: { ...limitation, hours: 8_761 } }],
    ['no account', { accountIds: [] }],
    ['null for what it does not have', { description: null }],
  ])('is not read: %s', (_name, change) => {
    expect(policyOfView(shown)).toEqual(policy({ type: 'MANUAL_APPROVAL', approverSetting: member }));
    expect(() => policyOfView({ ...shown, ...change })).toThrow(z.ZodError);
  });

  it('is not read without the approver that it needs', () => {
    expect(() => policyOfView(unapproved as PolicyView)).toThrow(/approverSetting/);
    expect(() => policyOfView({ ...shown, type: 'AUTO_APPROVAL' })).toThrow(/approverSetting/);
  });

  it('is not shown with an account that is unknown', () => {
    expect(() => policyView(policy({ accountIds: [anId('acc')] }), [])).toThrow(/not found/);
  });
});
