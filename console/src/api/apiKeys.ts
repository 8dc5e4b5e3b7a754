import type { Schema } from '@orgwallet/client';
import { queryOptions } from '@tanstack/react-query';
import { ask } from './sessions.ts';

/** An API key, without its secret. */
export type ApiKey = Schema['ApiKey'];

export const apiKeysQuery = queryOptions({
  queryKey: ['apiKeys'],
  queryFn: () => ask<ApiKey[]>('GET', '/api-keys'),
});

export const apiKeys = {
  create: (body: Schema['NewApiKeyRequest']) => ask<Schema['IssuedApiKey']>('POST', '/api-keys', body),
  revoke: (id: string) => ask<ApiKey>('DELETE', `/api-keys/${encodeURIComponent(id)}`),
};
