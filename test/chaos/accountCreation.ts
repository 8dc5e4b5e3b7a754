import { randomUUID } from 'node:crypto';
import type { Db } from '../../src/db/database';
import type { Answer, Ask, HttpClient } from '../support/http';
import { signPayload, type TestOrganization } from '../support/service';
import { until } from '../support/until';

/** The mutations from the proposal of an account to its deployment, in their order. */
export const STEPS = ['create', 'sign', 'signAgain', 'execute'] as const;
export type Step = (typeof STEPS)[number];

/** What a creation is requested from. */
export interface World {
  readonly http: HttpClient;
  readonly db: Db;
  readonly org: TestOrganization;
}

/** The creation of one account, request by request: every repetition of one has the same idempotency key. */
export interface AccountCreation {
  readonly name: string;
  readonly networkIds: readonly number[];
  readonly asks: Map<Step, Ask>;
  readonly answers: Map<Step, Answer>;
}

/** Begins the creation of an account with a unique name. */
export function beginCreation(networkIds: readonly number[] = [31337, 31338]): AccountCreation {
  return { name: `Account ${randomUUID()}`, networkIds, asks: new Map(), answers: new Map() };
}

/** The proposal as it was answered. Throws before that. */
// biome-ignore lint/suspicious/noExplicitAny: a proposal as it was answered
export function proposalOf(creation: AccountCreation): any {
  const created = creation.answers.get('create');
  if (!created) throw new Error(`${creation.name} is not proposed yet`);
  return created.body.data;
}

async function newAsk({ org }: World, creation: AccountCreation, step: Step): Promise<Ask> {
  const common = { key: org.adminKey, idempotencyKey: randomUUID() };
  if (step === 'create') {
    const items = [{ name: creation.name, networkIds: creation.networkIds }];
    return { ...common, path: '/api/v1/accounts/proposals/create', body: { items } };
  }
  const { id, signingPayloads } = proposalOf(creation);
  const path = `/api/v1/accounts/proposals/${id}`;
  if (step === 'execute') return { ...common, path: `${path}/execute`, body: { type: 'approve' } };
  const signer = step === 'sign' ? org.alice : org.bob;
  const signature = await signPayload(signer, signingPayloads.approvePayload);
  return { ...common, path: `${path}/signatures`, body: { type: 'approve', signature } };
}

/** The request of a step: always the same one. */
export async function askOf(world: World, creation: AccountCreation, step: Step): Promise<Ask> {
  const known = creation.asks.get(step);
  if (known) return known;
  const ask = await newAsk(world, creation, step);
  creation.asks.set(step, ask);
  return ask;
}

/** Whether the answer asks for the same request again: a part is unavailable, or the first is still being processed. */
export function isTemporary(answer: Answer): boolean {
  return (
    [429, 500, 503].includes(answer.status) ||
    (answer.status === 409 && answer.headers['retry-after'] !== undefined)
  );
}

/** Repeats the request of a step until its answer is final, and stores that answer. */
export async function completeStep(
  world: World,
  creation: AccountCreation,
  step: Step,
  http = world.http,
): Promise<Answer> {
  const ask = await askOf(world, creation, step);
  const answer = await until(
    `${step} is answered`,
    async () => {
      const given = await http.send(ask);
      if (isTemporary(given)) throw new Error(given.text);
      return given;
    },
    60_000,
  );
  if (answer.status !== (step === 'create' ? 201 : 200)) throw new Error(`${step}: ${answer.text}`);
  creation.answers.set(step, answer);
  return answer;
}

/** Completes all steps before `step`. */
export async function prepare(world: World, creation: AccountCreation, step: Step): Promise<void> {
  for (const before of STEPS.slice(0, STEPS.indexOf(step))) await completeStep(world, creation, before);
}

/** Completes all remaining steps, and waits until the account is deployed. */
export async function finish(world: World, creation: AccountCreation): Promise<void> {
  for (const step of STEPS) if (!creation.answers.has(step)) await completeStep(world, creation, step);
  await until(
    `${creation.name} is deployed`,
    async () => {
      const { executionStatus, failure } = await show(world, creation);
      if (executionStatus === 'failed') throw new Error(JSON.stringify(failure));
      return executionStatus === 'completed';
    },
    60_000,
  );
}

/** The proposal as the API shows it now. */
export async function show({ http, org }: World, creation: AccountCreation) {
  const path = `/api/v1/accounts/proposals/${proposalOf(creation).id}`;
  const answer = await http.send({ key: org.readKey, path });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.data;
}
