import type { Schema } from '@orgwallet/client';
import { faultsOfPolicies } from '../../../console/src/contract/policyBodies.ts';
import { placed } from '../../../console/src/domain/faults.ts';
import { draftOf, NO_POLICY, type PolicyDraft, policyOf } from '../../../console/src/domain/policyDraft.ts';
import { draftFaults } from '../../../console/src/domain/policyDraftFaults.ts';
import { NO_PROPOSAL, PLACES, policyIntent } from '../../../console/src/domain/policyIntent.ts';
import { POLICY_TEMPLATES, templateDraft } from '../../../console/src/domain/policyTemplates.ts';
import { type Compared, differenceOf } from '../../../console/src/text/difference.ts';
import { policyAspects } from '../../../console/src/text/policySentences.ts';

const TOKEN = '0x468f18d57bC8bAE33874e6429638edf9F6F77c41';
const idOf = (kind: string, digit = '1') => `${kind}_${digit.repeat(26)}`;
const [ALICE_ID, BOB_ID, BOT_ID] = [idOf('mem', '1'), idOf('mem', '2'), idOf('mem', '3')] as const;
const [GROUP_ID, ACCOUNT_ID, POLICY_ID] = [idOf('grp'), idOf('acc'), idOf('pol')] as const;
const ALICE = {
  id: ALICE_ID,
  name: 'Alice',
  type: 'user',
  walletKind: 'key',
  walletAddress: `0x${'a'.repeat(40)}`,
} as const;
const BOB = { ...ALICE, id: BOB_ID, name: 'Bob', walletAddress: `0x${'b'.repeat(40)}` } as const;
const TIMES = { createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' };

const POLICY: Schema['Policy'] = {
  ...TIMES,
  id: POLICY_ID,
  name: 'Suppliers',
  type: 'MANUAL_APPROVAL',
  networkId: 1,
  accountIds: [ACCOUNT_ID],
  accounts: [{ id: ACCOUNT_ID, name: 'Treasury', address: `0x${'1'.repeat(40)}` }],
  initiatorSetting: null,
  approverSetting: { type: 'group', groupId: GROUP_ID, threshold: 2, excludeInitiator: true },
  limitation: {
    hours: 24,
    initiatorScope: 'ALL_ITEMS',
    sourceAccountScope: 'PER_ITEM',
    destinationScope: 'PER_ITEM',
  },
  transactionType: 'TOKEN_TRANSFER',
  tokenTransferCondition: {
    tokenAddress: TOKEN,
    tokenSymbol: 'USDC',
    tokenName: 'USD Coin',
    tokenDecimals: 6,
    amountThreshold: '5000000000',
    destinationAddresses: [BOB.walletAddress],
  },
};

/** An address that only the address book names. */
const NOTED = `0x${'9'.repeat(40)}`;
const MEMBERS = [ALICE, BOB].map((member) => ({ ...member, ...TIMES, registeredAt: null }));
const NOW: Compared = {
  members: MEMBERS,
  groups: [{ ...TIMES, id: GROUP_ID, name: 'Finance', members: [ALICE, BOB] }],
  policies: [POLICY],
  accounts: [
    {
      ...TIMES,
      id: ACCOUNT_ID,
      name: 'Treasury',
      address: `0x${'1'.repeat(40)}`,
      networks: [{ id: 1, name: 'Ethereum' }],
    },
  ],
  admins: { members: [ALICE, BOB], threshold: 2 },
  noted: (address) => (address === NOTED ? 'ACME' : undefined),
  member: (id) => MEMBERS.find((one) => one.id === id)?.name,
  group: (id) => (id === GROUP_ID ? 'Finance' : undefined),
  account: () => undefined,
  network: (id) => ({ 1: 'Ethereum', 137: 'Polygon' })[id],
  owner: (address) => (address === BOB.walletAddress ? 'Bob' : undefined),
  nativeAsset: () => ({ symbol: 'ETH', decimals: 18 }),
};

const sentences = (policy: Schema['Policy']) =>
  policyAspects(policy, NOW).map(({ name, text }) => `${name}: ${text}`);

/** All that is wrong with a new policy, as its form has it. */
function faultsOf(draft: PolicyDraft) {
  const intent = policyIntent({ ...NO_PROPOSAL, ...draft });
  return { ...placed(intent ? faultsOfPolicies(intent) : {}, PLACES), ...draftFaults(draft) };
}

describe('a policy', () => {
  it('reads as sentences', () => {
    expect(sentences(POLICY)).toEqual([
      `Permits: Token transfers of at most 5\u202f000 USDC (${TOKEN})`,
      'Network: Ethereum',
      'Accounts: “Treasury”',
      `Recipients: “Bob” (${BOB.walletAddress})`,
      'Initiator: Any member',
      'Approver: 2 of the group “Finance”; the initiator cannot approve',
      'Budget: At most 5\u202f000 USDC within any 24 hours, counted for each account and destination',
    ]);
  });

  it('says where there is no limit', () => {
    const {
      tokenTransferCondition: _,
      approverSetting: __,
      limitation: ___,
      ...rest
    } = POLICY as Extract<Schema['Policy'], { transactionType: 'TOKEN_TRANSFER' }>;
    const any = { ...rest, type: 'AUTO_APPROVAL', accountIds: null } as const;
    expect(sentences({ ...any, transactionType: 'ANY' })).toEqual([
      'Permits: Any transaction, WITHOUT LIMIT',
      'Network: Ethereum',
      'Accounts: Any account',
      'Initiator: Any member',
      "Approver: Nobody: the initiator's signature is enough",
      'Budget: None',
    ]);
    expect(
      sentences({ ...any, transactionType: 'CONTRACT_INTERACTION', contractInteractionCondition: null })[0],
    ).toBe('Permits: Contract interactions with any contract, WITHOUT LIMIT');
  });

  it('that is typed again as it is asks for the same policy', () => {
    const draft = draftOf(POLICY);
    expect(faultsOf(draft)).toEqual({});
    const { createdAt: _, updatedAt: __, accounts: ___, ...asked } = POLICY;
    const { tokenSymbol, tokenName, ...condition } = (
      POLICY as Extract<Schema['Policy'], { transactionType: 'TOKEN_TRANSFER' }>
    ).tokenTransferCondition;
    expect([tokenSymbol, tokenName]).toEqual(['USDC', 'USD Coin']);
    expect(policyOf(draft)).toEqual({ ...asked, tokenTransferCondition: condition });
  });

  it('is incomplete while something is missing or wrong, field by field', () => {
    expect(
      faultsOf({ ...NO_POLICY, amount: '1.', destinations: '0x12', hasBudget: true, hours: '0' }),
    ).toEqual({
      name: 'must have 1 to 100 characters',
      networkId: 'must be at least 1',
      accountIds: 'must have at least 1 item',
      initiator: 'must be an id that begins with mem_',
      approver: 'must be an id that begins with mem_',
      hours: 'must be at least 1',
      amount: 'Invalid amount (expected digits, such as 1250 or 0.05)',
      destinations: 'Line 1: must be an address: 0x and 40 hex digits',
    });
  });
});

describe('a template', () => {
  const bot = { ...BOB, ...TIMES, id: BOT_ID, type: 'api', registeredAt: null } as const;
  const networks = [{ id: 1, name: 'Ethereum', nativeAsset: { symbol: 'ETH', name: 'Ether', decimals: 18 } }];
  const known = { ...NOW, members: [...MEMBERS, bot], networks } as never;
  const typed = {
    'petty-cash': { amount: '0.1', initiator: GROUP_ID },
    'two-of-finance': { amount: '5' },
    'payroll-bot': { amount: '5', destinations: BOB.walletAddress },
    'one-contract': {
      rules: [{ contractAddress: TOKEN, anyFunction: false, functions: 'mint()', maxValue: '0' }],
    },
  } satisfies { readonly [id: string]: Partial<PolicyDraft> };
  const asked = (id: keyof typeof typed) => policyOf({ ...templateDraft(id, known), ...typed[id] });

  it.each(POLICY_TEMPLATES.map(({ id }) => id as keyof typeof typed))(
    '%s lacks only what nobody can guess',
    (id) => {
      const draft = templateDraft(id, known);
      const errors = Object.keys(faultsOf(draft)).map((field) => field.replace(/\..*/, ''));
      expect(new Set(errors)).toEqual(new Set(Object.keys(typed[id])));
      expect(faultsOf({ ...draft, ...typed[id] })).toEqual({});
      const wide = ['anyAccount', 'anyAmount', 'anyContract'] as const;
      expect(wide.filter((field) => draft[field])).toEqual([]);
    },
  );

  it('pays petty cash without approval, up to a budget for a day', () => {
    expect(asked('petty-cash')).toMatchObject({
      name: 'Petty cash',
      type: 'AUTO_APPROVAL',
      accountIds: [ACCOUNT_ID],
      initiatorSetting: { type: 'group', groupId: GROUP_ID },
      limitation: { hours: 24, destinationScope: 'ALL_ITEMS' },
      tokenTransferCondition: { amountThreshold: '100000000000000000', destinationAddresses: [] },
    });
  });

  it('has two of finance approve, never the one who asks', () => {
    const approverSetting = { type: 'group', groupId: GROUP_ID, threshold: 2, excludeInitiator: true };
    expect(asked('two-of-finance')).toMatchObject({ type: 'MANUAL_APPROVAL', approverSetting });
    expect(asked('one-contract')).toMatchObject({ approverSetting, transactionType: 'CONTRACT_INTERACTION' });
  });

  it('lets the only bot pay listed recipients', () => {
    expect(asked('payroll-bot')).toMatchObject({
      type: 'AUTO_APPROVAL',
      initiatorSetting: { type: 'user', memberId: BOT_ID },
      limitation: { hours: 672, destinationScope: 'PER_ITEM' },
      tokenTransferCondition: { destinationAddresses: [BOB.walletAddress] },
    });
  });
});

describe('the symbol of a token that a policy names', () => {
  it('is not part of its sentences', () => {
    const condition = (POLICY as { tokenTransferCondition: object }).tokenTransferCondition;
    const tokenSymbol = 'USDC (0xA0b8), or';
    const lying = { ...POLICY, tokenTransferCondition: { ...condition, tokenSymbol } } as Schema['Policy'];
    const texts = policyAspects(lying, NOW).filter(({ text }) => text.includes('USDC'));
    expect(texts.map(({ name }) => name)).toEqual(['Permits', 'Budget']);
    for (const { text } of texts) expect(text).toContain(` “${tokenSymbol}” `);
  });
});

describe('a difference', () => {
  it('of a policy names the sentences that change, and no other', () => {
    const after = {
      ...POLICY,
      tokenTransferCondition: {
        ...(POLICY as { tokenTransferCondition: object }).tokenTransferCondition,
        destinationAddresses: [],
      },
      approverSetting: { type: 'group', groupId: GROUP_ID, threshold: 1, excludeInitiator: false },
      revision: 1,
    };
    expect(
      differenceOf({ resourceType: 'policies', action: 'update', data: { policies: [after] } }, NOW),
    ).toEqual([
      {
        id: POLICY_ID,
        title: 'Suppliers',
        kind: 'changed',
        fields: [
          { field: 'Recipients', before: `“Bob” (${BOB.walletAddress})`, after: 'Any address' },
          {
            field: 'Approver',
            before: '2 of the group “Finance”; the initiator cannot approve',
            after: '1 of the group “Finance”; the initiator may approve too',
          },
        ],
      },
    ]);
  });

  it('says by what is signed, and not by what the service lists, whether a policy is new', () => {
    const kindOf = (policy: object, policies: Compared['policies']) =>
      differenceOf(
        { resourceType: 'policies', action: 'update', data: { policies: [policy] } },
        { ...NOW, policies },
      )[0];
    // Changed, and the service does not list it.
    expect(kindOf({ ...POLICY, revision: 3 }, [])?.kind).toBe('changed');
    // New, and the service lists the same already.
    const added = kindOf(POLICY, [POLICY]);
    expect(added?.kind).toBe('added');
    expect(added?.fields).toContainEqual({ field: 'Name', before: undefined, after: 'Suppliers' });
  });

  it('of a policy that is new, in a proposal of both, says so', () => {
    const data = { policies: [{ ...POLICY, id: 'pol_2', name: 'Rent' }] };
    expect(differenceOf({ resourceType: 'policies', action: 'update', data }, NOW)[0]).toMatchObject({
      title: 'Rent',
      kind: 'added',
    });
  });

  it.each([
    [
      'members',
      'update',
      {
        items: [
          {
            id: BOB_ID,
            revision: 2,
            name: 'Bob',
            walletAddress: `0x${'c'.repeat(40)}`,
            walletKind: 'contract',
          },
        ],
      },
      [
        { field: 'Wallet', before: BOB.walletAddress, after: `0x${'c'.repeat(40)}` },
        { field: 'Wallet kind', before: 'key', after: 'contract' },
      ],
    ],
    [
      'groups',
      'update',
      { items: [{ id: GROUP_ID, revision: 2, name: 'Finance', members: [ALICE] }] },
      [{ field: 'Members', before: 'Alice, Bob', after: 'Alice' }],
    ],
    [
      'accounts',
      'update',
      { items: [{ id: ACCOUNT_ID, revision: 2, networkIds: [137] }] },
      [{ field: 'Networks', before: 'Ethereum', after: 'Ethereum, Polygon' }],
    ],
    [
      'admins',
      'update',
      { revision: 3, members: [ALICE], threshold: 1 },
      [
        { field: 'Admins', before: 'Alice, Bob', after: 'Alice' },
        { field: 'Threshold', before: '2 of 2', after: '1 of 1' },
      ],
    ],
  ])('of %s/%s has each field before and after', (resourceType, action, data, fields) => {
    expect(differenceOf({ resourceType, action, data }, NOW)[0]?.fields).toEqual(fields);
  });

  it('of an account that is there by now has nothing before, and each network once', () => {
    const data = {
      items: [{ id: ACCOUNT_ID, name: 'Treasury', address: `0x${'1'.repeat(40)}`, networkIds: [1] }],
    };
    const [change] = differenceOf({ resourceType: 'accounts', action: 'create', data }, NOW);
    expect(change).toMatchObject({ kind: 'added' });
    expect(change?.fields).toEqual([
      { field: 'Name', before: undefined, after: 'Treasury' },
      { field: 'Address', before: undefined, after: `0x${'1'.repeat(40)}` },
      { field: 'Networks', before: undefined, after: 'Ethereum' },
    ]);
  });

  it('of a group does not show one member as two, nor a name as the rule after it', () => {
    const listed = (...names: string[]) =>
      differenceOf(
        {
          resourceType: 'groups',
          action: 'create',
          data: {
            items: [
              { id: idOf('grp', '2'), name: 'New', members: names.map((name) => ({ id: BOB_ID, name })) },
            ],
          },
        },
        NOW,
      )[0]?.fields.at(-1)?.after;
    expect(listed('Alice', 'Bob')).toBe('Alice, Bob');
    for (const name of ['Alice, Bob', 'Alice and Bob', 'Bob. Alice', 'Alice (and Bob)', 'any member']) {
      expect(listed(name)).toBe(`“${name}”`);
    }
    expect(listed('Zoë O’Neill-Łuk', 'ops_bot 2')).toBe('Zoë O’Neill-Łuk, ops_bot 2');
    expect(listed('Al\u202eice')).toBe('“Al\\u202eice”');
    const approverSetting = { type: 'user', memberId: BOB_ID, userId: BOB_ID, excludeInitiator: false };
    const named = { ...NOW, member: () => 'Bob; the initiator cannot approve' };
    const texts = policyAspects({ ...POLICY, approverSetting } as Schema['Policy'], named);
    expect(texts.find(({ name }) => name === 'Approver')?.text).toBe(
      '“Bob; the initiator cannot approve”; the initiator may approve too',
    );
  });

  it('of a group as the audit log has it names its members', () => {
    const past = { ...NOW, groups: [{ id: GROUP_ID, name: 'Finance', memberIds: [BOB_ID] }] };
    const data = { items: [{ id: GROUP_ID, revision: 2, name: 'Finance', members: [ALICE] }] };
    const [change] = differenceOf({ resourceType: 'groups', action: 'update', data }, past);
    expect(change?.fields).toEqual([{ field: 'Members', before: 'Bob', after: 'Alice' }]);
  });

  it('of a removal shows what is lost', () => {
    const [change] = differenceOf({ resourceType: 'members', action: 'remove', data: { items: [BOB] } }, NOW);
    expect(change).toMatchObject({ title: 'Bob', kind: 'removed' });
    expect(change?.fields).toContainEqual({ field: 'Wallet', before: BOB.walletAddress, after: undefined });
  });

  it.each([
    ['members', 'remove', { items: [BOB] }],
    ['groups', 'delete', { items: [{ id: GROUP_ID, revision: 1, name: 'Finance', members: [ALICE, BOB] }] }],
    ['policies', 'remove', { policies: [POLICY] }],
  ])(
    'of a removal (%s) shows what is signed, and not what the service lists',
    (resourceType, action, data) => {
      const listed = <T>(all: readonly T[]) => all.map((one) => ({ ...one, name: 'Unused' }));
      const lied = {
        ...NOW,
        members: listed(NOW.members),
        groups: listed(NOW.groups),
        policies: listed(NOW.policies),
      };
      const [change] = differenceOf({ resourceType, action, data }, lied);
      expect(change).toEqual(differenceOf({ resourceType, action, data }, NOW)[0]);
      expect(JSON.stringify(change)).not.toContain('Unused');
      expect(change?.fields[0]).toEqual({ field: 'Name', before: change?.title, after: undefined });
    },
  );
});
