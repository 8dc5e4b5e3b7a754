import { execFile } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { projectRoot } from '../../../src/projectRoot';
import { temporaryDir } from '../stack';

/** A copy of the rescue page as it is built: it must stay where it is built again meanwhile. */
export function copyOfRescuePage(): string {
  const file = join(temporaryDir(), 'rescue.html');
  cpSync(join(projectRoot(), 'dist', 'rescue.html'), file);
  return file;
}

/** Builds the rescue page once more; returns its path. */
export async function buildRescuePage(): Promise<string> {
  const file = join(temporaryDir(), 'rescue.html');
  const builder = join(projectRoot(), 'tools', 'dev', 'buildRescue.mjs');
  await promisify(execFile)(process.execPath, [builder, file], { cwd: projectRoot() });
  return file;
}

/** The address of a file in a browser. */
export const addressOfFile = (file: string): string => pathToFileURL(file).href;
