import { randomUUID } from 'node:crypto';
import type { ErrorCode } from '../../src/domain/refusal';
import type { Answer, Ask, HttpClient } from './http';
import { sharedService, signingAsk, type TestOrganization, type TestService } from './service';
import { until } from './until';

// biome-ignore lint/suspicious/noExplicitAny: a resource as it was answered
export type Shown = any;

export const PROPOSE = '/api/v1/accounts/proposals/create';
export const UPDATE = '/api/v1/accounts/proposals/update';
/** An id that no record has. */
export const UNKNOWN = {
  account: 'acc_01jz8k3v5fe5ht0n2m6w9r4xyz',
  proposal: 'prop_01jz8k3v5fe5ht0n2m6w9r4xyz',
  member: 'mem_01jz8k3v5fe5ht0n2m6w9r4xyz',
  group: 'grp_01jz8k3v5fe5ht0n2m6w9r4xyz',
  policy: 'pol_01jz8k3v5fe5ht0n2m6w9r4xyz',
  admins: 'adm_01jz8k3v5fe5ht0n2m6w9r4xyz',
};

/** Services to send requests to. */
export {
  sharedService as sharedApi,
  startSeparateService as startSeparateApi,
  startTestService as startApi,
} from './service';

/** Path of a proposal about accounts (or another resource), or of something below it. */
export function proposalPath(id: string, below = '', resourceType = 'accounts'): string {
  return `/api/v1/${resourceType}/proposals/${id}${below}`;
}

/** Reads a resource that must be there. */
export async function read(http: HttpClient, key: string, path: string): Promise<Shown> {
  const answer = await http.send({ key, path });
  if (answer.status !== 200) throw new Error(`GET ${path} → ${answer.status} ${answer.text}`);
  return answer.body.data;
}

/** Sends a mutation, and sends it again with the same idempotency key (a new one, where none is given) while a part of the service is unavailable. */
export function insist(http: HttpClient, ask: Ask): Promise<Answer> {
  const repeatable = { idempotencyKey: randomUUID(), ...ask };
  return until(`${ask.path} is answered`, async () => {
    const answer = await http.send(repeatable);
    return answer.status !== 500 && answer.status !== 429 && answer;
  });
}

/** Has each test of a file act in an organization of its own, on the shared service. `begin` gets both before each test. */
export function organizationForEachTest(begin: (api: TestService, org: TestOrganization) => void): void {
  let api: TestService;
  beforeAll(async () => {
    api = await sharedService();
  });
  beforeEach(async () => begin(api, await api.createOrganization()));
  afterAll(() => api?.stop());
}

let made = 0;

/** Proposes one account with a name of its own, unless `item` says otherwise. */
export async function propose(
  http: HttpClient,
  org: TestOrganization,
  item: { name?: string; networkIds?: number[] } = {},
): Promise<Shown> {
  made += 1;
  const items = [{ name: `Account ${made}`, networkIds: [31337], ...item }];
  const answer = await insist(http, { key: org.adminKey, path: PROPOSE, body: { items } });
  if (answer.status !== 201) throw new Error(`proposing → ${answer.status} ${answer.text}`);
  return answer.body.data;
}

/** Proposes a change of one account. */
export async function proposeUpdate(
  http: HttpClient,
  org: TestOrganization,
  item: { id: string; name?: string; networkIds?: number[] },
): Promise<Shown> {
  const answer = await insist(http, { key: org.adminKey, path: UPDATE, body: { items: [item] } });
  if (answer.status !== 201) throw new Error(`proposing a change → ${answer.status} ${answer.text}`);
  return answer.body.data;
}

/** Proposes any change; the path is the one below /api/v1 that proposes it. */
export async function proposeChange(
  http: HttpClient,
  org: TestOrganization,
  path: string,
  body: object,
): Promise<Shown> {
  const answer = await insist(http, { key: org.adminKey, path: `/api/v1${path}`, body });
  if (answer.status !== 201) throw new Error(`POST ${path} → ${answer.status} ${answer.text}`);
  return answer.body.data;
}

/** Exactly what a new proposal of an organization with the threshold 2 shows, apart from its id and its times. */
export function asProposed(
  created: Shown,
  about: { resourceType: string; action: string; summary: unknown; data: unknown },
): Shown {
  return {
    id: created.id,
    signatureStatus: 'pendingReviewSignatures',
    executionStatus: null,
    threshold: 2,
    approvals: [],
    rejections: [],
    createdAt: created.createdAt,
    expiresAt: created.expiresAt,
    kind: `${about.resourceType}/${about.action}`,
    ...about,
    signingPayloads: {
      approvePayload: expect.any(String),
      rejectPayload: expect.any(String),
      initiatorPayload: expect.any(String),
    },
    notes: [],
  };
}

/** Asks for an execution. */
export function execute(
  http: HttpClient,
  key: string,
  id: string,
  type: 'approve' | 'reject' = 'approve',
  resourceType = 'accounts',
): Promise<Answer> {
  return http.send({ key, path: proposalPath(id, '/execute', resourceType), body: { type } });
}

