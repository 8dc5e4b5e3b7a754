import { randomUUID } from 'node:crypto';
import { STATUS_BY_CODE } from '../../src/contract/errors';
import { issueApiKey } from '../../src/credentials/apiKeys';
import { OPERATOR } from '../../src/domain/actor';
import { ALL_RIGHTS } from '../../src/domain/keyRights';
import type { ErrorCode } from '../../src/domain/refusal';
import { decideAdminsSafe } from '../support/adminsSafe';
import { execute, insist, PROPOSE, read, type Shown, sharedApi, startApi } from '../support/api';
import { checkConformance } from '../support/conformance';
import { type Operation, operations, urlOf } from '../support/document';
import {
  bodiesFor,
  type Furnished,
  furnish,
  idLike,
  isDryRun,
  makeFailed,
  newAddress,
  newTransactionOf,
  placeOf,
  proposeSomething,
  proposesSomething,
  resourceOf,
  resourceTypes,
} from '../support/furnished';
import type { Answer, Ask } from '../support/http';
import type { ResourceType } from '../support/interfaceTables';
import { aContractPolicyItem } from '../support/policies';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import {
  databaseSettings,
  sign,
  signPayload,
  type TestOrganization,
  type TestService,
} from '../support/service';
import { sendPlain } from '../support/sockets';
import { createTestDatabase } from '../support/stack';
import {
  createTransaction,
  executeTransaction,
  makePolicies,
  readTransaction,
  signatureBody,
  signed,
  TRANSACTIONS,
  transactionPath,
} from '../support/transactionApi';
import { until } from '../support/until';

type PerResource = Partial<Record<ResourceType, Shown>>;

let api: TestService;
/** On the same database, with workers of its own: proposals live for six seconds, a key has one open at most. */
let narrow: ServiceProcess;
/** On the same database: one request per second. */
let slow: TestService;
/** On the same database, where Temporal cannot be reached. */
let cutOff: TestService;
/** Its database is gone. */
let broken: TestService;
let rolledBack: TestService;

let own: Furnished;
/** Has proposed nothing. */
let idle: TestOrganization;
/** Have one proposal about each resource: open, rejected, expired. */
let deciding: TestOrganization;
let decided: TestOrganization;
let late: TestOrganization;
let open: PerResource;
let rejected: PerResource;
let expired: PerResource;
/** Of the furnished organization: not signed, rejected, expired before it was signed. */
let transaction: Shown;
let rejectedTransaction: Shown;
let expiredTransaction: Shown;
let limitedKey: string;
/** It can propose, and neither read nor request. */
let narrowKey: string;
/** A request to the service that is cut off, and its answer. */
let asked: Ask;
let cutOffAnswer: Promise<Answer>;

async function issue(org: TestOrganization, rights = ALL_RIGHTS): Promise<string> {
  const key = { organizationId: org.id, memberIds: [org.bot.id], rights, actor: OPERATOR };
  return (await api.db.transaction((tx) => issueApiKey(tx, key))).key;
}

/** Does something about each resource, all at once. */
async function perResource<T>(work: (resource: ResourceType) => Promise<T>) {
  const done = resourceTypes.map(async (resource) => [resource, await work(resource)] as const);
  return Object.fromEntries(await Promise.all(done)) as Partial<Record<ResourceType, T>>;
}

/** One of everything, an open proposal of its key, and transactions that can no longer be signed. */
async function furnishAndPropose(org: TestOrganization): Promise<Furnished> {
  const furnished = await furnish(api, org);
  await proposeSomething(api.http, org, 'groups');
  [transaction] = furnished.transactions;
  [rejectedTransaction, expiredTransaction] = await Promise.all([
    rejectTransaction(furnished),
    letTransactionExpire(furnished),
  ]);
  return furnished;
}

async function rejectSomething(resource: ResourceType): Promise<Shown> {
  const proposal = await proposeSomething(api.http, decided, resource);
  for (const member of [decided.alice, decided.bob]) {
    await sign(api.http, decided.adminKey, proposal, member, 'reject');
  }
  return (await execute(api.http, decided.adminKey, proposal.id, 'reject', resource)).body.data;
}

