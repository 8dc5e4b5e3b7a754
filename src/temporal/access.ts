import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, isGrpcServiceError } from '@temporalio/client';
import { chainEnd } from '../certificates';
import type { Config } from '../config';
import { NOT_FOUND, PERMISSION_DENIED, UNAUTHENTICATED } from './grpcStatus';

type TemporalConfig = Pick<Config['temporal'], 'address' | 'namespace' | 'apiKey' | 'tls'>;

const DEADLINE_MS = 1_500;
/** How often Temporal is asked, and how often once it has refused. */
const LOOK_MS = { accepted: 5_000, refused: 1_000 };
/** A server that starts may refuse what it accepts a moment later. */
const REFUSED_LIMIT_MS = 5_000;

/** Temporal refuses the credential of this process: it can do nothing until it is started with another one. */
class CredentialRefused extends Error {
  override readonly name = 'CredentialRefused';
}

/** Whether this process may use its namespace of Temporal. */
export interface TemporalAccess {
  /** Throws CredentialRefused; Error where Temporal does not answer, or has no such namespace. */
  assert(): Promise<void>;
}

/** The end of the certificate that this process presents to Temporal; undefined without one. */
function expiryOf({ tls }: TemporalConfig): Date | undefined {
  if (!tls?.certFile) return undefined;
  return chainEnd(readFileSync(tls.certFile, 'utf8'));
}

/** Creates the check of one connection, which may take `deadlineMs`. Throws where the certificate cannot be read. */
export function createTemporalAccess(
  connection: Pick<Connection, 'withDeadline' | 'workflowService'>,
  temporal: TemporalConfig,
  deadlineMs = DEADLINE_MS,
): TemporalAccess {
  const { address, namespace, apiKey, tls } = temporal;
  // What is presented was read at the start: a file that is replaced changes nothing until the next one.
  const expiry = expiryOf(temporal);
  const certificate = `the certificate of TEMPORAL_TLS_CERT_FILE (${tls?.certFile})`;
  const credential = apiKey
    ? 'TEMPORAL_API_KEY'
    : tls?.certFile
      ? certificate
      : 'a client without a credential';

  function explained(error: unknown): Error {
    if (!isGrpcServiceError(error)) return error as Error;
    const { code, details } = error;
    if (code === NOT_FOUND) {
      return new Error(
        `Temporal at ${address} has no namespace "${namespace}": create it, or correct TEMPORAL_NAMESPACE`,
        { cause: error },
      );
    }
    if (code === UNAUTHENTICATED || code === PERMISSION_DENIED) {
      return new CredentialRefused(`Temporal at ${address} refuses ${credential}: ${details}`, {
        cause: error,
      });
    }
    // A refused handshake looks like a server that does not answer.
    if (expiry && expiry.getTime() < Date.now()) {
      return new CredentialRefused(`${certificate} expired at ${expiry.toISOString()}`, { cause: error });
    }
    return new Error(`no answer from Temporal at ${address}: ${details}`, { cause: error });
  }

  return {
    async assert() {
      try {
        await connection.withDeadline(Date.now() + deadlineMs, () =>
          connection.workflowService.describeNamespace({ namespace }),
        );
      } catch (error) {
        throw explained(error);
      }
    },
  };
}

/**
 * Watches whether Temporal refuses the credential of this process, such as one that has expired, and calls `fail` when it
 * has for 5 s. Returns the function that stops it.
 */
export function watchCredential(access: TemporalAccess, fail: (error: Error) => void): () => Promise<void> {
  const stopped = new AbortController();
  const { signal } = stopped;

  async function watch(): Promise<void> {
    let refusedAt: number | undefined;
    while (!signal.aborted) {
      const error = await access.assert().catch((thrown: Error) => thrown);
      refusedAt = error instanceof CredentialRefused ? (refusedAt ?? performance.now()) : undefined;
      if (error && refusedAt !== undefined && performance.now() - refusedAt >= REFUSED_LIMIT_MS) {
        return fail(error);
      }
      const pauseMs = refusedAt === undefined ? LOOK_MS.accepted : LOOK_MS.refused;
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  const watching = watch();
  return async () => {
    stopped.abort();
    await watching;
  };
}
