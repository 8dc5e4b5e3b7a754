import { existsSync, openSync } from 'node:fs';
import { hostname } from 'node:os';
import fc from 'fast-check';
import { createPublicClient, http } from 'viem';
import { createLogger, createLogOutput, type Logger, scrub } from '../../src/logging';
import { versionText } from '../../src/version';

const SECRET = 'hunter2-hunter2-hunter2';
const API_KEY = `ow_live_${'Ab3_-'.repeat(8)}xyz`;

/** What is written while something logs, one text a line. */
function written(log: (logger: Logger) => void, level = 'trace'): string[] {
  const lines: string[] = [];
  log(createLogger(level, { write: (line: string) => void lines.push(line) }));
  return lines;
}

describe('a line', () => {
  it('is one JSON object with its time, level, service, host, version and message', () => {
    const lines = written((logger) => logger.info({ proposalId: 'prop_1' }, 'executed'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^\{.*\}\n$/);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      service: 'orgwallet',
      host: hostname(),
      version: versionText(),
      proposalId: 'prop_1',
      msg: 'executed',
    });
  });

  it('is one line and can be read back, whatever is logged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (message, value) => {
        const lines = written((logger) => logger.warn({ value }, '%s', message));
        expect(lines).toHaveLength(1);
        expect(lines[0]?.trimEnd().split('\n')).toHaveLength(1);
        expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'warn', msg: scrub(message) });
      }),
    );
  });

  it('is not written below the level', () => {
    const log = (logger: Logger) => {
      logger.debug('quiet');
      logger.info('quiet');
      logger.warn('loud');
    };
    expect(written(log, 'warn')).toHaveLength(1);
    expect(written(log, 'silent')).toHaveLength(0);
  });

  it('holds an error with its message and where it came from', () => {
    const [line] = written((logger) => logger.error({ err: new TypeError('broken') }, 'failed'));
    expect(JSON.parse(line ?? '')).toMatchObject({
      msg: 'failed',
      err: { type: 'TypeError', message: 'broken', stack: expect.stringContaining('logging.test') },
    });
  });
});

describe('an API key', () => {
  it.each<[string, (logger: Logger) => void]>([
    ['in a message', (logger) => logger.info(`key ${API_KEY} was used`)],
    ['in a format', (logger) => logger.info('key %s was used', API_KEY)],
    ['in a field', (logger) => logger.info({ anything: API_KEY })],
    ['deep in a field', (logger) => logger.info({ a: { b: [{ c: [`x${API_KEY}`] }] } })],
    ['as the name of a field', (logger) => logger.info({ [API_KEY]: 1 })],
    ['in an error', (logger) => logger.error({ err: new Error(`bad ${API_KEY}`) })],
    ['in the cause of an error', (logger) => logger.error(new Error('x', { cause: new Error(API_KEY) }))],
    ['in a property of an error', (logger) => logger.error(Object.assign(new Error('x'), { key: API_KEY }))],
    ['in an address', (logger) => logger.info({ url: `https://h/?key=${API_KEY}&x=1` })],
    ['in the fields of a child', (logger) => logger.child({ key: API_KEY }).info('x')],
    ['in a header', (logger) => logger.info({ req: { headers: { authorization: `Bearer ${API_KEY}` } } })],
    ['twice', (logger) => logger.info(`${API_KEY} ${API_KEY}`)],
  ])('%s never reaches a line', (_, log) => {
    const text = written(log).join('');
    expect(text).not.toBe('');
    expect(text).not.toContain(API_KEY.slice(8, 16));
    for (const line of text.trimEnd().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
  });

  it('of any random bytes never reaches a line, and the line stays JSON', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.string(), (bytes, around) => {
        const secret = Buffer.from(bytes).toString('base64url');
        const [line] = written((logger) => logger.info({ around }, `${around}ow_live_${secret} ${around}`));
        expect(line).not.toContain(secret);
        expect(JSON.parse(line ?? '')).toMatchObject({ around: scrub(around) });
      }),
    );
  });
});

