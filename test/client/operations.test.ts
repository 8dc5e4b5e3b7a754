import { randomUUID } from 'node:crypto';
import {
  type Before,
  createOrgwallet,
  type Known,
  type OperationIntent,
  type OperationType,
  type Orgwallet,
  type Proposal,
  pinInMemory,
  verify,
} from '@orgwallet/client';
import fc from 'fast-check';
import { hashTypedPayload } from '../../src/chain/typedData';
import { operations } from '../../src/operations';
import { reject, type Shown, sharedApi } from '../support/api';
import { changedPayloads, refusedField } from '../support/changedPayload';
import { bodiesFor, type Furnished, furnish, newAddress } from '../support/furnished';
import { type InterceptingProxy, startInterceptingProxy } from '../support/interceptingProxy';
import { policyItems, policyName } from '../support/policies';
import { seed } from '../support/random';
import type { TestService } from '../support/service';

let service: TestService;
let proxy: InterceptingProxy;
let own: Furnished;
let orgwallet: Orgwallet;

beforeAll(async () => {
  service = await sharedApi();
  proxy = await startInterceptingProxy(service);
  own = await furnish(service, await service.createOrganization());
  orgwallet = createOrgwallet({ baseUrl: proxy.baseUrl, apiKey: own.org.adminKey });
});
afterAll(async () => {
  proxy?.close();
  await service?.stop();
});

const named = () => `${fc.sample(policyName, { numRuns: 1 })[0]} ${randomUUID()}`.slice(-100);

/** Bodies of a kind, beside those that every test of the API has. */
const MORE: { readonly [T in OperationType]?: (own: Furnished) => Shown[] } = {
  'members.create': () => [
    {
      items: [
        { name: named(), walletAddress: newAddress().toLowerCase() },
        { name: named(), walletAddress: newAddress(), type: 'user', walletKind: 'contract' },
      ],
    },
  ],
  'members.update': ({ org }) => [
    {
      items: [
        { id: org.carol.id, name: named() },
        { id: org.bob.id, walletAddress: newAddress() },
      ],
    },
    { items: [{ id: org.carol.id, walletKind: 'contract' }] },
  ],
  'members.remove': ({ org }) => [{ ids: [org.otherBot.id, org.dave.id] }],
  'groups.create': ({ org }) => [
    {
      items: [
        { name: named(), memberIds: [org.dave.id, org.bob.id] },
        { name: named(), memberIds: [] },
      ],
    },
  ],
  'groups.update': ({ org, groups }) => [
    { items: [{ id: groups[0].id, name: named() }] },
    { items: [{ id: groups[0].id, memberUpdates: [{ action: 'removeMember', id: org.dave.id }] }] },
  ],
  'policies.add': ({ org, accounts, groups }) =>
    fc
      .sample(
        policyItems({
          networkIds: [31337],
          accountIds: accounts.map(({ id }) => id),
          memberIds: [org.dave.id, org.carol.id],
          groups: [{ id: groups[0].id, size: 2 }],
          tokenAddresses: [],
        }),
        { numRuns: 12, seed: seed() },
      )
      .map((item) => ({ policies: [{ ...item, name: named() }] })),
  'accounts.create': () => [
    {
      items: [
        { name: named(), networkIds: [31338, 31337] },
        { name: named(), networkIds: [31338] },
      ],
    },
  ],
  'accounts.update': ({ accounts }) => [{ items: [{ id: accounts[0].id, name: named() }] }],
  'admins.update': ({ org }) => [
    { updates: [{ action: 'removeMember', id: org.alice.id }], threshold: 1 },
    { updates: [], threshold: 3 },
  ],
};

const ENDPOINT: { readonly [T in OperationType]: string } = {
  'members.create': 'proposeMembersCreate',
  'members.update': 'proposeMembersUpdate',
  'members.remove': 'proposeMembersRemove',
  'groups.create': 'proposeGroupsCreate',
  'groups.update': 'proposeGroupsUpdate',
  'groups.delete': 'proposeGroupsDelete',
  'policies.change': 'proposePolicies',
  'policies.add': 'proposePoliciesAdd',
  'policies.update': 'proposePoliciesUpdate',
  'policies.remove': 'proposePoliciesRemove',
  'accounts.create': 'proposeAccountsCreate',
  'accounts.update': 'proposeAccountsUpdate',
  'admins.update': 'proposeAdminsUpdate',
};
const TYPES = Object.keys(ENDPOINT) as OperationType[];

/**
 * What the service says by itself, so that nobody can have asked for something else: ids and addresses of what is new,
 * revisions, what a token and an account are called; of what is removed all but its id.
 */