async function letExpire(resource: ResourceType): Promise<Shown> {
  const proposal = await proposeSomething(narrow.http, { ...late, adminKey: await issue(late) }, resource);
  await until('it is expired', async () => {
    const shown = await read(api.http, late.readKey, placeOf(proposal));
    return shown.signatureStatus === 'expired';
  });
  return proposal;
}

async function rejectTransaction({ org, transactions }: Furnished): Promise<Shown> {
  const initiated = await signed(api.http, org, transactions[1], org.dave, 'initiator');
  return signed(api.http, org, initiated, org.dave, 'reject', { execute: true });
}

async function letTransactionExpire(furnished: Furnished): Promise<Shown> {
  const { org } = furnished;
  const asked = { key: await issue(org), path: TRANSACTIONS, body: newTransactionOf(furnished) };
  const { data } = (await insist(narrow.http, asked)).body;
  await until('it is expired', async () => {
    return (await readTransaction(api.http, org, data)).signatureStatus === 'expired';
  });
  return data;
}

const services: TestService[] = [];
async function start(options: Parameters<typeof startApi>[0] = {}): Promise<TestService> {
  const service = await startApi(options);
  services.push(service);
  return service;
}

async function startBroken(): Promise<TestService> {
  const database = await createTestDatabase();
  const service = await start({ env: { ORGWALLET_ROLES: 'api' }, database: databaseSettings(database) });
  await database.drop();
  return service;
}

/** The signer has compared another start of the server than the one that runs. */
async function startRolledBack(): Promise<TestService> {
  const service = await start({
    env: { ORGWALLET_ROLES: 'api' },
    database: databaseSettings(await createTestDatabase()),
    ready: false,
  });
  await service.db('journal_comparison').update({ server: 'another' });
  return service;
}

/** Much is made before the first test; on a busy machine it takes its time. */
const SET_UP_LIMIT_MS = 240_000;

beforeAll(async () => {
  api = await sharedApi();
  services.push(api);
  const tight = { PROPOSAL_LIFETIME: '6s', MAX_OPEN_PER_KEY: '1' };
  const small = { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '1' };
  slow = await start({ env: { ORGWALLET_ROLES: 'api', ...small }, database: api.env });
  cutOff = await start({
    env: { ORGWALLET_ROLES: 'api', TEMPORAL_ADDRESS: '127.0.0.1:1' },
    database: api.env,
    ready: false,
  });
  broken = await startBroken();
  rolledBack = await startRolledBack();
  narrow = await startServiceProcess(
    { ...api.env, TEMPORAL_TASK_QUEUE: `narrow-${randomUUID()}`, ...tight },
    { roles: ['api', 'worker'] },
  );
  const create = () => api.createOrganization();
  const [owner, ...others] = await Promise.all([create(), create(), create(), create(), create()]);
  [idle, deciding, decided, late] = others;
  asked = { key: idle.adminKey, path: PROPOSE, body: newBody(), idempotencyKey: randomUUID() };
  cutOffAnswer = cutOff.http.send(asked);
  limitedKey = await issue(idle);
  [own, open, rejected, expired] = await Promise.all([
    furnishAndPropose(owner),
    perResource((resource) => proposeSomething(api.http, deciding, resource)),
    perResource(rejectSomething),
    perResource(letExpire),
  ]);
  narrowKey = await issue(own.org, { ...ALL_RIGHTS, scopes: ['propose'] });
}, SET_UP_LIMIT_MS);
afterAll(() => Promise.all([narrow, ...services].map((service) => service?.stop())));

const newBody = () => ({ items: [{ name: randomUUID(), networkIds: [31337] }] });

/** A request to an operation as its documentation shows it: about records that do not exist. */
const exampleOf = (operation: Operation): Ask & { method: string } => ({
  method: operation.method.toUpperCase(),
  path: urlOf(operation),
  ...(operation.body ? { body: operation.body.example } : {}),
});
const withWord = (path: string, word: string) => `${path}${path.includes('?') ? '&' : '?'}${word}`;

/** The path of an operation on one record. */
const pathTo = (operation: Operation, { id }: Shown): string => urlOf(operation, () => id);

/** The proposal among these that an operation can be about. */
function proposalFor({ path }: Operation, proposals: PerResource): Shown {
  return proposals[resourceOf(path)];
}
const isOnTransaction = ({ path }: Operation) => path.startsWith('/transactions/');
const isVote = ({ path }: Operation) => path.endsWith('/signatures');
const isExecution = ({ path }: Operation) => path.endsWith('/execute');
const isSimulation = ({ path }: Operation) => path.endsWith('/simulation');
const isImpact = ({ id }: Operation) => id === 'getPolicyImpact';

