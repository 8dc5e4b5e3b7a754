import { readFileSync } from 'node:fs';
import { Connection, isRetryableError, makeGrpcRetryInterceptor, type TLSConfig } from '@temporalio/client';
import { SearchAttributeType } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import type { Config } from '../config';
import { searchAttributes } from './searchAttributes';

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
export const LONGEST_RETRY_PAUSE_MS = 500;
const MAX_TRIES = 20;
/** Longest pause between attempts to reach an unavailable server; gRPC's default grows to two minutes. */
const MAX_RECONNECT_PAUSE_MS = 1_000;

/** Connects a client lazily, on the first call. */
export function connectTemporal(config: TemporalConfig): Connection {
  return Connection.lazy({
    ...connectionOptions(config),
    interceptors: [
      makeGrpcRetryInterceptor({
        // The SDK completes its pause even past the deadline of the call, and its default grows to 5 seconds.
        delayFunction: (attempt) =>
          Math.min(LONGEST_RETRY_PAUSE_MS, FIRST_RETRY_PAUSE_MS * 2 ** (attempt - 1)),
        retryableDecider: (attempt, status) => attempt < MAX_TRIES && isRetryableError(status),
      }),
    ],
    channelArgs: {
      'grpc.initial_reconnect_backoff_ms': MAX_RECONNECT_PAUSE_MS,
      'grpc.max_reconnect_backoff_ms': MAX_RECONNECT_PAUSE_MS,
    },
  });
}

const { IndexedValueType } = temporal.api.enums.v1;
const INDEXED_TYPES = {
  [SearchAttributeType.KEYWORD]: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  [SearchAttributeType.KEYWORD_LIST]: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
  [SearchAttributeType.DATETIME]: IndexedValueType.INDEXED_VALUE_TYPE_DATETIME,
};

/** Registers the search attributes that are missing on a namespace. Needs the operator service (not Temporal Cloud). */
export async function registerSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.values(searchAttributes).filter((key) => !(key.name in customAttributes));
  if (missing.length === 0) return;
  await connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(missing.map((key) => [key.name, INDEXED_TYPES[key.type]])),
  });
}
