import { CommanderError } from 'commander';
import { CommandRefused } from '../../../src/cli/output';
import { exitStatus, problemText } from '../../../src/cli/problems';
import { ConfigError } from '../../../src/configError';
import { TemporalUnavailable } from '../../../src/temporal/client';

const withCode = (message: string, code: string) => Object.assign(new Error(message), { code });

describe('the exit status', () => {
  it('is 2 for wrong use, 1 for what is refused or broken, 0 for help', () => {
    expect(exitStatus(new CommanderError(1, 'commander.unknownCommand', ''))).toBe(2);
    expect(exitStatus(new CommanderError(0, 'commander.helpDisplayed', ''))).toBe(0);
    expect(exitStatus(new CommandRefused('no'))).toBe(1);
    expect(exitStatus(new ConfigError('DATABASE_URL', 'is required'))).toBe(1);
    expect(exitStatus(new Error('anything'))).toBe(1);
  });
});

describe('an error in words', () => {
  it.each([
    [
      withCode('connect ECONNREFUSED 127.0.0.1:9', 'ECONNREFUSED'),
      /^the database cannot be reached: connect/,
    ],
    [
      new AggregateError([withCode('connect ECONNREFUSED ::1:9', 'ECONNREFUSED')]),
      /^the database cannot be reached: connect/,
    ],
    [withCode('', 'ETIMEDOUT'), /^the database cannot be reached: ETIMEDOUT$/],
    [
      withCode('password authentication failed for user "u"', '28P01'),
      /^the database refused the connection: password/,
    ],
    [withCode('relation "organizations" does not exist', '42P01'), /run `\.\/orgwallet db migrate` first$/],
    [
      withCode('role "orgwallet_service" does not exist', '42704'),
      /exist: create the database logins first \(docs\/production\.md\)$/,
    ],
    [
      withCode('canceling statement due to lock timeout', '55P03'),
      /^a table is in use for too long, and nothing was changed .*: run it again$/,
    ],
    [
      new TemporalUnavailable(undefined),
      /did not answer in time: check Temporal and the workers with `\.\/orgwallet doctor`/,
    ],
    [new Error('something else'), /^something else$/],
  ])('says of %s what it means', (error, text) => {
    expect(problemText(error)).toMatch(text);
  });
});
