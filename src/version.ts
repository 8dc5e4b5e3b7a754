import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './projectRoot';

/** What tells builds of the service apart. */
interface Version {
  /** Of package.json. */
  readonly version: string;
  /** The commit that was built, as the build has recorded it; `unknown` where it has not. */
  readonly revision: string;
}

function recordedRevision(): string {
  try {
    return readFileSync(join(projectRoot(), 'dist', 'revision'), 'utf8').trim();
  } catch {
    return 'unknown';
  }
}

/** The version of this build. */
export function readVersion(): Version {
  const { version } = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8'));
  return { version, revision: recordedRevision() };
}

/** The version and the revision in one text, as Semantic Versioning writes build metadata: `0.1.0+4e5302c763eb`. */
export function versionText({ version, revision }: Version = readVersion()): string {
  return `${version}+${revision}`;
}