/** Waits until a proposal's execution has an outcome. */
export function settled(
  http: HttpClient,
  org: TestOrganization,
  id: string,
  resourceType = 'accounts',
): Promise<Shown> {
  return until(`proposal ${id} is decided`, async () => {
    const found = await read(http, org.readKey, proposalPath(id, '', resourceType));
    return ['completed', 'failed', 'rejected', 'blocked'].includes(found.executionStatus) && found;
  });
}

/** Signs a proposal, and sends it again while a part is unavailable. */
async function insistOnSigning(http: HttpClient, ...of: Parameters<typeof signingAsk>): Promise<Answer> {
  return insist(http, await signingAsk(...of));
}

/** Lets two admins approve a proposal and waits for its outcome, whatever it is. */
export async function approve(http: HttpClient, org: TestOrganization, proposal: Shown): Promise<Shown> {
  await insistOnSigning(http, org.adminKey, proposal, org.alice);
  const answer = await insistOnSigning(http, org.adminKey, proposal, org.bob, 'approve', { execute: true });
  if (answer.status !== 200) throw new Error(`signing → ${answer.status} ${answer.text}`);
  return settled(http, org, proposal.id, proposal.resourceType);
}

/** Lets two admins reject a proposal. */
export async function reject(http: HttpClient, org: TestOrganization, proposal: Shown): Promise<Shown> {
  await insistOnSigning(http, org.adminKey, proposal, org.alice, 'reject');
  const answer = await insistOnSigning(http, org.adminKey, proposal, org.bob, 'reject', { execute: true });
  if (answer.body.data?.executionStatus !== 'rejected') throw new Error(`not rejected: ${answer.text}`);
  return answer.body.data;
}

/** Lets two admins approve a proposal and waits until it is carried out. */
export async function carryOut(http: HttpClient, org: TestOrganization, proposal: Shown): Promise<Shown> {
  const done = await approve(http, org, proposal);
  if (done.executionStatus !== 'completed') throw new Error(`not completed: ${JSON.stringify(done)}`);
  return done;
}

/** Proposes any change and carries it out. */
export async function change(
  http: HttpClient,
  org: TestOrganization,
  path: string,
  body: object,
): Promise<Shown> {
  return carryOut(http, org, await proposeChange(http, org, path, body));
}

/** Makes an account, deployed on these networks. */
export async function makeAccount(
  http: HttpClient,
  org: TestOrganization,
  item: { name?: string; networkIds?: number[] } = {},
): Promise<Shown> {
  const done = await carryOut(http, org, await propose(http, org, item));
  return read(http, org.readKey, done.result.resources[0].uri);
}

/** Everything of an organization that a refused request must leave as it was: what it shows, and its last audit entry. */
export async function stateOf(http: HttpClient, org: TestOrganization): Promise<Shown> {
  const [proposals, audit, accounts, members, groups, policies, admins, transactions] = await Promise.all(
    [
      '/proposals?limit=100',
      '/audit-logs?limit=1',
      '/accounts',
      '/members',
      '/groups',
      '/policies',
      '/admins',
      '/transactions',
    ].map((path) => read(http, org.readKey, `/api/v1${path}`)),
  );
  const lastAuditEntry = audit[0].id;
  return { proposals, accounts, members, groups, policies, admins, transactions, lastAuditEntry };
}

/** How a request must be refused. */
interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  /** `details.field`; null: there must be none. */
  readonly field?: string | null;
}

/** A refusal; without a field, where none is compared. */
export function refusal(status: number, code: ErrorCode, field?: string | null): Refusal {
  return field === undefined ? { status, code } : { status, code, field };
}

/** The refusal for a bad field. */
export function badField(field: string): Refusal {
  return refusal(400, 'validationError', field);
}

/** What an answer says about a refusal, in the shape of a `Refusal`. */
export function refusalIn(answer: Answer, expected: Refusal): Refusal {
  const found = { status: answer.status, code: answer.body?.code };
  return expected.field === undefined
    ? found
    : { ...found, field: answer.body?.error?.details?.field ?? null };
}

/** Sends a request that must be refused in that way, and must change nothing about the organization. */
export async function expectRefused(
  http: HttpClient,
  org: TestOrganization,
  ask: Ask,
  expected: Refusal,
): Promise<Answer> {
  const before = await org.stored();
  const answer = await http.send(ask);
  expect(refusalIn(answer, expected)).toEqual(expected);
  expect(await org.stored()).toEqual(before);
  return answer;
}

/** A request that must be refused: what it is, its path below /api/v1, its body, and the field at fault. */
export type BadRequest = readonly [name: string, path: string, body: object, field: string];

/** Sends requests that must be refused, each at its field, and must all together change nothing. */
export async function expectAllRefused(
  http: HttpClient,
  org: TestOrganization,
  requests: readonly BadRequest[],
): Promise<Answer[]> {
  const before = await org.stored();
  const answers: Answer[] = [];
  for (const [, path, body] of requests) {
    answers.push(await http.send({ key: org.adminKey, path: `/api/v1${path}`, body }));
  }
  const found = answers.map(({ status, body }, i) => [
    requests[i]?.[0],
    status,
    body.code,
    body.error?.details?.field,
  ]);
  expect(found).toEqual(requests.map(([name, , , field]) => [name, 400, 'validationError', field]));
  expect(await org.stored()).toEqual(before);
  return answers;
}
