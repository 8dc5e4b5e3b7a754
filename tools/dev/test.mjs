// `npm test`: jest with its own real parts. The last line of standard output is `N passed, N failed`.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootstrap, projectDir } from './bootstrap.mjs';

/** A suite that could not run counts as one failed test, so that it cannot hide. */
function count(file) {
  try {
    const result = JSON.parse(readFileSync(file, 'utf8'));
    const suites = result.testResults ?? [];
    const brokenSuites = suites.filter(
      (suite) => suite.status === 'failed' && suite.assertionResults.length === 0,
    );
    return { passed: result.numPassedTests, failed: result.numFailedTests + brokenSuites.length };
  } catch {
    return { passed: 0, failed: 1 };
  }
}

/** The runs of jest of each part, by its projects. What measures a machine under load runs alone, one file at a time. */
const RUNS = {
  unit: [['--selectProjects', 'unit']],
  all: [['--selectProjects', 'unit', 'stack']],
  deep: [
    ['--selectProjects', 'deep'],
    ['--runInBand', '--selectProjects', 'load'],
  ],
};

let interrupted = false;

/** Runs jest; a run that fails without a failed test counts as one. */
async function runJest(options) {
  const folder = mkdtempSync(join(tmpdir(), 'orgwallet-result-'));
  const resultFile = join(folder, 'result.json');
  const jest = join(projectDir, 'node_modules', 'jest', 'bin', 'jest.js');
  const child = spawn(
    process.execPath,
    [jest, '--json', '--outputFile', resultFile, '--passWithNoTests', ...options],
    // Jest's report goes to standard error; what it repeats as JSON on standard output is not wanted.
    {
      cwd: projectDir,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, NODE_ENV: 'test' },
      // A group of its own: jest's workers do not end with jest.
      detached: true,
    },
  );
  const forward = (signal) => {
    interrupted = true;
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, signal);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, forward);
  const code = await new Promise((resolve) =>
    child.once('exit', (status, signal) => resolve(signal ? 1 : status)),
  );
  for (const signal of signals) process.off(signal, forward);
  const { passed, failed } = count(resultFile);
  rmSync(folder, { recursive: true, force: true });
  const unexplained = (code !== 0 || interrupted) && failed === 0 ? 1 : 0;
  return { passed, failed: failed + unexplained };
}

async function main() {
  await bootstrap();
  // `node test.mjs [unit | deep] [arguments of jest]`; everything but the long runs when no part is named. The projects
  // come last, because their option takes every word that follows it.
  const [part, ...rest] = process.argv.slice(2);
  const isPart = part === 'unit' || part === 'deep';
  const asked = isPart ? rest : process.argv.slice(2);
  let passed = 0;
  let failed = 0;
  for (const projects of RUNS[isPart ? part : 'all']) {
    if (interrupted) break;
    const run = await runJest([...asked, ...projects]);
    passed += run.passed;
    failed += run.failed;
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed > 0 ? 1 : 0);
}

main().catch((error) => {
  console.error(error.message);
  console.log('0 passed, 1 failed');
  process.exit(1);
});