async function vote(
  operation: Operation,
  proposal: Shown,
  org: TestOrganization,
  type: 'approve' | 'reject',
): Promise<Ask> {
  const signature = await signPayload(org.carol, proposal.signingPayloads[`${type}Payload`]);
  return { key: org.adminKey, path: pathTo(operation, proposal), body: { type, signature } };
}

/** Asks for an execution by an operation that does it. */
function executeBy(operation: Operation, { adminKey: key }: TestOrganization, proposal: Shown, type: string) {
  return api.http.send({ key, path: pathTo(operation, proposal), body: { type } });
}

async function registration(org: TestOrganization): Promise<Ask> {
  const { address } = org.dave.wallet;
  const path = `/api/v1/members/registrations/payload?walletAddress=${address}`;
  const { messageToSign } = await read(api.http, org.readKey, path);
  const signature = await org.dave.wallet.signMessage({ message: messageToSign });
  return {
    key: org.readKey,
    path: '/api/v1/members/registrations',
    body: { walletAddress: address, signature },
  };
}

/** One open proposal more than a key may have. */
const oneTooMany = (operation: Operation): Ask => ({
  key: own.org.adminKey,
  path: urlOf(operation),
  body: bodiesFor(operation.id, own)[0],
});

/** Simulates a transaction of the furnished organization. */
function simulate({ id }: Shown): Promise<Answer> {
  return api.http.send({ key: own.org.readKey, path: transactionPath(id, '/simulation') });
}

/** Asks what a proposal of policies would have permitted. */
function impactOf({ readKey: key }: TestOrganization, { id }: Shown): Promise<Answer> {
  return api.http.send({ key, path: `/api/v1/policies/proposals/${id}/impact` });
}

/** Signs a transaction of the furnished organization. */
function signTransactionAs({ id }: Shown, body: object): Promise<Answer> {
  return api.http.send({ key: own.org.readKey, path: transactionPath(id, '/signatures'), body });
}

const isOnAddressBook = ({ path, method }: Operation) =>
  path.startsWith('/address-book') && method === 'post';

/** A change of the address book, as it is carried out; of the entry, where it is about one. */
function bookAsk(operation: Operation, entry: Shown, name: string): Ask {
  const bodies: { readonly [id: string]: object } = {
    createAddressBookEntry: { name, address: newAddress() },
    updateAddressBookEntry: { name },
    importAddressBook: { csv: `address,name\n${newAddress()},${name}\n` },
  };
  return { key: own.org.adminKey, path: pathTo(operation, entry), body: bodies[operation.id] ?? {} };
}

const isOfWebhooks = ({ path }: Operation) => path.startsWith('/webhooks');
const RECEIVER = 'http://127.0.0.1:9/';

async function newWebhook(): Promise<Shown> {
  const ask = { key: own.org.adminKey, path: '/api/v1/webhooks' };
  const { data: known } = (await api.http.send(ask)).body;
  // An organization has 20 at most.
  if (known.length >= 15) {
    await api.http.send({ ...ask, method: 'DELETE', path: `${ask.path}/${known.at(-1).id}` });
  }
  return (await api.http.send({ ...ask, body: { url: RECEIVER, enabled: false } })).body.data;
}

async function newEntry(): Promise<Shown> {
  const body = { name: randomUUID(), address: newAddress() };
  return (await api.http.send({ key: own.org.adminKey, path: '/api/v1/address-book', body })).body.data;
}

/** A change that gives the name of another entry. */
const takenName = async (operation: Operation): Promise<Ask> =>
  bookAsk(operation, await newEntry(), own.addressBook[0].name);

const unfit = (operation: Operation): never => {
  throw new Error(`there is no way yet to have ${operation.id} answer that: write one`);
};

