import { randomUUID } from 'node:crypto';
import { decideAdminsSafe } from '../support/adminsSafe';
import {
  carryOut,
  expectRefused,
  PROPOSE,
  proposalPath,
  read,
  refusal,
  type Shown,
  sharedApi,
} from '../support/api';
import { BASE, type Json, type Operation, operations, urlOf } from '../support/document';
import {
  bodiesFor,
  type Furnished,
  furnish,
  idLike,
  isDryRun,
  newAddress,
  proposeSomething,
  proposesSomething,
  resourceOf,
  resourceTypes,
} from '../support/furnished';
import type { Ask } from '../support/http';
import type { ResourceType } from '../support/interfaceTables';
import { fieldOf, idPlacesIn, type Path, placeWithin, valuesIn, withValue } from '../support/leaves';
import { signPayload, type TestOrganization, type TestService } from '../support/service';
import { signatureBody, transactionPath } from '../support/transactionApi';

type PerResource = Record<ResourceType, Shown>;

/** Query parameters that name no record. */
const NAMELESS = [
  'limit',
  'status',
  'resourceType',
  'action',
  'type',
  'types',
  'delivered',
  'wait',
  'from',
  'to',
  'before',
  'direction',
  'minimum',
  'verified',
  'order',
];
/** Operations whose body names no record. */
const NAMES_NOTHING = ['createAddressBookEntry', 'importAddressBook', 'createWebhook'];
const ID = /^[a-z]+_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

let api: TestService;
let ours: Furnished;
let theirs: Furnished;
let ourProposals: PerResource;
let theirProposals: PerResource;
/** Everything that the two organizations showed when a test began. */
let before: Shown;

const state = () => Promise.all([ours.org.stored(), theirs.org.stored()]);

/** One proposal about each resource, and a second one where there can be two. */
async function proposeEverything(org: TestOrganization): Promise<PerResource> {
  const made = resourceTypes.map(async (resource) => {
    if (resource !== 'admins') await proposeSomething(api.http, org, resource);
    return [resource, await proposeSomething(api.http, org, resource)] as const;
  });
  return Object.fromEntries(await Promise.all(made)) as PerResource;
}

/** Much is made before the first test; on a busy machine it takes its time. */
const SET_UP_LIMIT_MS = 240_000;

beforeAll(async () => {
  api = await sharedApi();
  const organizations = await Promise.all([api.createOrganization(), api.createOrganization()]);
  const [here, there] = organizations;
  [ours, theirs] = await Promise.all([furnish(api, here), furnish(api, there)]);
  [ourProposals, theirProposals] = await Promise.all([proposeEverything(here), proposeEverything(there)]);
  before = await state();
}, SET_UP_LIMIT_MS);
afterAll(() => api?.stop());

const NOT_FOUND = refusal(404, 'notFound', null);
const example = (text: string) => `${text.split('_')[0]}_01jz8k3v5fe5ht0n2m6w9r4xyz`;

/** Sends a request twice, naming what is theirs and what nobody has: it must be refused the same way. */
async function refusedAlike(
  expected: ReturnType<typeof refusal>,
  naming: (theirs: boolean) => Promise<Ask> | Ask,
  names: readonly [string, string],
): Promise<void> {
  const [foreign, unknown] = await Promise.all(
    [true, false].map(async (isTheirs) =>
      api.http.send({ key: ours.org.adminKey, ...(await naming(isTheirs)) }),
    ),
  );
  expect([foreign?.status, foreign?.body.code, foreign?.body.error?.details?.field ?? null]).toEqual([
    expected.status,
    expected.code,
    expected.field,
  ]);
  expect(foreign?.text.replaceAll(names[0], '')).toBe(unknown?.text.replaceAll(names[1], ''));
}

/** A vote of an admin of an organization on what a proposal says. */
async function voteOf(org: TestOrganization, proposal: Shown): Promise<Json> {
  const signature = await signPayload(org.alice, proposal.signingPayloads.approvePayload);
  return { type: 'approve', signature };
}

