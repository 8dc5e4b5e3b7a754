// Builds the code of client/ into a folder: one module, since those who install it get it whole.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const client = fileURLToPath(new URL('../../client', import.meta.url));

/** Builds `index.js` and its source map into `outDir`. Its types are written by the compiler. */
export async function buildClient(outDir) {
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
      rolldownOptions: { external: ['viem'], output: { minify: true } },
      reportCompressedSize: false,
    },
  });
}
