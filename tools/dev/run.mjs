// Runs a built program of this project and builds it first if needed: node run.mjs dist/... [arguments]
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { bootstrap, projectDir } from './bootstrap.mjs';

const [program, ...args] = process.argv.slice(2);
try {
  await bootstrap(undefined, { withBench: program.startsWith('dist/test/') });
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
const child = spawn(process.execPath, ['--enable-source-maps', join(projectDir, program), ...args], {
  cwd: projectDir,
  stdio: 'inherit',
});
// A terminal sends its signals to the child as well; anything else is passed on.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.once('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
