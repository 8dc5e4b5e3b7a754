// The hash of a build of the page.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

const BUILD = /(<meta name="orgwallet-build" content=")[0-9a-f]*(")/;
const UNPACK = { '.gz': gunzipSync, '.br': brotliDecompressSync };

/** Writes the hash into index.html, or takes it out. */
export const withHash = (html, hash) => html.replace(BUILD, `$1${hash}$2`);

const sha256 = (content) => createHash('sha256').update(content).digest('hex');

/**
 * SHA-256 of a build: of `<path> <SHA-256 of the file>` in a line for each file, by path. The place of the hash itself in
 * index.html counts as empty. Compressed files must be what they are beside; throws for one that is not.
 */
export function hashOfBuild(dir) {
  const lines = [];
  const files = readdirSync(dir, { recursive: true }).filter((file) => statSync(join(dir, file)).isFile());
  for (const file of files) {
    const [packed] = /\.(gz|br)$/.exec(file) ?? [];
    const content = readFileSync(join(dir, file));
    if (packed) {
      const plain = readFileSync(join(dir, file.slice(0, -packed.length)));
      if (!UNPACK[packed](content).equals(plain))
        throw new Error(`${file} is not the file beside it, compressed`);
    } else if (!file.startsWith('.')) {
      const counted = file === 'index.html' ? withHash(content.toString(), '') : content;
      lines.push(`${file.split(sep).join('/')} ${sha256(counted)}\n`);
    }
  }
  return sha256(lines.sort().join(''));
}
