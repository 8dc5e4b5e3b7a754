// `npm run console:hash`: the hash of the page as it is built here. The same sources make the same hash on every machine.
import { join } from 'node:path';
import { bootstrap, projectDir } from './bootstrap.mjs';
import { hashOfBuild } from './buildHash.mjs';

await bootstrap((line) => console.error(line));
console.log(hashOfBuild(join(projectDir, 'console', 'dist')));