/** A proof of theirs that a wallet is Dave's, or of somebody whom nobody knows. */
async function proofOf(isTheirs: boolean, stranger: string): Promise<Json> {
  const { dave, readKey } = theirs.org;
  const walletAddress = dave.wallet.address;
  const path = `${BASE}/members/registrations/payload?walletAddress=${walletAddress}`;
  const { messageToSign } = await read(api.http, readKey, path);
  const signature = await dave.wallet.signMessage({ message: messageToSign });
  return { walletAddress: isTheirs ? walletAddress : stranger, signature };
}

/** What is at the places in the path of an operation. */
function idIn(operation: Operation, owner: Furnished, proposals: PerResource) {
  return (text: string, name: string) =>
    name === 'proposalId' ? proposals[resourceOf(operation.path)].id : idLike(text, owner);
}

const isVote = ({ path }: Operation) => path.endsWith('/signatures');
const isOnTransaction = ({ path }: Operation) => path.startsWith('/transactions/');

async function bodyOf(operation: Operation): Promise<Partial<Ask>> {
  const method = operation.method.toUpperCase();
  if (!operation.body) return { method };
  if (!isVote(operation)) return { method, body: operation.body.example };
  if (isOnTransaction(operation)) {
    return { body: await signatureBody(theirs.transactions[0], theirs.org.dave, 'initiator') };
  }
  return { body: await voteOf(theirs.org, theirProposals[resourceOf(operation.path)]) };
}

/** The path of an operation about a record of an organization, where it is about one. */
const pathOf = (operation: Operation, owner: Furnished) => urlOf(operation, (text) => idLike(text, owner));

/** An id of theirs in a query is refused as one that does not exist. */
const idRefused = (operation: Operation, name: string, ids: readonly [string, string]) =>
  refusedAlike(
    refusal(400, 'validationError', name),
    (isTheirs) => ({ path: `${urlOf(operation)}?${name}=${isTheirs ? ids[0] : ids[1]}` }),
    ids,
  );

/** What is theirs is not found, as what nobody has. */
async function nothingFound(operation: Operation, name: string, values: readonly [string, string]) {
  for (const value of values) {
    const path = `${pathOf(operation, ours)}?${name}=${encodeURIComponent(value)}`;
    const { status, body } = await api.http.send({ key: ours.org.readKey, path });
    expect([name, value, status, body.data]).toEqual([name, value, 200, []]);
  }
}

