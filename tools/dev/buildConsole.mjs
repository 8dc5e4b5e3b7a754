// Builds the page of console/ into a folder: hashed files, compressed ones beside them, and the hash of it all in its
// index.html, where the page reads it.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { hashOfBuild, withHash } from './buildHash.mjs';
import { clientAlias, portableModules } from './consoleModules.mjs';

const project = fileURLToPath(new URL('../..', import.meta.url));
const COMPRESSED = /\.(js|css|html|svg)$/;

function compress(dir) {
  for (const entry of readdirSync(dir, { recursive: true })) {
    if (!COMPRESSED.test(entry)) continue;
    const file = join(dir, entry);
    const content = readFileSync(file);
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
    writeFileSync(`${file}.br`, brotliCompressSync(content, { params }));
  }
}

/**
 * Builds into `outDir`, which is made. Its last file, `.built-from`, says that it is finished, and of which sources it is.
 */
export async function buildConsole(outDir, builtFrom = '') {
  if (existsSync(outDir)) rmSync(outDir, { recursive: true });
  mkdirSync(outDir, { recursive: true });
  // Whatever builds it, also a test: packages read it, and React is another one where it is not set.
  process.env.NODE_ENV = 'production';
  await build({
    root: join(project, 'console'),
    configFile: false,
    mode: 'production',
    // Packages whose files say where they run: a build for browsers leaves that out.
    logLevel: 'error',
    plugins: [portableModules],
    resolve: { alias: clientAlias },
    build: {
      outDir,
      // Browsers that have light-dark().
      target: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
      // The page's Content-Security-Policy permits files of its own, and nothing inline.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
  });
  const index = join(outDir, 'index.html');
  writeFileSync(index, withHash(readFileSync(index, 'utf8'), hashOfBuild(outDir)));
  compress(outDir);
  writeFileSync(join(outDir, '.built-from'), builtFrom);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await buildConsole(process.argv[2]);
