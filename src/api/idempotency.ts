import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { sweepSessions } from '../credentials/memberSessions';
import type { Db } from '../db/database';
import {
  answerRequest,
  type CreatedWith,
  findRequests,
  forgetRequest,
  insertRequest,
  releaseRequest,
  renewLeases,
  type StoredAnswer,
  type StoredRequest,
  scopedKey,
  sweepRequests,
  takeOverRequest,
} from '../db/idempotency';
import { sweepBuckets } from '../db/rateLimits';
import { sweepChallenges } from '../db/registrations';
import { canonicalJson, type JsonValue } from '../domain/canonicalJson';
import type { ErrorCode } from '../domain/refusal';
import { failpoint } from '../failpoints';
import { afterRunOrSlow, createBatcher } from './batcher';
import { errorBodyOf, Refused, unavailable } from './refusals';

const RENEW_EVERY_MS = 2_000;
const SWEEP_EVERY_MS = 60_000;
const POLL_MS = { first: 20, longest: 250 };

/** The parts of a mutation request that idempotency needs. */
export interface MutationRequest {
  readonly organizationId: string;
  readonly credentialId: string;
  /** X-Idempotency-Key, lower case. */
  readonly key: string;
  readonly method: string;
  readonly path: string;
  /** The body as it was sent: what a repeat is compared with. */
  readonly sentBody: JsonValue;
}

/** A stored request, as handlers carry it out. */
export interface RequestRef extends Pick<StoredRequest, 'id' | 'resourceId' | 'createdAt'> {
  /** True when it may have been sent before. */
  readonly isRepeated: boolean;
}

/** The steps of a mutation. */
export interface MutationWork {
  /** The body as the schema reads it: what is carried out. A repeat of what is done needs none. Throws Refused. */
  readonly readBody: () => JsonValue;
  /** Waits until it may be worked on, and returns what ends its turn. Throws Refused. */
  readonly takeTurn: () => Promise<() => void>;
  /** Checks the permissions of the credential. Throws Refused. */
  readonly authorize: () => Promise<void>;
  /** Checks a new request without writing; returns the id of the resource that it creates or changes. Throws Refused. */
  readonly check: () => Promise<{ resourceId: string }>;
  /** Carries it out and returns the response. Idempotent by `id`. Throws Refused. */
  readonly send: (request: RequestRef) => Promise<StoredAnswer>;
  /** The response of a request that has created a proposal or transaction: that as it is now. */
  readonly show: (approvalId: string) => Promise<StoredAnswer>;
}

/** A response, and whether an earlier request with this key has done the work. */
interface Answered extends StoredAnswer {
  readonly replayed: boolean;
}

/**
 * Runs mutations so that one idempotency key has one side effect and one response, whatever crashes.
 *
 * Kept by hand: the middlewares on npm replay a stored answer, but none takes over a request whose process died between
 * its side effect and its answer.
 */
export interface Idempotency {
  run(request: MutationRequest, work: MutationWork, deadlineMs: number): Promise<Answered>;
  stop(): void;
}

/** A request on its way. */
interface Asked {
  readonly request: MutationRequest;
  readonly work: MutationWork;
  /** Of the request: made once, where it is needed. */
  readonly hash: () => Buffer;
}

/** What a repeat is compared with, for ever: an approval keeps the hash of its request. */
function hashOf({ method, path, sentBody }: MutationRequest): Buffer {
  return createHash('sha256')
    .update(canonicalJson([method, path, sentBody]))
    .digest();
}

/** Responses that are stored and replayed. All others release the key. */
function isStored(status: number): boolean {
  return (status >= 200 && status < 300) || status === 404 || status === 409 || status === 422;
}

/** The codes that refuse a request because of its credential. */
const CREDENTIAL_CODES: readonly ErrorCode[] = ['unauthorized', 'forbidden'];

function refusalAnswer(refused: Refused): StoredAnswer {
  return { status: refused.status, body: JSON.stringify(errorBodyOf(refused)), location: null };
}

/** The state of the runner. */
interface Runner {
  readonly db: Db;
  readonly retentionMs: number;
  readonly logger: Logger;
  /** Finds a request, or what it has created, by its `scopedKey`. */
  readonly find: (scopedKey: string) => Promise<StoredRequest | CreatedWith | undefined>;
  /** The requests that this process works on, by the owner of their lease. */
  readonly leases: Set<string>;
}

/** A request that this process holds the lease of. */
interface LeasedRequest extends RequestRef {
  readonly leaseOwner: string;
}

/** Sends a request and returns the response to store. Releases the key if the response is not stored. */
async function sendOnce(
  { db }: Runner,
  request: LeasedRequest,
  send: MutationWork['send'],
): Promise<StoredAnswer> {
  try {
    const answer = await send(request);
    failpoint('api.workflowAnswered');
    return answer;
  } catch (error) {
    if (!(error instanceof Refused) || error.status >= 500) {
      // It may have been sent: the repeat finds it unanswered and sends it again.
      await releaseRequest(db, request).catch(() => undefined);
      throw error;
    }
    if (!isStored(error.status)) {
      await forgetRequest(db, request);
      throw error;
    }
    return refusalAnswer(error);
  }
}

