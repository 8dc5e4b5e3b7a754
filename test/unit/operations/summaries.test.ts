import type { Change } from '@orgwallet/client';
import { checkChangeSummary } from '../../../client/src/changeSummary';
import { deriveAccount } from '../../../src/chain/safeAccount';
import { canonicalJson, type JsonValue } from '../../../src/domain/canonicalJson';
import type { OrganizationState } from '../../../src/domain/governance';
import { type PolicyDefinition, policyView } from '../../../src/domain/policy';
import type { ProposalAction, ResourceType } from '../../../src/domain/proposal';
import { proposalPayload } from '../../../src/domain/signing';
import { operationKindOf, operations } from '../../../src/operations';
import { aHash, aMember, anId, aState } from '../../support/builders';
import { aCallPolicy, aPolicy, aRule, aTransferPolicy } from '../../support/transactions';

/** 97 emoji and three digits: the longest name that there can be, in bytes. */
const longName = (i: number) => `${'😀'.repeat(97)}${String(i).padStart(3, '0')}`;
const hundred = Array.from({ length: 100 }, (_, i) => i);

const members = hundred.map((i) => aMember().named(longName(i)).ofContract().build());
const [someone = aMember().build()] = members;
const groupIds = hundred.map(() => anId('grp'));
const accountIds = hundred.map(() => anId('acc'));
const policyIds = hundred.map(() => anId('pol'));
const networks = hundred.map((i) => ({
  id: 2 ** 40 + i,
  name: longName(i),
  nativeAsset: { symbol: longName(i), name: longName(i), decimals: 18 },
}));
const networkIds = networks.map(({ id }) => id);

const group = { type: 'group', groupId: groupIds[0] ?? '' } as const;
const MOST = String(2n ** 256n - 1n);
const limitation = {
  hours: 8_760,
  initiatorScope: 'PER_ITEM',
  sourceAccountScope: 'PER_ITEM',
  destinationScope: 'PER_ITEM',
};

/** The policy with the longest lines of each kind. */
const longPolicies = [
  aTransferPolicy({
    tokenAddress: someone.walletAddress,
    tokenSymbol: longName(0),
    tokenName: longName(0),
    tokenDecimals: 255,
    amountThreshold: MOST,
    destinationAddresses: members.map(({ walletAddress }) => walletAddress),
  }),
  aCallPolicy([
    ...members.map((member) => ({
      ...aRule(member.walletAddress, { maxValue: MOST }),
      allowedFunctions: [`f(${'uint256,'.repeat(99)}uint256)`],
    })),
    aRule(someone.walletAddress, { maxValue: MOST }),
  ]),
].map(({ id: _, ...definition }) =>
  Object.assign(definition, {
    name: longName(0),
    networkId: networkIds[0],
    accountIds,
    limitation,
    initiatorSetting: group,
    type: 'MANUAL_APPROVAL',
    approverSetting: { ...group, threshold: 100, excludeInitiator: false },
  }),
) as unknown as readonly PolicyDefinition[];

const first = aState(members);
const state: OrganizationState = {
  ...first,
  groups: Object.fromEntries(
    groupIds.map((id, i) => [
      id,
      { id, name: longName(i), memberIds: members.map((member) => member.id).sort(), revision: 0 },
    ]),
  ),
  accounts: Object.fromEntries(
    accountIds.map((id, i) => {
      const { address } = deriveAccount(first.signingKey, id);
      return [id, { id, name: longName(i), address, networkIds: [1], revision: 0 }];
    }),
  ),
  policies: Object.fromEntries(
    policyIds.map((id, i) => {
      const { id: _, ...definition } = aPolicy({ name: longName(i) });
      return [id, { id, definition, revision: 0 }];
    }),
  ),
};

const { id: _, ...harmless } = aTransferPolicy({ amountThreshold: '1' }, { networkId: networkIds[0] ?? 0 });
const { id: __, ...anything } = aPolicy({ networkId: networkIds[0] ?? 0 });

const shownAccounts = Object.values(state.accounts);
const shown = (definition: PolicyDefinition, id: string, i: number, revision?: number) => ({
  id,
  ...(revision === undefined ? {} : { revision }),
  ...policyView({ ...definition, name: longName(i) }, shownAccounts),
});
const groupItems = groupIds.map((id, i) => ({ id, revision: 0, name: longName(i), members }));

