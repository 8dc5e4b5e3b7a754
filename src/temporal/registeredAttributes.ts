import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, isGrpcServiceError } from '@temporalio/client';
import { SearchAttributeType } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import type { Logger } from '../logging';
import { INVALID_ARGUMENT, PERMISSION_DENIED, UNIMPLEMENTED } from './grpcStatus';
import { type SearchAttribute, searchAttributes } from './searchAttributes';

const { IndexedValueType } = temporal.api.enums.v1;
const INDEXED_TYPES = {
  [SearchAttributeType.KEYWORD]: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  [SearchAttributeType.KEYWORD_LIST]: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
  [SearchAttributeType.DATETIME]: IndexedValueType.INDEXED_VALUE_TYPE_DATETIME,
};

const DEADLINE_MS = 5_000;
const RETRY_MS = 2_000;

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

/** Registers the search attributes as soon as Temporal is available; workflows need them to run. */
export async function ensureSearchAttributes(
  connection: Connection,
  namespace: string,
  logger: Logger,
  stopped: () => boolean,
): Promise<void> {
  for (let warned = false; !stopped(); warned = true) {
    try {
      await connection.withDeadline(Date.now() + DEADLINE_MS, () =>
        registerSearchAttributes(connection, namespace),
      );
      return;
    } catch (error) {
      if (!warned) logger.warn({ err: error }, 'search attributes cannot be registered yet; retrying');
      await sleep(RETRY_MS);
    }
  }
}