async function performMutation(
  runner: Runner,
  request: LeasedRequest,
  send: MutationWork['send'],
): Promise<StoredAnswer> {
  const { db, leases } = runner;
  leases.add(request.leaseOwner);
  try {
    const stored = await answerRequest(db, request.id, await sendOnce(runner, request, send));
    failpoint('api.answerStored');
    if (stored) return stored;
    await releaseRequest(db, request);
    throw unavailable('the database has lost what this request did; send the same request again');
  } finally {
    leases.delete(request.leaseOwner);
  }
}

/** Starts a new request. Undefined when another with the same key was faster. */
async function begin(
  runner: Runner,
  { request, work, hash }: Asked,
  body: JsonValue,
): Promise<StoredAnswer | undefined> {
  await work.authorize();
  const { db, retentionMs } = runner;
  const leaseOwner = randomUUID();
  const { organizationId, key, credentialId, method, path } = request;
  const made = { organizationId, key, credentialId, method, path, requestHash: hash(), body };
  const row = { ...made, leaseOwner, retentionMs };
  let resourceId: string;
  try {
    ({ resourceId } = await work.check());
  } catch (error) {
    if (!(error instanceof Refused) || !isStored(error.status)) throw error;
    const answer = refusalAnswer(error);
    const stored = await insertRequest(db, { ...row, resourceId: '', answer });
    return stored && answer;
  }
  failpoint('api.requestChecked');
  const stored = await insertRequest(db, { ...row, resourceId });
  failpoint('api.requestStored');
  return (
    stored && performMutation(runner, { ...stored, resourceId, leaseOwner, isRepeated: false }, work.send)
  );
}

/** Takes over a request whose process has died. Undefined when another process was faster. */
async function resume(
  runner: Runner,
  known: StoredRequest,
  { request: { credentialId }, work }: Asked,
): Promise<StoredAnswer | undefined> {
  const isOwn = known.credentialId === credentialId;
  // What has taken effect is answered, whatever its credential may do now; what has not is checked there.
  if (!isOwn) await work.authorize();
  const { id, resourceId } = known;
  const leaseOwner = randomUUID();
  if (!(await takeOverRequest(runner.db, { id, leaseOwner, credentialId }))) return undefined;
  runner.logger.info({ idempotencyRequestId: id, resourceId }, 'request taken over');
  try {
    return await performMutation(runner, { ...known, leaseOwner, isRepeated: true }, work.send);
  } catch (error) {
    // It was refused to the credential that had sent it first, and is forgotten: this one begins anew.
    if (!isOwn && error instanceof Refused && CREDENTIAL_CODES.includes(error.code)) return undefined;
    throw error;
  }
}

/** One attempt at a response. Undefined when another process was faster: its stored response is used. */
async function attempt(runner: Runner, asked: Asked): Promise<Answered | 'running' | undefined> {
  const { request, work, hash } = asked;
  const { organizationId, key } = request;
  const known = await runner.find(scopedKey(organizationId, key));
  if (known && !known.requestHash.equals(hash())) {
    work.readBody();
    throw new Refused({
      code: 'idempotencyConflict',
      message: 'this X-Idempotency-Key was used with another request',
      field: 'X-Idempotency-Key',
    });
  }
  if (known && 'approvalId' in known) return { ...(await work.show(known.approvalId)), replayed: true };
  if (known?.answer) return { ...known.answer, replayed: true };
  if (known?.leased) return 'running';
  const body = work.readBody();
  const endTurn = await work.takeTurn();
  try {
    const answer = known ? await resume(runner, known, asked) : await begin(runner, asked, body);
    return answer && { ...answer, replayed: false };
  } finally {
    endTurn();
  }
}

async function run(
  runner: Runner,
  request: MutationRequest,
  work: MutationWork,
  deadlineMs: number,
): Promise<Answered> {
  let made: Buffer | undefined;
  const hash = () => {
    made ??= hashOf(request);
    return made;
  };
  for (let pollMs = POLL_MS.first; ; pollMs = Math.min(pollMs * 2, POLL_MS.longest)) {
    const outcome = await attempt(runner, { request, work, hash });
    if (outcome === undefined) continue;
    if (outcome !== 'running') return outcome;
    if (performance.now() + pollMs >= deadlineMs) {
      throw new Refused(
        { code: 'conflict', message: 'the first request with this X-Idempotency-Key is still running' },
        { headers: { 'Retry-After': '5' } },
      );
    }
    await sleep(pollMs);
  }
}

/** Makes the runner. It renews the leases of the requests that it works on and deletes rows past their retention. */
export function createIdempotency(options: { db: Db; retentionMs: number; logger: Logger }): Idempotency {
  const { db, retentionMs, logger } = options;
  const leases = new Set<string>();
  const renewal = setInterval(() => {
    if (leases.size === 0) return;
    renewLeases(db, [...leases]).catch((error) => logger.warn({ err: error }, 'leases could not be renewed'));
  }, RENEW_EVERY_MS).unref();
  const sweep = setInterval(() => {
    Promise.all([
      sweepRequests(db, retentionMs),
      sweepBuckets(db),
      sweepChallenges(db),
      sweepSessions(db),
    ]).catch((error) => logger.warn({ err: error }, 'expired rows could not be deleted'));
  }, SWEEP_EVERY_MS).unref();
  const find = createBatcher((keys) => findRequests(db, keys, retentionMs), afterRunOrSlow);
  const runner: Runner = { db, retentionMs, logger, find, leases };
  return {
    run: (request, work, deadlineMs) => run(runner, request, work, deadlineMs),
    stop() {
      clearInterval(renewal);
      clearInterval(sweep);
    },
  };
}
