import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Db } from '../db/database';
import {
  answerRequest,
  findRequest,
  forgetRequest,
  insertRequest,
  releaseRequest,
  renewLeases,
  type StoredAnswer,
  type StoredRequest,
  sweepRequests,
  takeOverRequest,
} from '../db/idempotency';
import { sweepBuckets } from '../db/rateLimits';
import { sweepChallenges } from '../db/registrations';
import { canonicalJson, type JsonValue } from '../domain/canonicalJson';
import { faultPoint } from '../faults';
import { errorBodyOf, Refused } from './refusals';

const RENEW_EVERY_MS = 2_000;
const SWEEP_EVERY_MS = 60_000;
const POLL_MS = { first: 20, longest: 250 };

/** A mutation request, as far as idempotency looks at it. */
export interface MutationRequest {
  readonly organizationId: string;
  readonly apiKeyId: string;
  /** X-Idempotency-Key, lower case. */
  readonly key: string;
  readonly method: string;
  readonly path: string;
  /** The body as it was sent: what a repeat is compared with. */
  readonly sentBody: JsonValue;
  /** The body as the schema read it: what is carried out. */
  readonly body: JsonValue;
}

/** The work of a mutation, in its two halves. */
export interface MutationWork {
  /** May this key do it? Throws Refused. */
  readonly authorize: () => Promise<void>;
  /** Checks that need only reading, for a new request; returns the id of what it makes or changes. Throws Refused. */
  readonly prepare: () => Promise<{ resourceId: string }>;
  /** Does it, once however often it is called with the same id, and makes the answer. Throws Refused. */
  readonly send: (request: { id: string; resourceId: string }) => Promise<StoredAnswer>;
}

/** An answer, and whether it is an old one. */
export interface Answered extends StoredAnswer {
  readonly replayed: boolean;
}

/** Runs mutations so that one idempotency key has one side effect and one answer, whatever crashes. */
export interface Idempotency {
  run(request: MutationRequest, work: MutationWork, deadlineMs: number): Promise<Answered>;
  stop(): void;
}

function hashOf({ method, path, sentBody }: MutationRequest): Buffer {
  return createHash('sha256')
    .update(canonicalJson([method, path, sentBody]))
    .digest();
}

/** Answers that a repeat gets again. Everything else leaves the key free. */
function isStored(status: number): boolean {
  return (status >= 200 && status < 300) || status === 404 || status === 409 || status === 422;
}

function refusalAnswer(refused: Refused): StoredAnswer {
  return { status: refused.status, body: JSON.stringify(errorBodyOf(refused)), location: null };
}

/** Makes the runner. It renews the leases of the requests that it works on and sweeps what is past its retention. */
export function createIdempotency(options: { db: Db; retentionMs: number; logger: Logger }): Idempotency {
  const { db, retentionMs, logger } = options;
  const leases = new Set<string>();
  const renewal = setInterval(() => {
    if (leases.size === 0) return;
    renewLeases(db, [...leases]).catch((error) => logger.warn({ err: error }, 'leases could not be renewed'));
  }, RENEW_EVERY_MS).unref();
  const sweep = setInterval(() => {
    Promise.all([sweepRequests(db, retentionMs), sweepBuckets(db), sweepChallenges(db)]).catch((error) =>
      logger.warn({ err: error }, 'what is past its time could not be swept'),
    );
  }, SWEEP_EVERY_MS).unref();

  /** Sends a request that this process holds the lease of, and stores what comes of it. */
  async function carryOut(
    request: { id: string; resourceId: string; leaseOwner: string },
    send: MutationWork['send'],
  ): Promise<StoredAnswer> {
    leases.add(request.leaseOwner);
    try {
      let answer: StoredAnswer;
      try {
        answer = await send(request);
        faultPoint('api.workflowAnswered');
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
        answer = refusalAnswer(error);
      }
      const stored = await answerRequest(db, request.id, answer);
      faultPoint('api.answerStored');
      return stored;
    } finally {
      leases.delete(request.leaseOwner);
    }
  }

  /** Starts a request that nobody has sent yet. Undefined when another with the same key was faster. */
  async function begin(
    request: MutationRequest,
    requestHash: Buffer,
    work: MutationWork,
  ): Promise<StoredAnswer | undefined> {
    await work.authorize();
    const leaseOwner = randomUUID();
    const { organizationId, key, apiKeyId, method, path, body } = request;
    const row = { organizationId, key, apiKeyId, method, path, requestHash, body, leaseOwner, retentionMs };
    let resourceId: string;
    try {
      ({ resourceId } = await work.prepare());
    } catch (error) {
      if (!(error instanceof Refused) || !isStored(error.status)) throw error;
      const answer = refusalAnswer(error);
      const id = await insertRequest(db, { ...row, resourceId: '', answer });
      return id === undefined ? undefined : answer;
    }
    faultPoint('api.requestChecked');
    const id = await insertRequest(db, { ...row, resourceId });
    faultPoint('api.requestStored');
    return id === undefined ? undefined : carryOut({ id, resourceId, leaseOwner }, work.send);
  }

  async function resume(
    known: StoredRequest,
    request: MutationRequest,
    work: MutationWork,
  ): Promise<StoredAnswer | undefined> {
    // Its own effect may have changed what its key may do, so only another key is looked at again.
    if (known.apiKeyId !== request.apiKeyId) await work.authorize();
    const leaseOwner = randomUUID();
    if (!(await takeOverRequest(db, { id: known.id, leaseOwner }))) return undefined;
    logger.info({ idempotencyRequestId: known.id, resourceId: known.resourceId }, 'request taken over');
    return carryOut({ id: known.id, resourceId: known.resourceId, leaseOwner }, work.send);
  }

  return {
    async run(request, work, deadlineMs) {
      const requestHash = hashOf(request);
      for (let pollMs = POLL_MS.first; ; pollMs = Math.min(pollMs * 2, POLL_MS.longest)) {
        const { organizationId, key } = request;
        const known = await findRequest(db, { organizationId, key, retentionMs });
        if (!known) {
          const answer = await begin(request, requestHash, work);
          if (answer) return { ...answer, replayed: false };
          continue;
        }
        if (!known.requestHash.equals(requestHash)) {
          throw new Refused({
            code: 'idempotencyConflict',
            message: 'this X-Idempotency-Key was used with another request',
            field: 'X-Idempotency-Key',
          });
        }
        if (known.answer) return { ...known.answer, replayed: true };
        if (!known.leased) {
          const answer = await resume(known, request, work);
          if (answer) return { ...answer, replayed: false };
          continue;
        }
        if (Date.now() + pollMs >= deadlineMs) {
          throw new Refused(
            { code: 'conflict', message: 'the first request with this X-Idempotency-Key is still running' },
            { headers: { 'Retry-After': '5' } },
          );
        }
        await sleep(pollMs);
      }
    },
    stop() {
      clearInterval(renewal);
      clearInterval(sweep);
    },
  };
}
