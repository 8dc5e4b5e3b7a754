// Makes client/src/openapi.ts, the types of the contract, from openapi.json: only where they are of another one.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);
const CONTRACT = new URL('../../openapi.json', import.meta.url);
const TYPES = new URL('../../client/src/openapi.ts', import.meta.url);

/** Writes the types. Their first line says what they were made from. */
export async function writeClientTypes() {
  const { version } = require('openapi-typescript/package.json');
  const hash = createHash('sha256').update(version).update(readFileSync(CONTRACT)).digest('hex');
  const head = `// Made from openapi.json by tools/dev/clientTypes.mjs: ${hash}\n`;
  if (existsSync(TYPES) && readFileSync(TYPES, 'utf8').startsWith(head)) return;
  const { default: openapiTS, astToString } = await import('openapi-typescript');
  // What has a default may be absent from a request.
  const types = astToString(await openapiTS(CONTRACT, { defaultNonNullable: false }));
  const written = `${fileURLToPath(TYPES)}.${process.pid}`;
  writeFileSync(written, head + types);
  renameSync(written, TYPES);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await writeClientTypes();
