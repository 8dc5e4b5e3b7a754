import fc from 'fast-check';
import { formatUnits } from 'viem';
import { z } from 'zod';
import { policiesBodies } from '../../../src/contract/policies';
import { definitionOf } from '../../../src/db/policies';
import {
  type ContractRule,
  NATIVE_CURRENCY,
  type PolicyDefinition,
  type PolicyView,
  policyOfView,
  policyView,
} from '../../../src/domain/policy';
import { displayAmount, type PolicyNames, policyText } from '../../../src/domain/policyText';
import { definitionFrom } from '../../../src/operations/policyItems';
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

const anybody = 'from any account of the organization, initiated by any member, approved automatically';
const always = 'any number of times';

describe('a policy in words', () => {
  it('says what is transferred, where, from where, by whom and how often', () => {
    expect(policyText(transfers(), names)).toBe(
      `"Payroll": transfers of at most 1.5 "DEMO" ("Demo Token", ${TOKEN}) each to any address, ` +
        `on "Local One" (31337), ${anybody}, ${always}`,
    );
  });

  it('says WITHOUT LIMIT where nothing caps the amount', () => {
    expect(policyText(transfers({ amountThreshold: null }), names)).toContain(
      `transfers of "DEMO" ("Demo Token", ${TOKEN}) WITHOUT LIMIT to any address`,
    );
    expect(
      policyText(
        transfers({ tokenAddress: null, amountThreshold: null, destinationAddresses: ['0xA'] }),
        names,
      ),
    ).toContain('transfers of any token WITHOUT LIMIT to 0xA,');
  });

  it('names the native currency', () => {
    const native = {
      tokenAddress: NATIVE_CURRENCY,
      tokenSymbol: 'ETH',
      tokenName: 'Ether',
      tokenDecimals: 18,
    };
    expect(policyText(transfers({ ...native, amountThreshold: '1' }), names)).toContain(
      'transfers of at most 0.000000000000000001 "ETH" ("Ether", native currency) each to',
    );
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
    expect(policyText(calls(rules), names)).toBe(
      '"Payroll": calls of 0xA (mint(address,uint256), 0xa9059cbb (transfer) and 0x12345678, with no native currency) and ' +
        `0xB (any function WITHOUT LIMIT, with at most 1.5 "ETH"), on "Local One" (31337), ${anybody}, ${always}`,
    );
    const named = { contractAddress: '0xA', allowedFunctions: ['a()'], functions: [], maxValue: '0' };
    const many = [...Array.from({ length: 9 }, () => named), { ...named, allowedFunctions: [] }];
    expect(policyText(calls(many), names)).toContain(' and 5 more, of some any function WITHOUT LIMIT, on ');
    expect(policyText(calls(null), names)).toContain('"Payroll": calls of any contract WITHOUT LIMIT, on ');
  });

  it('says WITHOUT LIMIT where everything is covered', () => {
    expect(policyText(policy(), names)).toContain(
      '"Payroll": transfers of any token and calls of any contract WITHOUT LIMIT, on ',
    );
  });

  it('says from which accounts', () => {
    expect(policyText(policy({ accountIds: ['1'] }), names)).toContain(
      ', from the account "Account 1" (0x1), ',
    );
    expect(policyText(policy({ accountIds: ['1', '2'] }), names)).toContain(
      ', from the accounts "Account 1" (0x1) and "Account 2" (0x2), ',
    );
    const many = Array.from({ length: 100 }, (_, i) => String(i));
    expect(policyText(policy({ accountIds: many }), names)).toContain('"Account 4" (0x4) and 95 more, ');
  });

  it('says who may initiate and who must approve', () => {
    const text = (change: PolicyChange) => policyText(policy(change), names);
    expect(text({ initiatorSetting: { type: 'user', memberId: 'mem_1' } })).toContain(
      ', initiated by "Member mem_1" (mem_1), approved automatically, ',
    );
    expect(text({ initiatorSetting: { type: 'group', groupId: 'grp_1' } })).toContain(
      ', initiated by any member of the group "Group grp_1" (grp_1), ',
    );
    expect(text({ approverSetting: { type: 'user', memberId: 'mem_1', excludeInitiator: false } })).toContain(
      ', approved by "Member mem_1" (mem_1), the initiator may approve too, any',
    );
    expect(
      text({ approverSetting: { type: 'group', groupId: 'grp_1', threshold: 2, excludeInitiator: true } }),
    ).toContain(', approved by 2 of the group "Group grp_1" (grp_1), never by the initiator, any');
    const byTwo = (memberId: string) =>
      text({
        initiatorSetting: { type: 'user', memberId: 'mem_1' },
        approverSetting: { type: 'user', memberId, excludeInitiator: false },
      });
    expect(byTwo('mem_1')).toContain(', approved by "Member mem_1" (mem_1), the initiator may approve too, ');
    expect(byTwo('mem_2')).toContain(', approved by "Member mem_2" (mem_2), any number of times');
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
      expect(policyText(transfers({}, { limitation }), names)).toMatch(
        new RegExp(`, approved automatically, at most 1\\.5 "DEMO" together ${words}$`),
      );
      expect(policyText(policy({ limitation }), names)).toMatch(
        new RegExp(`, approved automatically, at most one execution ${words}$`),
      );
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
  const QUOTED = /"(?:[^"\\]|\\.)*"/g;

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
          const text = policyText(definition, {
            network: { name, nativeAsset: { symbol: name, decimals: 18 } },
            account: (id) => ({ name, address: addresses.get(id) ?? '' }),
            member: () => name,
            group: () => name,
          });
          const ours = text.replace(QUOTED, '');
          expect(ours).not.toMatch(/["Ж\n]/);
          for (const [quotation] of text.matchAll(QUOTED)) expect(JSON.parse(quotation)).toBe(name);
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
