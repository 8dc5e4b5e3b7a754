import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EVENT_LIST_VERSION, EVENT_TYPES } from '../../../src/domain/eventTypes';
import { projectRoot } from '../../../src/projectRoot';

const page = readFileSync(join(projectRoot(), 'docs', 'events.md'), 'utf8');

it('docs/events.md has every type of event with what its data shows', () => {
  const [, types = ''] = page.split('\n## Types\n');
  expect(types).toContain(`Version ${EVENT_LIST_VERSION} of the list.`);
  const rows = types
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word)));
  expect(Object.fromEntries(rows.map(([, [type = ''] = [], shown]) => [type, shown]))).toEqual(EVENT_TYPES);
});