describe('a database password', () => {
  it.each([
    ['postgres', `postgres://orgwallet:${SECRET}@db.example:5432/orgwallet`],
    ['postgresql', `postgresql://orgwallet:${SECRET}@db.example/orgwallet?sslmode=require`],
    ['percent-encoded', `postgres://orgwallet:%40${SECRET}%3A@db.example/orgwallet`],
  ])('in an address (%s) never reaches a line; who and where do', (_, url) => {
    const text = written((logger) => {
      logger.info(`cannot reach ${url}`);
      logger.info({ config: { nested: { url } } });
      logger.error({ err: new Error(`connect ${url}`) });
      logger.info({ databaseUrl: url });
    });
    expect(text.join('')).not.toContain(SECRET);
    expect(text[0]).toContain('orgwallet');
    expect(text[0]).toContain('@db.example');
  });

  it('leaves an address without a password as it is', () => {
    expect(scrub('postgres://localhost:5432/orgwallet')).toBe('postgres://localhost:5432/orgwallet');
    expect(scrub('postgres://user@localhost:5432/orgwallet')).toBe(
      'postgres://user@localhost:5432/orgwallet',
    );
  });

  it.each([
    ['without a user', `postgres://:${SECRET}@db.example/orgwallet`],
    ['with an at sign in it', `postgres://orgwallet:x@${SECRET}@db.example/orgwallet`],
    ['as a parameter', `postgres://db.example/orgwallet?user=orgwallet&password=${SECRET}`],
    ['with a scheme in capitals', `POSTGRES://orgwallet:${SECRET}@db.example/orgwallet`],
  ])('%s never reaches a line', (_, url) => {
    expect(written((logger) => logger.info(url)).join('')).not.toContain(SECRET);
  });
});

it('the path of an endpoint never reaches a line, its host does', async () => {
  const url = `http://user:${SECRET}@127.0.0.1:1/v2/${SECRET}?key=${SECRET}`;
  const rpc = createPublicClient({ transport: http(url, { retryCount: 0 }) });
  const error = await rpc.getBlockNumber().catch((thrown: unknown) => thrown);
  const text = written((logger) => {
    logger.error({ err: error }, 'failed');
    logger.error({ err: new Error('outer', { cause: error }) }, 'failed');
    logger.error(String(error));
  });
  expect(text).toHaveLength(3);
  for (const line of text) {
    expect(line).toContain('127.0.0.1:1/[redacted]');
    expect(line).not.toContain(SECRET);
    expect(() => JSON.parse(line)).not.toThrow();
  }
});

describe('a secret in a field that says so', () => {
  it.each(['authorization', 'apiKey', 'passphrase', 'privateKey', 'secret', 'databaseUrl'])(
    '(%s) never reaches a line, at the top or one level down',
    (field) => {
      const text = written((logger) => {
        logger.info({ [field]: SECRET });
        logger.info({ inside: { [field]: SECRET } });
        logger.child({ [field]: SECRET }).info('x');
        logger.info('%o', { [field]: SECRET });
      });
      expect(text).toHaveLength(4);
      expect(text.join('')).not.toContain(SECRET);
      expect(text[0]).toContain('[redacted]');
    },
  );

  it.each<[string, object]>([
    ['a passphrase in the whole configuration', { config: { keystore: { passphrase: SECRET } } }],
    ["Temporal's API key in the whole configuration", { config: { temporal: { apiKey: SECRET } } }],
    ['a private key in a list', { wallets: [{ privateKey: SECRET }] }],
    [
      'a private key in a property of an error',
      Object.assign(new Error('x'), { input: { privateKey: SECRET } }),
    ],
    ['a password', { password: SECRET }],
    ['a password in the settings of a connection', { connection: { password: SECRET } }],
    ['a passphrase in the environment', { KEYSTORE_PASSPHRASE: SECRET }],
    ["Temporal's API key in the environment", { env: { TEMPORAL_API_KEY: SECRET } }],
    ['a header as it was sent', { headers: { Authorization: `Bearer ${SECRET}` } }],
  ])('%s never reaches a line', (_, fields) => {
    expect(written((logger) => logger.info(fields, 'x')).join('')).not.toContain(SECRET);
  });

  it('does not change what is logged for the one who logs it', () => {
    const fields = { inside: { passphrase: SECRET } };
    written((logger) => logger.info(fields));
    expect(fields).toEqual({ inside: { passphrase: SECRET } });
  });
});

(existsSync('/dev/full') ? it : it.skip)('a disk that is full ends nothing', async () => {
  const output = createLogOutput(openSync('/dev/full', 'w'));
  const logger = createLogger('info', output);
  for (const message of ['first', 'second']) {
    const failed = new Promise((resolve) => output.once('error', resolve));
    logger.info(message);
    expect(await failed).toMatchObject({ code: 'ENOSPC' });
  }
});