/** How each code can be got from an operation that lists it. */
const waysTo: Record<ErrorCode, (operation: Operation) => Promise<Answer>> = {
  validationError(operation) {
    const example = { ...exampleOf(operation), key: own.org.adminKey };
    return api.http.send(
      operation.body
        ? { ...example, body: { ...operation.body.example, surprise: 1 } }
        : { ...example, path: withWord(example.path, 'surprise=1') },
    );
  },
  async invalidSignature(operation) {
    if (isOnTransaction(operation))
      return signTransactionAs(transaction, { type: 'initiator', signature: '0x' });
    if (isVote(operation)) {
      const path = pathTo(operation, proposalFor(operation, open));
      return api.http.send({ key: deciding.adminKey, path, body: { type: 'approve', signature: '0x' } });
    }
    const ask = await registration(idle);
    return api.http.send({ ...ask, body: { ...(ask.body as object), signature: `0x${'1b'.repeat(65)}` } });
  },
  unauthorized: (operation) => api.http.send(exampleOf(operation)),
  async forbidden(operation) {
    if (operation.method === 'get') return api.http.send({ ...exampleOf(operation), key: narrowKey });
    if (isOnTransaction(operation)) {
      return signTransactionAs(transaction, await signatureBody(transaction, own.org.alice, 'initiator'));
    }
    if (operation.id === 'createTransaction') {
      const [policy] = await makePolicies(api.http, own.org, aContractPolicyItem(null));
      const body = { ...newTransactionOf(own), policyId: policy.id };
      return api.http.send({ key: own.org.adminKey, path: TRANSACTIONS, body });
    }
    if (operation.forAdmins) return api.http.send({ ...exampleOf(operation), key: own.org.readKey });
    return api.http.send({ ...exampleOf(operation), key: narrowKey });
  },
  notFound(operation) {
    const { path, ...ask } = exampleOf(operation);
    // Of every address something can be said.
    const malformed = operation.id === 'getRecipient' ? path.slice(0, -1) : path;
    return api.http.send({ ...ask, path: malformed, key: idle.adminKey });
  },
  // What a database has lost that was restored.
  gone: (operation) =>
    api.http.send({
      key: own.org.readKey,
      path: withWord(exampleOf(operation).path, `after=1-${'5e'.repeat(32)}`),
    }),
  async conflict(operation) {
    if (operation.id === 'evaluatePolicies') {
      const { replaces: _, externalId: __, ...once } = newTransactionOf(own);
      const replacing = { ...once, replaces: await makeFailed(api, own.org, once) };
      await createTransaction(api.http, own.org, replacing);
      const { policyId: ___, metadata: ____, tags: _____, ...body } = replacing;
      return api.http.send({ key: own.org.readKey, path: urlOf(operation), body });
    }
    if (operation.id === 'previewPolicies') {
      const [body] = bodiesFor(operation.id, own);
      const [one, other] = body.policies;
      const namesakes = { policies: [one, { ...other, name: one.name }] };
      return api.http.send({ key: own.org.readKey, path: urlOf(operation), body: namesakes });
    }
    if (isImpact(operation)) return impactOf(decided, rejected.policies);
    if (operation.id === 'getStatement') {
      const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
      return api.http.send({
        key: own.org.readKey,
        path: `${urlOf(operation, (text) => idLike(text, own))}?to=${tomorrow}`,
      });
    }
    if (proposesSomething(operation)) return narrow.http.send(oneTooMany(operation));
    if (isSimulation(operation)) return simulate(rejectedTransaction);
    if (isOnTransaction(operation)) {
      if (isExecution(operation)) return executeTransaction(api.http, own.org, rejectedTransaction, 'reject');
      return signTransactionAs(
        rejectedTransaction,
        await signatureBody(rejectedTransaction, own.org.alice, 'reject'),
      );
    }
    if (isExecution(operation)) {
      return executeBy(operation, decided, proposalFor(operation, rejected), 'reject');
    }
    if (isOnAddressBook(operation)) return api.http.send(await takenName(operation));
    if (!isVote(operation)) return unfit(operation);
    const ask = await vote(operation, proposalFor(operation, open), deciding, 'reject');
    await api.http.send(ask);
    return api.http.send(ask);
  },
  thresholdNotMet(operation) {
    if (isOnTransaction(operation)) return executeTransaction(api.http, own.org, transaction);
    return executeBy(operation, deciding, proposalFor(operation, open), 'approve');
  },
  async proposalExpired(operation) {
    if (isSimulation(operation)) return simulate(expiredTransaction);
    if (isImpact(operation)) return impactOf(late, expired.policies);
    if (isOnTransaction(operation)) {
      if (isExecution(operation)) return executeTransaction(api.http, own.org, expiredTransaction);
      return signTransactionAs(
        expiredTransaction,
        await signatureBody(expiredTransaction, own.org.dave, 'initiator'),
      );
    }
    const proposal = proposalFor(operation, expired);
    if (isVote(operation)) return api.http.send(await vote(operation, proposal, late, 'approve'));
    return executeBy(operation, late, proposal, 'approve');
  },
  async idempotencyConflict(operation) {
    const idempotencyKey = randomUUID();
    if (isOnAddressBook(operation)) {
      const asks = [bookAsk(operation, await newEntry(), 'One'), bookAsk(operation, await newEntry(), 'Two')];
      const [, answer] = [
        await api.http.send({ ...(asks[0] as Ask), idempotencyKey }),
        await api.http.send({ ...(asks[1] as Ask), idempotencyKey }),
      ];
      return answer;
    }
    if (isOfWebhooks(operation)) {
      const path = pathTo(operation, await newWebhook());
      const ask = { key: own.org.adminKey, method: operation.method.toUpperCase(), idempotencyKey };
      const body = operation.id === 'createWebhook' ? { url: RECEIVER } : operation.body?.example;
      await api.http.send({ ...ask, path, body });
      const other = operation.id === 'createWebhook' ? { url: RECEIVER, enabled: false } : body;
      return api.http.send({ ...ask, path: pathTo(operation, await newWebhook()), body: other });
    }
    const first = proposesSomething(operation)
      ? oneTooMany(operation)
      : operation.params.length > 0
        ? { ...exampleOf(operation), key: own.org.adminKey }
        : { ...(await registration(own.org)), key: own.org.adminKey };
    const stored = await narrow.http.send({ ...first, idempotencyKey });
    expect([200, 404, 409]).toContain(stored.status);
    const { example } = operation.body ?? unfit(operation);
    const other = operation.id === 'changeReferences' ? { tags: ['other'] } : { type: 'reject' };
    const body = operation.params.length > 0 ? { ...example, ...other } : example;
    return api.http.send({ ...first, body, idempotencyKey });
  },
  upgradeRequired(operation) {
    const { method, path, body } = exampleOf(operation);
    const headers = { authorization: `Bearer ${own.org.adminKey}` };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return sendPlain(api, { method, path, headers, ...sent }, checkConformance);
  },
  rateLimited: (operation) =>
    until('the bucket is empty', async () => {
      const ask = { ...exampleOf(operation), key: limitedKey };
      const answers = await Promise.all([1, 2, 3, 4].map(() => slow.http.send(ask)));
      return answers.find(({ status }) => status === 429);
    }),
  internalError: (operation) => broken.http.send({ ...exampleOf(operation), key: own.org.adminKey }),
  notReconciled: (operation) => rolledBack.http.send({ ...exampleOf(operation), key: own.org.adminKey }),
};

