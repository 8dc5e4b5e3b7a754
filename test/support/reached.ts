import { appendFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { operations, sessionOperations } from './document';
import { sharedStack } from './stack';

const FOLDER = 'reached';
/** So few that are missing are named. */
const FEW = 12;

const seen = new Set<string>();

/** Notes that an operation has answered with a status. */
export function noteReached(operationId: string, status: number): void {
  const pair = `${operationId} ${status}`;
  if (seen.has(pair) || !process.env.ORGWALLET_TEST_STACK) return;
  seen.add(pair);
  const folder = join(sharedStack().dir, FOLDER);
  mkdirSync(folder, { recursive: true });
  appendFileSync(join(folder, `${process.pid}.txt`), `${pair}\n`);
}

/** Every pair of operation and status that the OpenAPI document lists. */
function pairs(): string[] {
  return [...operations, ...sessionOperations].flatMap(({ id, responses }) =>
    Object.keys(responses).map((status) => `${id} ${status}`),
  );
}

/** One line on how many of them a run has reached; undefined for a run that asked nothing. */
export function reportReached(): string | undefined {
  const folder = join(sharedStack().dir, FOLDER);
  let files: string[];
  try {
    files = readdirSync(folder);
  } catch {
    return undefined;
  }
  const reached = new Set(files.flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n')));
  const all = pairs();
  const missing = all.filter((pair) => !reached.has(pair));
  const named = missing.length > 0 && missing.length <= FEW ? `; not ${missing.join(', ')}` : '';
  return `contract: ${all.length - missing.length} of ${all.length} (endpoint, status) pairs reached${named}`;
}
