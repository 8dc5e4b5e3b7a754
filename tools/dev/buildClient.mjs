// Builds the code of client/ into a folder: a module for each entry of its package.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const ENTRIES = ['index', 'rescue'];
const client = fileURLToPath(new URL('../../client', import.meta.url));

/**
 * Builds `index.js`, `rescue.js` and their source maps into `outDir`, and what both need as a file of its own. The types are
 * written by the compiler. It is readable, because those who install it read what signs for them; `minify` is for measuring the
 * size of one of its `entries`.
 */
export async function buildClient(outDir, { minify = false, entries = ENTRIES } = {}) {
  await build({
    root: client,
    configFile: false,
    logLevel: 'error',
    build: {
      outDir,
      emptyOutDir: false,
      target: 'es2022',
      sourcemap: true,
      lib: {
        entry: Object.fromEntries(entries.map((name) => [name, join(client, 'src', `${name}.ts`)])),
        formats: ['es'],
      },
      rolldownOptions: {
        external: ['viem'],
        output: { minify, entryFileNames: '[name].js', chunkFileNames: 'shared.js' },
      },
      reportCompressedSize: false,
    },
  });
}