/** The effect of an id of the other organization in a query, by parameter. */
const QUERIES: { readonly [name: string]: (operation: Operation) => Promise<void> } = {
  async cursor(operation) {
    const key = operation.forAdmins ? theirs.org.adminKey : theirs.org.readKey;
    const theirPath = urlOf(operation, idIn(operation, theirs, theirProposals));
    const page = await api.http.send({ key, path: `${theirPath}?limit=1` });
    const { cursor } = page.body.pagination;
    const path = urlOf(operation, idIn(operation, ours, ourProposals));
    expect(cursor).not.toBe('');
    const nobodys = 'A'.repeat(cursor.length);
    await refusedAlike(
      refusal(400, 'validationError', 'cursor'),
      (isTheirs) => ({ path: `${path}?cursor=${isTheirs ? cursor : nobodys}` }),
      [cursor, nobodys],
    );
  },
  accountId: (operation) => idRefused(operation, 'accountId', [theirs.accounts[0].id, example('acc_')]),
  policyId: (operation) => idRefused(operation, 'policyId', [theirs.policies[0].id, example('pol_')]),
  initiatorId: (operation) => idRefused(operation, 'initiatorId', [theirs.org.dave.id, example('mem_')]),
  memberId: (operation) => idRefused(operation, 'memberId', [theirs.org.dave.id, example('mem_')]),
  missingMemberId: (operation) =>
    idRefused(operation, 'missingMemberId', [theirs.org.dave.id, example('mem_')]),
  // Of all organizations: what is theirs on it is not among the answers.
  async networkId(operation) {
    const path = `${urlOf(operation)}?networkId=31337`;
    const { text } = await api.http.send({ key: ours.org.readKey, path });
    expect(theirMarks().filter((mark) => text.includes(mark))).toEqual([]);
  },
  externalId: (operation) =>
    nothingFound(operation, 'externalId', [theirs.transactions[0].externalId ?? 'theirs', 'nobodys']),
  tag: (operation) => nothingFound(operation, 'tag', ['theirs', 'nobodys']),
  recipient: (operation) => nothingFound(operation, 'recipient', [theirs.transactions[0].to, newAddress()]),
  counterparty: (operation) =>
    nothingFound(operation, 'counterparty', [theirs.org.dave.wallet.address, newAddress()]),
  transactionId: (operation) =>
    nothingFound(operation, 'transactionId', [theirs.transactions[0].id, example('txn_')]),
  // A wallet of theirs as the address of a token: as little as any address.
  assetId: (operation) =>
    nothingFound(operation, 'assetId', [`31337:${theirs.org.dave.wallet.address}`, `31337:${newAddress()}`]),
  async text(operation) {
    for (const mark of theirMarks()) await nothingFound(operation, 'text', [mark, 'nobody']);
  },
  async resourceId(operation) {
    const { org, accounts, groups, policies, transactions, addressBook } = theirs;
    const unknown = example('acc_');
    for (const { id } of [
      ...addressBook,
      ...accounts,
      ...groups,
      ...policies,
      ...transactions,
      org.dave,
      org,
      ...Object.values(theirProposals),
    ]) {
      await refusedAlike(
        refusal(400, 'validationError', 'resourceId'),
        (isTheirs) => ({ path: `${urlOf(operation)}?resourceId=${isTheirs ? id : unknown}` }),
        [id, unknown],
      );
    }
  },
  async after(operation) {
    const page = await api.http.send({ key: theirs.org.readKey, path: `${urlOf(operation)}?limit=1` });
    const [{ position, hash }] = page.body.data;
    // Whoever knows a hash of theirs has read their log.
    const path = `${urlOf(operation)}?after=${position}-${hash}`;
    const answer = await api.http.send({ key: ours.org.readKey, path });
    expect([answer.status, answer.body.code, answer.body.message]).toEqual([
      400,
      'validationError',
      'after: is of another organization',
    ]);
  },
  async walletAddress(operation) {
    const [foreign, unknown] = [theirs.org.dave.wallet.address, newAddress()];
    const path = urlOf(operation).replace(/=.*/, '=');
    await refusedAlike(NOT_FOUND, (isTheirs) => ({ path: `${path}${isTheirs ? foreign : unknown}` }), [
      foreign,
      unknown,
    ]);
  },
};

/** The ids in a body, with their places. */
function idsIn(body: Json): [Path, string][] {
  return [...valuesIn(body)].filter(([, value]) => typeof value === 'string' && ID.test(value));
}

/** Everything by which the other organization can be known. */
function theirMarks(): string[] {
  const { org, accounts, groups, policies, transactions, addressBook } = theirs;
  const records = [
    ...[...accounts, ...groups, ...policies, ...transactions, ...addressBook],
    ...Object.values(theirProposals),
  ];
  const wallets = org.all.map(({ wallet }) => wallet.address.slice(2).toLowerCase());
  return [org.id, org.adminsId, ...org.all.map(({ id }) => id), ...records.map(({ id }) => id), ...wallets];
}

const naming = operations.filter(({ id }) => !NAMES_NOTHING.includes(id));

async function withAdminsSafe(): Promise<TestOrganization> {
  const org = await api.createOrganization();
  await decideAdminsSafe(api.db, org, true);
  return org;
}

