// Builds the code of client/ into a folder, as one module.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const client = fileURLToPath(new URL('../../client', import.meta.url));

/**
 * Builds `index.js` and its source map into `outDir`. Its types are written by the compiler. It is readable, because those who
 * install it read what signs for them; `minify` is for measuring its size.
 */
export async function buildClient(outDir, { minify = false } = {}) {
  await build({
    root: client,
    configFile: false,
    logLevel: 'error',
    build: {
      outDir,
      emptyOutDir: false,
      target: 'es2022',
      sourcemap: true,
      lib: { entry: join(client, 'src', 'index.ts'), formats: ['es'], fileName: 'index' },
      rolldownOptions: { external: ['viem'], output: { minify } },
      reportCompressedSize: false,
    },
  });
}
