import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, isRetryableError, makeGrpcRetryInterceptor, type TLSConfig } from '@temporalio/client';
import type { Config } from '../config';

type TemporalConfig = Config['temporal'];

/** The TLS and API key part of a connection, the same for client and worker. */
export function connectionOptions(config: TemporalConfig): {
  address: string;
  tls?: TLSConfig | true;
  apiKey?: string;
} {
  const { tls, apiKey } = config;
  const certificate =
    tls?.certFile && tls.keyFile
      ? { clientCertPair: { crt: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) } }
      : {};
  return {
    address: config.address,
    ...(tls
      ? {
          tls: {
            ...certificate,
            ...(tls.caFile ? { serverRootCACertificate: readFileSync(tls.caFile) } : {}),
            ...(tls.serverName ? { serverNameOverride: tls.serverName } : {}),
          },
        }
      : apiKey
        ? { tls: true as const }
        : {}),
    ...(apiKey ? { apiKey } : {}),
  };
}

const FIRST_RETRY_PAUSE_MS = 100;

/** No call to Temporal waits longer than this before it is tried again. */
const LONGEST_RETRY_PAUSE_MS = 500;
const MAX_TRIES = 20;

/** Longest pause between attempts to reach an unavailable server; gRPC's default grows to two minutes. */
const MAX_RECONNECT_PAUSE_MS = 1_000;

/** Connects a client lazily, on the first call. `connectTimeoutMs`: how long that may take; by default that of the SDK. */
export function connectTemporal(
  config: TemporalConfig,
  { connectTimeoutMs }: { readonly connectTimeoutMs?: number | undefined } = {},
): Connection {
  let closing = false;
  const connection = Connection.lazy({
    ...connectionOptions(config),
    ...(connectTimeoutMs === undefined ? {} : { connectTimeout: connectTimeoutMs }),
    interceptors: [
      makeGrpcRetryInterceptor({
        // The SDK completes its pause even past the deadline of the call, and its default grows to 5 seconds.
        delayFunction: (attempt) =>
          Math.min(LONGEST_RETRY_PAUSE_MS, FIRST_RETRY_PAUSE_MS * 2 ** (attempt - 1)),
        retryableDecider: (attempt, status) => !closing && attempt < MAX_TRIES && isRetryableError(status),
      }),
    ],
    channelArgs: {
      'grpc.initial_reconnect_backoff_ms': MAX_RECONNECT_PAUSE_MS,
      'grpc.max_reconnect_backoff_ms': MAX_RECONNECT_PAUSE_MS,
    },
  });
  closings.set(connection, () => {
    closing = true;
  });
  return connection;
}

/** What has the calls of a connection tried no more. */
const closings = new WeakMap<Connection, () => void>();

/** Closes a connection. A call that waits for its next attempt would resume on a closed channel: those that wait are awaited. */
export async function closeTemporal(connection: Connection): Promise<void> {
  closings.get(connection)?.();
  await sleep(LONGEST_RETRY_PAUSE_MS + 50);
  await connection.close();
}
