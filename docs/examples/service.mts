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

/** One request. After a 500, a 429 or no response it is sent again with the same idempotency key: it takes effect once. */
export async function ask<T>(path: string, body?: unknown): Promise<T> {
  const init: RequestInit = {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      Authorization: `Bearer ${demo.apiKeys[0]?.key}`,
      ...(body === undefined
        ? {}
        : { 'Content-Type': 'application/json', 'X-Idempotency-Key': randomUUID() }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(new URL(path, origin), init).catch((error: Error) => error);
    const answer = response instanceof Response ? await response.json() : undefined;
    if (response instanceof Response && response.ok) return answer.data;
    const again = !(response instanceof Response) || response.status === 500 || response.status === 429;
    if (!again || attempt === 5) throw new Error(answer ? JSON.stringify(answer.error) : String(response));
    await new Promise((resolve) => setTimeout(resolve, 1_000 * attempt));
  }
}