const SAID = [
  /^message\.data\.\w+\[\d+\]\.revision$|^message\.data\.revision$/,
  /^message\.data\.policies\[\d+\]\.(accounts\[\d+\]\.(name|address)|tokenTransferCondition\.token(Name|Symbol|LogoUrl|Decimals))$/,
  /^message\.data\.policies\[\d+\]\.contractInteractionCondition\[\d+\]\.functions\[\d+\]\.name$/,
];
const NEW = /^message\.data\.\w+\[\d+\]\.(id|address)$/;
const GONE = /^message\.data\.\w+\[\d+\]\.(?!id$)/;

function isSaid(type: OperationType, field: string): boolean {
  if (SAID.some((pattern) => pattern.test(field))) return true;
  if (/create|add|change/.test(type)) return NEW.test(field);
  return ['groups.delete', 'policies.remove'].includes(type) && GONE.test(field);
}

async function before(): Promise<Before> {
  const [members, groups, admins] = await Promise.all([
    orgwallet.listMembers(),
    orgwallet.listGroups(),
    orgwallet.listAdmins(),
  ]);
  return { members, groups, admins };
}

/** Every change of one kind that is tried: its intent, what the service makes of it, and what was before. */
async function* proposed(
  type: OperationType,
): AsyncGenerator<{ intent: OperationIntent; proposal: Proposal; known: Known }> {
  const bodies = [...bodiesFor(ENDPOINT[type], own), ...(MORE[type]?.(own) ?? [])];
  for (const body of bodies) {
    const known = await before();
    const intent = { type, ...body } as OperationIntent;
    const proposal = await orgwallet.propose(intent);
    const { id, summary, expiresAt } = proposal;
    const pins = pinInMemory();
    verify(proposal.signingPayloads?.rejectPayload ?? '', undefined, { pins });
    yield { intent, proposal, known: { id, summary, expiresAt, vote: 'approve', pins, before: known } };
    await reject(service.http, own.org, proposal);
  }
}

it('a change of every kind of operation can be verified', () => {
  const kinds = operations.map(({ resourceType, action }) => `${resourceType}.${action}`);
  expect(
    TYPES.filter((type) => type !== 'policies.change')
      .map((type) => type.replace('.add', '.create'))
      .sort(),
  ).toEqual(kinds.sort());
});

describe.each(TYPES)('verify of %s', (type) => {
  it('accepts the payload of the service, and refuses it with any single field changed', async () => {
    for await (const { intent, proposal, known } of proposed(type)) {
      const { approvePayload = '' } = proposal.signingPayloads ?? {};
      expect(verify(approvePayload, intent, known).digest).toBe(hashTypedPayload(approvePayload));
      const changes = changedPayloads(approvePayload).filter(({ field }) => !isSaid(type, field));
      expect(changes.length).toBeGreaterThan(20);
      for (const { field, payload } of changes) {
        expect([field, refusedField(payload, intent, known)]).toEqual([field, field]);
      }
    }
  }, 60_000);
});

/** A name that a summary has whole. */
const shortName = () => `", approved ${randomUUID().slice(0, 8)}`;

describe('verify of a change', () => {
  it('refuses one of which the record as it was is not known', async () => {
    const intent = { type: 'members.update', items: [{ id: own.org.dave.id, name: named() }] } as const;
    const proposal = await orgwallet.propose({ ...intent, items: [...intent.items] });
    const { approvePayload = '' } = proposal.signingPayloads ?? {};
    expect(refusedField(approvePayload, { ...intent, items: [...intent.items] }, {})).toBe(
      'message.data.items[0].walletAddress',
    );
    await reject(service.http, own.org, proposal);
  });

  it('refuses a summary that does not have the name or the wallet of who is added', async () => {
    const [asked, other] = [shortName(), shortName()];
    const walletAddress = newAddress();
    const add = (name: string, wallet: string) =>
      ({ type: 'members.create', items: [{ name, walletAddress: wallet }] }) as OperationIntent;
    const { signingPayloads } = await orgwallet.propose(add(asked, walletAddress));
    const payload = signingPayloads?.approvePayload ?? '';
    const { summary } = JSON.parse(payload).message;
    const lying = (from: string, to: string) =>
      payload.replace(JSON.stringify(summary), JSON.stringify([summary[0].replace(from, to)]));
    expect(refusedField(payload, add(asked, walletAddress), {})).toBeUndefined();
    expect(
      refusedField(lying(JSON.stringify(asked), JSON.stringify(other)), add(asked, walletAddress), {}),
    ).toBe('message.summary');
    expect(refusedField(lying(walletAddress, newAddress()), add(asked, walletAddress), {})).toBe(
      'message.summary',
    );
  });
});
