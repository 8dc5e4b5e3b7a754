import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of package.json, seen from the sources as well as from the build. */
export function projectRoot(): string {
  let dir = __dirname;
  while (!existsSync(join(dir, 'package.json')) && dirname(dir) !== dir) dir = dirname(dir);
  return dir;
}
