import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { projectRoot } from '../../../src/projectRoot';

const DIST = join(projectRoot(), 'console', 'dist');

it('loads at most 220 kB of JavaScript at first, gzipped', () => {
  const scripts = readFileSync(join(DIST, 'index.html'), 'utf8').match(/assets\/[^"]+\.js/g) ?? [];
  expect(scripts.length).toBeGreaterThan(0);
  const bytes = [...new Set(scripts)].map((file) => gzipSync(readFileSync(join(DIST, file))).length);
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(220_000);
});