/**
 * Codes of operations that can only be got by waiting for long: all of these are waited for together, in
 * slowClients.test.ts.
 */
const ELSEWHERE: { readonly [operationId: string]: readonly ErrorCode[] } = {
  registerWallet: ['conflict'],
  // Only while the first request with its key is running.
  removeAddressBookEntry: ['conflict'],
  createWebhook: ['conflict'],
  updateWebhook: ['conflict'],
  removeWebhook: ['conflict'],
  rotateWebhook: ['conflict'],
  resendEvents: ['conflict'],
};

/** A request that an operation carries out on what is there for it alone; undefined where none is needed. */
async function askOfItsOwn(operation: Operation): Promise<Ask | undefined> {
  const { org } = own;
  if (operation.id === 'registerWallet') return registration(org);
  if (operation.id === 'changeReferences') {
    const path = urlOf(operation, (example) => idLike(example, own));
    return { key: org.readKey, path, body: bodiesFor(operation.id, own)[0] };
  }
  if (isOnAddressBook(operation)) return bookAsk(operation, await newEntry(), randomUUID());
  if (isOfWebhooks(operation)) {
    const [body] = operation.id === 'createWebhook' ? [{ url: RECEIVER }] : [operation.body?.example];
    return {
      key: org.adminKey,
      method: operation.method.toUpperCase(),
      path: pathTo(operation, await newWebhook()),
      body,
    };
  }
  if (operation.id === 'getRescueKit') {
    const exiting = await api.createOrganization();
    await decideAdminsSafe(api.db, exiting, true);
    return { key: exiting.readKey, path: urlOf(operation) };
  }
  return undefined;
}

