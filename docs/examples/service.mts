// The demo organization of `npm start`, and a client of its service.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Hex } from 'viem';

interface Demo {
  baseUrl: string;
  apiKeys: { key: string }[];
  admins: { threshold: number; members: { name: string; privateKey: Hex }[] };
  members: { name: string; privateKey: Hex }[];
  networks: { id: number }[];
}

const dataDir = process.env.ORGWALLET_DATA_DIR ?? '.data';
export const demo: Demo = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'));
const { origin } = new URL(demo.baseUrl);

const authorization = { Authorization: `Bearer ${demo.apiKeys[0]?.key}` };

function post(body: unknown): RequestInit {
  return {
    method: 'POST',
    headers: { ...authorization, 'Content-Type': 'application/json', 'X-Idempotency-Key': randomUUID() },
    body: JSON.stringify(body),
  };
}

function isWorthRetrying({ status }: Response): boolean {
  return status === 500 || status === 429;
}

/** One request. After a 500, a 429 or no response it is sent again with the same idempotency key: it takes effect once. */
export async function ask<T>(path: string, body?: unknown): Promise<T> {
  const init = body === undefined ? { headers: authorization } : post(body);
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(new URL(path, origin), init).catch((error: Error) => error);
    if (response instanceof Response) {
      const answer = await response.json();
      if (response.ok) return answer.data;
      if (attempt === 5 || !isWorthRetrying(response)) throw new Error(JSON.stringify(answer.error));
    } else if (attempt === 5) throw new Error(String(response));
    await new Promise((resolve) => setTimeout(resolve, 1_000 * attempt));
  }
}
