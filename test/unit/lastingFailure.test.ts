import { pino } from 'pino';
import { createLastingFailure } from '../../src/lastingFailure';

/** A logger, and what it has logged: level and message. */
function logged() {
  const lines: [string, string][] = [];
  const logger = pino(
    { level: 'debug' },
    {
      write(text: string) {
        const { level, msg } = JSON.parse(text);
        lines.push([pino.levels.labels[level] ?? '', msg]);
      },
    },
  );
  return { logger, lines };
}

test('a failure that lasts is an error, once, and its end is logged', () => {
  const { logger, lines } = logged();
  const failure = createLastingFailure(logger, 'it cannot be compared', { lastsMs: 0 });
  for (let i = 0; i < 3; i += 1) failure.failed(new Error('denied'));
  for (let i = 0; i < 2; i += 1) failure.succeeded();
  failure.failed(new Error('denied'));
  expect(lines.map(([level]) => level)).toEqual(['error', 'debug', 'debug', 'info', 'error']);
  expect(lines[0]?.[1]).toBe('it cannot be compared for 0 s; retrying');
  expect(lines[3]?.[1]).toBe('resolved: it cannot be compared');
});

test('a failure that is soon over is none', () => {
  const { logger, lines } = logged();
  const failure = createLastingFailure(logger, 'it cannot be compared');
  failure.failed(new Error('denied'));
  failure.succeeded();
  failure.failed(new Error('denied'));
  expect(lines.map(([level]) => level)).toEqual(['debug', 'debug']);
});