/** A request that an operation carries out. */
async function goodAsk(operation: Operation): Promise<Ask> {
  const { org } = own;
  if (proposesSomething(operation)) {
    return { key: org.adminKey, path: urlOf(operation), body: bodiesFor(operation.id, own)[0] };
  }
  const ofItsOwn = await askOfItsOwn(operation);
  if (ofItsOwn) return ofItsOwn;
  if (isDryRun(operation)) {
    return { key: org.readKey, path: urlOf(operation), body: bodiesFor(operation.id, own)[0] };
  }
  if (operation.id === 'getRegistrationPayload') {
    const path = urlOf(operation).replace(/=.*/, `=${org.dave.wallet.address}`);
    return { key: org.readKey, path };
  }
  if (operation.id === 'getQueuedAdminProposal') return { key: deciding.readKey, path: urlOf(operation) };
  if (isVote(operation) && isOnTransaction(operation)) {
    const { replaces: _, ...body } = newTransactionOf(own);
    const fresh = await createTransaction(api.http, org, body);
    const signature = await signatureBody(fresh, org.dave, 'initiator');
    return { key: org.readKey, path: transactionPath(fresh.id, '/signatures'), body: signature };
  }
  if (operation.id === 'signProposal') {
    return vote(operation, await proposeSomething(api.http, deciding, 'groups'), deciding, 'approve');
  }
  if (isVote(operation)) return vote(operation, proposalFor(operation, open), deciding, 'approve');
  if (isExecution(operation)) return unfit(operation);
  const proposalId = () => proposalFor(operation, open).id;
  const path = urlOf(operation, (example, name) =>
    name === 'proposalId' ? proposalId() : idLike(example, own),
  );
  return { key: operation.path.includes('/proposals/') ? deciding.readKey : org.readKey, path };
}

describe.each(operations.map((operation) => [operation.id, operation] as const))('%s', (id, operation) => {
  const codes = operation.codes.filter((code) => !ELSEWHERE[id]?.includes(code));

  it.each(codes)('answers %s', async (code) => {
    const answer = await waysTo[code](operation);
    expect([answer.status, answer.body?.code, answer.body?.error?.code]).toEqual([
      STATUS_BY_CODE[code],
      code,
      code,
    ]);
    expect(answer.body.message.length).toBeGreaterThan(5);
  });

  it(`answers ${operation.success}`, async () => {
    if (isExecution(operation)) {
      // Executed above, for what has been decided before.
      const executed = isOnTransaction(operation) ? rejectedTransaction : proposalFor(operation, rejected);
      expect(executed.executionStatus).toBe('rejected');
      return;
    }
    const asks = proposesSomething(operation)
      ? bodiesFor(id, own).map((body) => ({ key: own.org.adminKey, path: urlOf(operation), body }))
      : [await goodAsk(operation)];
    for (const ask of asks) {
      const answer = await api.http.send(ask);
      expect([answer.status, answer.body.code, answer.body.error]).toEqual([
        operation.success,
        undefined,
        undefined,
      ]);
    }
  });
});

it('every error code of the contract is listed by some operation', () => {
  expect([...new Set(operations.flatMap(({ codes }) => codes))].sort()).toEqual(
    Object.keys(STATUS_BY_CODE).sort(),
  );
});

it('an unavailable part leaves no trace, and the same key finishes the work later', async () => {
  const { status, headers } = await cutOffAnswer;
  expect(status).toBe(500);
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  const named = async () =>
    (await read(api.http, idle.readKey, '/api/v1/proposals?limit=100')).filter(
      ({ data }: Shown) => data.items?.[0].name === (asked.body as Shown).items[0].name,
    );
  expect(await named()).toEqual([]);
  const back = await api.http.send(asked);
  expect(back.status).toBe(201);
  const again = await api.http.send(asked);
  expect(await named()).toHaveLength(1);
  expect([again.text, again.headers['idempotency-replayed']]).toEqual([back.text, 'true']);
});
