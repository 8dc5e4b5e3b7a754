import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../src/projectRoot';
import { goProgram } from '../support/goProgram';

const run = promisify(execFile);

/** Without the packages that find targets, which rules do not need. */
const PROMTOOL = {
  path: 'github.com/prometheus/prometheus/cmd/promtool',
  version: 'v0.316.0',
  tags: 'remove_all_sd',
};

let promtool: string;

beforeAll(async () => {
  promtool = await goProgram(PROMTOOL);
}, 900_000);

test('Prometheus takes the rules, and each alert fires when it should and not before', async () => {
  const cwd = join(projectRoot(), 'ops');
  const checked = await run(promtool, ['check', 'rules', '--lint=all', '--lint-fatal', 'alerts.yml'], {
    cwd,
  });
  expect(checked.stdout).toContain('SUCCESS');
  const tested = await run(promtool, ['test', 'rules', 'alerts.test.yml'], { cwd });
  expect(tested.stdout).toContain('SUCCESS');
});
