// Where the modules of the console are, for its build and for `npm run dev`.
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const project = fileURLToPath(new URL('../..', import.meta.url));
/** What the console has of its own in place of modules that need Node, or WebAssembly, which its policy forbids. */
const REPLACED = new Map([
  [
    join(project, 'src', 'chain', 'address'),
    join(project, 'console', 'src', 'contract', 'portableAddress.ts'),
  ],
  [join(project, 'src', 'chain', 'keccak'), join(project, 'console', 'src', 'contract', 'portableKeccak.ts')],
]);

/** The client's sources, not its build. The longer name is found first. */
export const clientAlias = {
  '@orgwallet/client/rescue': join(project, 'client', 'src', 'rescue.ts'),
  '@orgwallet/client': join(project, 'client', 'src', 'index.ts'),
};

/** Lets the contract's schemas run in a browser. */
export const portableModules = {
  name: 'portable-modules',
  enforce: 'pre',
  resolveId(source, importer) {
    return source.startsWith('.') && importer ? REPLACED.get(resolve(dirname(importer), source)) : undefined;
  },
};
