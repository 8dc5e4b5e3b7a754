import { randomUUID } from 'node:crypto';
import type { Db } from '../../src/db/database';
import type { Answer, Ask, HttpClient } from '../support/http';
import { signPayload, type TestOrganization } from '../support/service';
import { until } from '../support/until';

/** The mutations on the way of an account from its proposal to its deployment, in their order. */
export const STEPS = ['create', 'sign', 'signAgain', 'execute'] as const;
export type Step = (typeof STEPS)[number];

/** Whom and what a journey goes through. */
export interface World {
  readonly http: HttpClient;
  readonly db: Db;
  readonly org: TestOrganization;
}

/** The creation of one account, request by request: each has one idempotency key, however often it is sent. */
export interface Journey {
  readonly name: string;
  readonly networkIds: readonly number[];
  readonly asks: Map<Step, Ask>;
  readonly answers: Map<Step, Answer>;
}

/** Begins a journey with a name of its own. */
export function beginJourney(networkIds: readonly number[] = [31337, 31338]): Journey {
  return { name: `Account ${randomUUID()}`, networkIds, asks: new Map(), answers: new Map() };
}

// biome-ignore lint/suspicious/noExplicitAny: a proposal as it was answered
export function proposalOf(journey: Journey): any {
  const created = journey.answers.get('create');
  if (!created) throw new Error(`${journey.name} is not proposed yet`);
  return created.body.data;
}

async function newAsk({ org }: World, journey: Journey, step: Step): Promise<Ask> {
  const common = { key: org.adminKey, idempotencyKey: randomUUID() };
  if (step === 'create') {
    const items = [{ name: journey.name, networkIds: journey.networkIds }];
    return { ...common, path: '/api/v1/accounts/proposals/create', body: { items } };
  }
  const { id, signingPayloads } = proposalOf(journey);
  const path = `/api/v1/accounts/proposals/${id}`;
  if (step === 'execute') return { ...common, path: `${path}/execute`, body: { type: 'approve' } };
  const signer = step === 'sign' ? org.alice : org.bob;
  const signature = await signPayload(signer, signingPayloads.approvePayload);
  return { ...common, path: `${path}/signatures`, body: { type: 'approve', signature } };
}

/** The request of a step: always the same one. */
export async function askOf(world: World, journey: Journey, step: Step): Promise<Ask> {
  const known = journey.asks.get(step);
  if (known) return known;
  const ask = await newAsk(world, journey, step);
  journey.asks.set(step, ask);
  return ask;
}

/** Whether the answer asks for the same request again: a part is away, or the first is still being worked on. */
export function isPassing(answer: Answer): boolean {
  return answer.status === 500 || (answer.status === 409 && answer.headers['retry-after'] !== undefined);
}

/** Sends the request of a step again and again until it is answered for good, and keeps that answer. */
export async function persist(
  world: World,
  journey: Journey,
  step: Step,
  http = world.http,
): Promise<Answer> {
  const ask = await askOf(world, journey, step);
  const answer = await until(
    `${step} is answered`,
    async () => {
      const given = await http.send(ask);
      if (isPassing(given)) throw new Error(given.text);
      return given;
    },
    60_000,
  );
  if (answer.status !== (step === 'create' ? 201 : 200)) throw new Error(`${step}: ${answer.text}`);
  journey.answers.set(step, answer);
  return answer;
}

/** Goes all steps before `step`. */
export async function prepare(world: World, journey: Journey, step: Step): Promise<void> {
  for (const before of STEPS.slice(0, STEPS.indexOf(step))) await persist(world, journey, before);
}

/** Goes all steps that are left, and waits until the account is deployed. */
export async function finish(world: World, journey: Journey): Promise<void> {
  for (const step of STEPS) if (!journey.answers.has(step)) await persist(world, journey, step);
  await until(
    `${journey.name} is deployed`,
    async () => {
      const { executionStatus, failure } = await show(world, journey);
      if (executionStatus === 'failed') throw new Error(JSON.stringify(failure));
      return executionStatus === 'completed';
    },
    60_000,
  );
}

/** The proposal as the API shows it now. */
export async function show({ http, org }: World, journey: Journey) {
  const path = `/api/v1/accounts/proposals/${proposalOf(journey).id}`;
  const answer = await http.send({ key: org.readKey, path });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.data;
}