describe.each(naming.map((operation) => [operation.id, operation] as const))('%s', (id, operation) => {
  afterEach(async () => {
    const then = before;
    before = await state();
    expect(before).toEqual(then);
  });

  if (operation.params.some(({ name }) => name !== 'recipientAddress')) {
    it('does not find ids of other organizations in its path', async () => {
      const body = await bodyOf(operation);
      const foreign = urlOf(operation, idIn(operation, theirs, theirProposals));
      await refusedAlike(
        NOT_FOUND,
        (isTheirs) => ({ ...body, path: isTheirs ? foreign : urlOf(operation) }),
        ['', ''],
      );
    });

    it('does not find malformed ids in its path', async () => {
      const body = await bodyOf(operation);
      for (const bad of MALFORMED) {
        const path = urlOf(operation, () => bad);
        const answer = await api.http.send({ key: ours.org.adminKey, path, ...body });
        expect([bad, answer.status, answer.body.code]).toEqual([bad, 404, 'notFound']);
      }
    });
  }

  if (isVote(operation) && isOnTransaction(operation)) {
    it('refuses signatures of members of other organizations', async () => {
      const path = transactionPath(ours.transactions[0].id, '/signatures');
      const send = async (transaction: Shown) => {
        const body = await signatureBody(transaction, theirs.org.dave, 'initiator');
        return api.http.send({ key: ours.org.readKey, path, body });
      };
      const stranger = await send(ours.transactions[0]);
      expect([stranger.status, stranger.body.code]).toEqual([403, 'forbidden']);
      const elsewhere = await send(theirs.transactions[0]);
      expect([elsewhere.status, elsewhere.body.code]).toEqual([400, 'invalidSignature']);
    });
  } else if (isVote(operation)) {
    it('refuses signatures of admins of other organizations', async () => {
      const resource = resourceOf(operation.path);
      const path = urlOf(operation, () => ourProposals[resource].id);
      const send = async (proposal: Shown) =>
        api.http.send({ key: ours.org.adminKey, path, body: await voteOf(theirs.org, proposal) });
      const stranger = await send(ourProposals[resource]);
      expect([stranger.status, stranger.body.code]).toEqual([403, 'forbidden']);
      const elsewhere = await send(theirProposals[resource]);
      expect([elsewhere.status, elsewhere.body.code]).toEqual([400, 'invalidSignature']);
    });
  }

  const namesRecords = proposesSomething(operation) || isDryRun(operation);
  if (namesRecords) {
    it('does not find ids of other organizations in its body', async () => {
      const bodies = bodiesFor(id, ours);
      const ids = bodies.flatMap((body) => idsIn(body).map(([path, own]) => ({ body, path, own })));
      for (const { body, path, own } of ids) {
        const names = [idLike(own, theirs), example(own)] as const;
        await refusedAlike(
          refusal(400, 'validationError', fieldOf(path)),
          (isTheirs) => ({
            path: urlOf(operation),
            body: withValue(body, path, isTheirs ? names[0] : names[1]),
          }),
          names,
        );
      }
      const tried = new Set(ids.map(({ path }) => placeWithin(path)));
      expect([...tried].sort()).toEqual([...new Set(idPlacesIn(operation.body?.schema))].sort());
    });
  } else if (operation.body && operation.params.length === 0) {
    it('does not find wallets of other organizations in its body', async () => {
      const stranger = newAddress();
      expect(Object.keys(operation.body?.example)).toEqual(['walletAddress', 'signature']);
      await refusedAlike(
        refusal(400, 'validationError', 'walletAddress'),
        async (isTheirs) => ({ path: urlOf(operation), body: await proofOf(isTheirs, stranger) }),
        [theirs.org.dave.wallet.address, stranger],
      );
    });
  }

  if (id === 'evaluatePolicies' || id === 'createTransaction') {
    it('does not find wallets of other organizations, and shows only its own policies', async () => {
      const [foreign, stranger] = [theirs.org.dave.wallet.address, newAddress()];
      const [body] = bodiesFor(id, ours);
      await refusedAlike(
        refusal(400, 'validationError', 'initiatorWalletAddress'),
        (isTheirs) => ({
          path: urlOf(operation),
          body: { ...body, initiatorWalletAddress: isTheirs ? foreign : stranger },
        }),
        [foreign, stranger],
      );
      if (id !== 'evaluatePolicies') return;
      const answer = await api.http.send({ key: ours.org.readKey, path: urlOf(operation), body });
      expect(answer.body.data.length).toBe(ours.policies.length);
      const text = answer.text.toLowerCase();
      expect(theirMarks().filter((mark) => text.includes(mark.toLowerCase()))).toEqual([]);
    });
  }

  const named = operation.query.map(({ name }) => name).filter((name) => !NAMELESS.includes(name));
  if (named.length > 0) {
    it(`does not find ids of other organizations in its query: ${named.join(', ')}`, async () => {
      for (const name of named) {
        const check = QUERIES[name];
        if (!check) throw new Error(`what does ${name} name? say how it is kept apart`);
        await check(operation);
      }
    });
  }

  if (operation.method === 'get') {
    it('shows nothing of other organizations', async () => {
      const path = urlOf(operation, idIn(operation, ours, ourProposals))
        .replace(/=.*/, `=${ours.org.dave.wallet.address}`)
        .concat(operation.query.some(({ name }) => name === 'limit') ? '?limit=100' : '');
      const { adminKey, readKey } = operation.id === 'getRescueKit' ? await withAdminsSafe() : ours.org;
      const answer = await api.http.send({ key: operation.forAdmins ? adminKey : readKey, path });
      expect(answer.status).toBe(200);
      const text = answer.text.toLowerCase();
      expect(theirMarks().filter((mark) => text.includes(mark.toLowerCase()))).toEqual([]);
    });
  }
});