/** The most that can be proposed of each kind. */
const LONGEST: { readonly [kind: string]: object } = {
  'members/create': { items: hundred.map((i) => aMember().named(longName(i)).ofContract().build()) },
  'members/update': {
    items: members.map(({ type: _, ...member }, i) => ({
      ...member,
      ...{
        revision: 0,
        name: `x${longName(i)}`,
        walletAddress: aMember().build().walletAddress,
        walletKind: 'key',
      },
    })),
  },
  'members/remove': { items: members },
  'groups/create': {
    items: hundred.map((i) => ({
      id: anId('grp'),
      name: longName(i),
      memberIds: members.map(({ id }) => id),
    })),
  },
  'groups/update': {
    items: groupItems.map((item) => ({ ...item, name: `x${item.name}`, members: [someone] })),
  },
  'groups/delete': { items: groupItems },
  'policies/create': {
    policies: hundred.map((i) => shown(longPolicies[i % 2] as PolicyDefinition, anId('pol'), i)),
  },
  'policies/update': {
    policies: policyIds.map((id, i) => shown(longPolicies[i % 2] as PolicyDefinition, id, i + 1, 0)),
  },
  'policies/remove': { policies: policyIds.map((id, i) => shown(anything, id, i, 0)) },
  'accounts/create': {
    items: hundred.map((i) => {
      const id = anId('acc');
      return { id, name: longName(i), address: deriveAccount(first.signingKey, id).address, networkIds };
    }),
  },
  'accounts/update': {
    items: accountIds.map((id, i) => ({ id, revision: 0, name: `x${longName(i)}`, networkIds })),
  },
  'admins/update': { revision: 0, members: [someone], threshold: 1 },
};

function kind(of: string) {
  const [resourceType, action] = of.split('/') as [ResourceType, ProposalAction];
  return operationKindOf(resourceType, action);
}

const summaryOf = (of: string, data: object) =>
  kind(of).summary({ state, networks } as never, data as unknown as JsonValue);

/** The same kind of data with one item only. */
function single(data: object): object {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Array.isArray(value) ? value.slice(0, 1) : value]),
  );
}

describe('the summary of every operation', () => {
  it('has a longest case here', () => {
    const kinds = operations.map(({ resourceType, action }) => `${resourceType}/${action}`);
    expect(Object.keys(LONGEST).sort()).toEqual(kinds.sort());
  });

  it.each(Object.entries(LONGEST))(
    'is, for the most of %s, lines that a device shows whole, and says that data has the rest',
    (of, data) => {
      for (const some of [data, single(data)]) {
        const summary = summaryOf(of, some);
        expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(2_000);
        for (const line of summary.split('\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(252);
      }
      if (of !== 'admins/update') expect(summaryOf(of, data)).toMatch(/\n\d+ of \d+ shown: data has all$/);
    },
  );

  it.each(Object.entries(LONGEST))('of %s is taken by the client', (of, data) => {
    const [resourceType, action] = of.split('/');
    for (const some of [data, single(data)]) {
      const change = { resourceType, action, data: some } as unknown as Change;
      checkChangeSummary(summaryOf(of, some).split('\n'), change);
    }
  });

  it('is the same for data whose order of fields differs', () => {
    const reversed = Object.fromEntries(Object.entries(LONGEST['admins/update'] ?? {}).reverse());
    expect(summaryOf('admins/update', reversed)).toBe(
      summaryOf('admins/update', LONGEST['admins/update'] ?? {}),
    );
  });
});

describe('the summary of policies', () => {
  it('says first what is dangerous, whatever stands before it in the request', () => {
    const policies = [shown(harmless, anId('pol'), 0), shown(anything, anId('pol'), 1)];
    const lines = summaryOf('policies/create', { policies }).split('\n');
    expect(lines[0]).toMatch(
      /^2 policies, 1 WITHOUT LIMIT and approved automatically, 1 approved automatically$/,
    );
    expect(lines[1]).toBe(
      `Create policy "${'😀'.repeat(12)}"… (${policies[1]?.id}), WITHOUT LIMIT, approved automatically`,
    );
    expect(lines[2]).toBe('Transfers of any token and calls of any contract WITHOUT LIMIT');
  });

  it('counts the dangerous ones for which there is no room', () => {
    const policies = hundred.map((i) =>
      shown((i < 40 ? harmless : anything) as PolicyDefinition, anId('pol'), i),
    );
    const lines = summaryOf('policies/create', { policies }).split('\n');
    checkChangeSummary(lines, {
      resourceType: 'policies',
      action: 'create',
      data: { policies },
    } as unknown as Change);
    expect(lines[0]).toMatch(
      /^100 policies, 60 WITHOUT LIMIT and approved automatically, 40 approved automatically$/,
    );
    const heads = lines.filter((line) => line.startsWith('Create policy '));
    expect(heads.every((line) => line.includes('WITHOUT LIMIT'))).toBe(true);
  });

  it('says it of one as well, before the name that it gets', () => {
    const [id = ''] = policyIds;
    const [line] = summaryOf('policies/update', {
      policies: [shown(anything, id, 5, 0)],
    }).split('\n');
    expect(line).toBe(
      `Change policy "${'😀'.repeat(12)}"… (${id}), WITHOUT LIMIT, approved automatically, named "${'😀'.repeat(12)}"…`,
    );
  });
});

describe('the payload of a proposal of 100 members', () => {
  it('has them once, in data', () => {
    const data = { items: hundred.map((i) => aMember().named(`Member ${i}`).build()) };
    const summary = summaryOf('members/create', data);
    const payload = proposalPayload('ApproveProposal', aHash(), {
      ...{ id: anId('prop'), organizationId: state.id, resourceType: 'members', action: 'create' },
      ...{ summary, data: data as unknown as JsonValue, expiresAt: new Date() },
    });
    expect(Buffer.byteLength(payload) - Buffer.byteLength(JSON.stringify(canonicalJson(data)))).toBeLessThan(
      3_500,
    );
  });
});
