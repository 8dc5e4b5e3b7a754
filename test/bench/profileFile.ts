import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { projectRoot } from '../../src/projectRoot';

/** What V8's profiler writes, as far as it is read here. Source: the Chrome DevTools protocol, Profiler.Profile. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

const LOOK_MS = 100;

/** Takes the file that a process is about to write. */
async function takeFile(file: string, lookMs: number): Promise<string> {
  while (!existsSync(file)) await sleep(lookMs);
  const taken = `${file}.taken`;
  renameSync(file, taken);
  return readFileSync(taken, 'utf8');
}

/** Takes the profile that a process is about to write. */
export async function readProfile(folder: string, pid: number): Promise<CpuProfile> {
  return JSON.parse(await takeFile(join(folder, `${pid}.cpuprofile`), LOOK_MS));
}

/** Asks a process with `blockingProbe` for how long it was blocked at most since it was asked last, in milliseconds. */
export async function takeBlocked(folder: string, pid: number): Promise<number> {
  process.kill(pid, 'SIGUSR2');
  return Number(await takeFile(join(folder, `${pid}.blocked`), 5));
}

function nameOf({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string {
  const name = functionName || '(anonymous)';
  if (!url) return name;
  const file = url.startsWith('file:') ? relative(projectRoot(), fileURLToPath(url)) : url;
  return `${name} ${file}:${lineNumber + 1}`;
}

/** The functions that took most of a profile by themselves. Waiting is none. */
export function costliest(
  { nodes, samples, timeDeltas }: CpuProfile,
  count: number,
): { readonly name: string; readonly microseconds: number }[] {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const by = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const name = names.get(id) ?? '';
    by.set(name, (by.get(name) ?? 0) + (timeDeltas[index] ?? 0));
  }
  return [...by]
    .filter(([name]) => name !== '(idle)')
    .map(([name, microseconds]) => ({ name, microseconds }))
    .sort((one, two) => two.microseconds - one.microseconds)
    .slice(0, count);
}
