// Compiles docs/examples and runs one of its programs beside a running `npm start`: node example.mjs <name> [arguments]
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { bootstrap, projectDir } from './bootstrap.mjs';

const [name = '', ...args] = process.argv.slice(2);
const fail = (message) => {
  console.error(message);
  process.exit(1);
};
const demoFile = join(process.env.ORGWALLET_DATA_DIR ?? join(projectDir, '.data'), 'demo.json');

if (!/^[a-z-]+$/.test(name) || !existsSync(join(projectDir, 'docs', 'examples', `${name}.mts`))) {
  fail(`no example "${name}" (expected the name of a .mts file in docs/examples)`);
}
if (!existsSync(demoFile)) fail(`${demoFile} not found: wait until npm start is ready`);
await bootstrap().catch((error) => fail(error.message));

const require = createRequire(join(projectDir, 'package.json'));
const compiler = join(dirname(require.resolve('@typescript/native/package.json')), 'bin', 'tsc');
const compiled = spawnSync(process.execPath, [compiler, '-p', join(projectDir, 'docs', 'examples')], {
  stdio: 'inherit',
});
if (compiled.status !== 0) process.exit(1);

const { caFile } = JSON.parse(readFileSync(demoFile, 'utf8'));
const program = join(projectDir, 'dist', 'examples', `${name}.mjs`);
const child = spawn(process.execPath, ['--enable-source-maps', program, ...args], {
  env: { ...process.env, NODE_EXTRA_CA_CERTS: caFile },
  stdio: 'inherit',
});
child.once('exit', (code) => process.exit(code ?? 1));
