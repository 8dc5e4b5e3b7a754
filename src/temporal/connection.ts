import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Connection,
  isGrpcServiceError,
  isRetryableError,
  makeGrpcRetryInterceptor,
  type TLSConfig,
} from '@temporalio/client';
import { SearchAttributeType } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import type { Config } from '../config';
import { INVALID_ARGUMENT, PERMISSION_DENIED, UNIMPLEMENTED } from './grpcStatus';
import { type SearchAttribute, searchAttributes } from './searchAttributes';

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

const { IndexedValueType } = temporal.api.enums.v1;
const INDEXED_TYPES = {
  [SearchAttributeType.KEYWORD]: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  [SearchAttributeType.KEYWORD_LIST]: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
  [SearchAttributeType.DATETIME]: IndexedValueType.INDEXED_VALUE_TYPE_DATETIME,
};

const hasStatus = (error: unknown, ...codes: readonly number[]) =>
  isGrpcServiceError(error) && codes.includes(error.code);

/** The search attributes that a namespace lacks: it cannot count workflows by them. */
export async function missingSearchAttributes(
  { workflowService }: Pick<Connection, 'workflowService'>,
  namespace: string,
): Promise<SearchAttribute[]> {
  const found = Object.values(searchAttributes).map(async (key) => {
    try {
      // Whether there are any does not matter: it must be quick in a namespace of millions.
      const query = `WorkflowId = 'none' AND ${key.name} IS NOT NULL`;
      await workflowService.countWorkflowExecutions({ namespace, query });
      return [];
    } catch (error) {
      // The query names an attribute that does not exist.
      if (hasStatus(error, INVALID_ARGUMENT)) return [key];
      throw error;
    }
  });
  return (await Promise.all(found)).flat();
}

/** Search attributes as an operator creates them: their names and types. */
export function searchAttributesText(keys: readonly SearchAttribute[]): string {
  return keys.map(({ name, type }) => `${name} (${type})`).join(', ');
}

/** The namespace lacks search attributes, and this service may not add them, as on Temporal Cloud. */
export class SearchAttributesMissing extends Error {
  override readonly name = 'SearchAttributesMissing';
  constructor(namespace: string, keys: readonly SearchAttribute[]) {
    super(`create the search attributes of namespace ${namespace}: ${searchAttributesText(keys)}`);
  }
}

/**
 * Adds the search attributes that a namespace lacks. Throws SearchAttributesMissing where Temporal does not let it: then
 * an operator creates them.
 */
export async function registerSearchAttributes(
  connection: Pick<Connection, 'workflowService' | 'operatorService'>,
  namespace: string,
): Promise<void> {
  const missing = await missingSearchAttributes(connection, namespace);
  if (missing.length === 0) return;
  const types = Object.fromEntries(missing.map((key) => [key.name, INDEXED_TYPES[key.type]]));
  try {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: types });
  } catch (error) {
    // The server does not have this call, or not for this caller.
    if (hasStatus(error, UNIMPLEMENTED, PERMISSION_DENIED)) {
      throw new SearchAttributesMissing(namespace, missing);
    }
    throw error;
  }
}