const MALFORMED = [
  'x',
  'mem_x',
  'acc_01jz8k3v5fe5ht0n2m6w9r4xyz0',
  'ACC_01jz8k3v5fe5ht0n2m6w9r4xyz',
  'acc_01JZ8K3V5FE5HT0N2M6W9R4XYZ',
  'prop_z1jz8k3v5fe5ht0n2m6w9r4xyz',
  '%00',
  '..',
  "'%20OR%201=1--",
  '%E0%A4%A',
];

describe('two organizations', () => {
  it('do not share signatures of an admin of both', async () => {
    const { alice } = theirs.org;
    const ourPayload = JSON.parse(ourProposals.accounts.signingPayloads.approvePayload);
    const theirPayload = JSON.parse(theirProposals.accounts.signingPayloads.approvePayload);
    expect(theirPayload.domain.salt).not.toBe(ourPayload.domain.salt);
    const moved = { ...theirPayload, domain: ourPayload.domain };
    await expectRefused(
      api.http,
      theirs.org,
      {
        key: theirs.org.adminKey,
        path: proposalPath(theirProposals.accounts.id, '/signatures'),
        body: { type: 'approve', signature: await signPayload(alice, JSON.stringify(moved)) },
      },
      refusal(400, 'invalidSignature', 'signature'),
    );
  });

  it('do not share idempotency keys or accounts', async () => {
    const organizations = [ours.org, theirs.org];
    const idempotencyKey = randomUUID();
    const body = { items: [{ name: 'Same', networkIds: [31337] }] };
    const addresses = await Promise.all(
      organizations.map(async (org) => {
        const answer = await api.http.send({ key: org.adminKey, path: PROPOSE, body, idempotencyKey });
        expect(answer.status).toBe(201);
        const done = await carryOut(api.http, org, answer.body.data);
        return (await read(api.http, org.readKey, done.result.resources[0].uri)).address;
      }),
    );
    expect(addresses[0]).not.toBe(addresses[1]);
  });

  it('can each have a member with the same wallet', async () => {
    const items = [{ name: 'Dave of both', walletAddress: theirs.org.dave.wallet.address }];
    const path = `${BASE}/members/proposals/create`;
    const answer = await api.http.send({ key: ours.org.adminKey, path, body: { items } });
    expect(answer.status).toBe(201);
    expect((await carryOut(api.http, ours.org, answer.body.data)).executionStatus).toBe('completed');
  });
});
