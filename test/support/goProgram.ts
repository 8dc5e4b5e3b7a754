import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDir } from '../../tools/dev/temporalBinary';

const run = promisify(execFile);

/** A command of a Go module. */
export interface GoProgram {
  /** Import path of the command. */
  readonly path: string;
  readonly version: string;
  readonly tags?: string;
}

/** Builds a command once per user, and returns its file. Throws when there is no Go. */
export async function goProgram({ path, version, tags = '' }: GoProgram): Promise<string> {
  const name = path.split('/').at(-1) ?? '';
  const cache = cacheDir(process.env);
  const kept = join(cache, `${name}-${version}-${process.platform}-${process.arch}`);
  if (existsSync(kept)) return kept;
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(`${kept}.new-`);
  try {
    await run('go', ['install', '-tags', tags, `${path}@${version}`], {
      cwd: folder,
      env: { ...process.env, GOBIN: folder, GOOS: '', GOARCH: '' },
    });
    renameSync(join(folder, name), kept);
    return kept;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
