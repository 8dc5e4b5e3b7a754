import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { loadConfig, parseDurationMs, readNetworks } from '../../src/config';
import { ConfigError } from '../../src/configError';
import { assertRoles, serviceDatabaseUrl, signerDatabaseUrl } from '../../src/roleSettings';

const folder = mkdtempSync(join(tmpdir(), 'orgwallet-config-'));
const NETWORKS_FILE = join(folder, 'networks.json');
const NETWORK = { id: 31_337, name: 'Local', rpcUrl: 'http://127.0.0.1:8545' };
const NEEDED = { DATABASE_URL: 'postgres://user@localhost/orgwallet', NETWORKS_FILE };

/** Writes a networks file of its own and returns its path. */
function networksFile(content: unknown): string {
  const file = join(mkdtempSync(join(folder, 'networks-')), 'networks.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

/** The error that a reading ends with. */
function errorOf(read: () => unknown): ConfigError {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

beforeAll(() => writeFileSync(NETWORKS_FILE, JSON.stringify([NETWORK, { ...NETWORK, id: 31_338 }])));
afterAll(() => rmSync(folder, { recursive: true }));

describe('settings', () => {
  it('have the defaults that the documentation promises', () => {
    expect(loadConfig({ ...NEEDED, ORGWALLET_DATA_DIR: folder })).toMatchObject({
      production: false,
      dataDir: folder,
      roles: ['api', 'worker', 'chain', 'signer'],
      httpsPort: 8443,
      httpPort: 8080,
      tls: { certFile: join(folder, 'tls', 'cert.pem'), keyFile: join(folder, 'tls', 'key.pem') },
      trustedProxies: [],
      ops: { host: '127.0.0.1', port: 9090, allowedHosts: [] },
      databaseUrl: NEEDED.DATABASE_URL,
      temporal: { address: '127.0.0.1:7233', namespace: 'default', taskQueue: 'orgwallet' },
      signerNetworkId: 31_337,
      keystore: { file: join(folder, 'keystore.json') },
      journalFile: join(folder, 'keystore.json.journal'),
      shutdownDelayMs: 0,
      proposalLifetimeMs: 7 * 24 * 3_600_000,
      idempotencyRetentionMs: 24 * 3_600_000,
      rateLimit: { perSecond: 100, burst: 300 },
      maxOpenPerKey: 1_000,
      maxConnectionsPerAddress: 1_000,
      maxGas: 5_000_000n,
      gasBudgetPerHour: 10n ** 19n,
      logLevel: 'info',
    });
  });

  it('keep their data in .data of the current folder', () => {
    expect(loadConfig(NEEDED).dataDir).toBe(resolve('.data'));
  });

  it.each<[string, Record<string, string>, object]>([
    ['NODE_ENV', { NODE_ENV: 'production' }, { production: true }],
    ['ORGWALLET_ROLES', { ORGWALLET_ROLES: 'api, signer,' }, { roles: ['api', 'signer'] }],
    ['HTTPS_PORT', { HTTPS_PORT: '1' }, { httpsPort: 1 }],
    ['HTTP_PORT', { HTTP_PORT: '65535' }, { httpPort: 65_535 }],
    ['TLS files', { TLS_CERT_FILE: '/c', TLS_KEY_FILE: '/k' }, { tls: { certFile: '/c', keyFile: '/k' } }],
    [
      'TRUSTED_PROXIES in production, which may stand in for a certificate',
      { NODE_ENV: 'production', TRUSTED_PROXIES: '::1' },
      { tlsEndsAtProxy: true },
    ],
    [
      'a certificate beside TRUSTED_PROXIES',
      { NODE_ENV: 'production', TRUSTED_PROXIES: '::1', TLS_CERT_FILE: '/c', TLS_KEY_FILE: '/k' },
      { tlsEndsAtProxy: false },
    ],
    [
      'TRUSTED_PROXIES',
      { TRUSTED_PROXIES: '10.0.0.0/8 , ::1' },
      { trustedProxies: ['10.0.0.0/8', '::1'], tlsEndsAtProxy: false },
    ],
    [
      'OPS_HOST and OPS_PORT',
      { OPS_HOST: '0.0.0.0', OPS_PORT: '1234' },
      { ops: { host: '0.0.0.0', port: 1234 } },
    ],
    [
      'OPS_ALLOWED_HOSTS',
      { OPS_ALLOWED_HOSTS: 'Orgwallet, a.b-c' },
      { ops: { allowedHosts: ['orgwallet', 'a.b-c'] } },
    ],
    [
      'HTTPS_HOST and HTTP_HOST',
      { HTTPS_HOST: '::1', HTTP_HOST: 'localhost' },
      { httpsHost: '::1', httpHost: 'localhost' },
    ],
    ['DATABASE_URL', { DATABASE_URL: 'postgresql://h/d' }, { databaseUrl: 'postgresql://h/d' }],
    [
      'SIGNER_DATABASE_URL',
      { SIGNER_DATABASE_URL: 'postgres://s@h/d' },
      { signerDatabaseUrl: 'postgres://s@h/d' },
    ],
    [
      'TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and TEMPORAL_TASK_QUEUE',
      { TEMPORAL_ADDRESS: 't:7233', TEMPORAL_NAMESPACE: 'n', TEMPORAL_TASK_QUEUE: 'my-queue.1' },
      { temporal: { address: 't:7233', namespace: 'n', taskQueue: 'my-queue.1' } },
    ],
    [
      'TEMPORAL_BUILD_ID',
      { TEMPORAL_BUILD_ID: '1.4.0-rc.1+7', TEMPORAL_TASK_QUEUE: 'my.queue' },
      { temporal: { build: { deploymentName: 'my-queue', buildId: '1.4.0-rc.1+7' } } },
    ],
    [
      'TEMPORAL_DEPLOYMENT_NAME',
      { TEMPORAL_BUILD_ID: '7', TEMPORAL_DEPLOYMENT_NAME: 'wallets/orgwallet' },
      { temporal: { build: { deploymentName: 'wallets/orgwallet', buildId: '7' } } },
    ],
    ['TEMPORAL_API_KEY', { TEMPORAL_API_KEY: 'k' }, { temporal: { apiKey: 'k' } }],
    ['TEMPORAL_TLS', { TEMPORAL_TLS: 'true' }, { temporal: { tls: {} } }],
    [
      'TLS files of Temporal',
      {
        TEMPORAL_TLS_CA_FILE: '/ca',
        TEMPORAL_TLS_CERT_FILE: '/c',
        TEMPORAL_TLS_KEY_FILE: '/k',
        TEMPORAL_TLS_SERVER_NAME: 's',
      },
      { temporal: { tls: { caFile: '/ca', certFile: '/c', keyFile: '/k', serverName: 's' } } },
    ],
    ['TEMPORAL_UI_URL', { TEMPORAL_UI_URL: 'http://ui' }, { temporal: { uiUrl: 'http://ui' } }],
    ['SIGNER_NETWORK', { SIGNER_NETWORK: '31338' }, { signerNetworkId: 31_338 }],
    ['TOKEN_LIST_FILE', { TOKEN_LIST_FILE: '/tokens.json' }, { tokenListFile: '/tokens.json' }],
    ['PRICES_FILE', { PRICES_FILE: '/prices.json' }, { prices: { file: '/prices.json' } }],
    [
      'PRICES_URL',
      { PRICES_URL: 'https://prices.example/v1?key=k' },
      { prices: { url: 'https://prices.example/v1?key=k' } },
    ],
    [
      'PRICES_URL of this machine',
      { PRICES_URL: 'http://127.0.0.1:9000/' },
      { prices: { url: 'http://127.0.0.1:9000/' } },
    ],
    [
      'KEYSTORE_FILE',
      { KEYSTORE_FILE: '/k.json' },
      { keystore: { file: '/k.json' }, journalFile: '/k.json.journal' },
    ],
    ['JOURNAL_FILE', { JOURNAL_FILE: '/j' }, { journalFile: '/j' }],
    ['KEYSTORE_PASSPHRASE', { KEYSTORE_PASSPHRASE: ' p ' }, { keystore: { passphrase: ' p ' } }],
    ['KEYSTORE_PASSPHRASE_FILE', { KEYSTORE_PASSPHRASE_FILE: '/p' }, { keystore: { passphraseFile: '/p' } }],
    ['SHUTDOWN_DELAY', { SHUTDOWN_DELAY: '5s' }, { shutdownDelayMs: 5_000 }],
    ['no SHUTDOWN_DELAY', { SHUTDOWN_DELAY: '0s' }, { shutdownDelayMs: 0 }],
    ['PROPOSAL_LIFETIME', { PROPOSAL_LIFETIME: '90s' }, { proposalLifetimeMs: 90_000 }],
    ['RECONCILE_EVERY', { RECONCILE_EVERY: '1m' }, { reconcileEveryMs: 60_000 }],
    ['IDEMPOTENCY_RETENTION', { IDEMPOTENCY_RETENTION: '2h' }, { idempotencyRetentionMs: 7_200_000 }],
    [
      'RATE_LIMIT_PER_SECOND and RATE_LIMIT_BURST',
      { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '2' },
      { rateLimit: { perSecond: 1, burst: 2 } },
    ],
    ['MAX_OPEN_PER_KEY', { MAX_OPEN_PER_KEY: '3' }, { maxOpenPerKey: 3 }],
    ['MAX_CONNECTIONS_PER_ADDRESS', { MAX_CONNECTIONS_PER_ADDRESS: '3' }, { maxConnectionsPerAddress: 3 }],
    ['MAX_GAS', { MAX_GAS: '999999999999' }, { maxGas: 999_999_999_999n }],
    [
      'WEBHOOK_ALLOWED_RANGES',
      { WEBHOOK_ALLOWED_RANGES: '10.1.0.0/16, fd00::/8' },
      { webhookAllowedRanges: ['10.1.0.0/16', 'fd00::/8'] },
    ],
    ['GAS_BUDGET_PER_HOUR', { GAS_BUDGET_PER_HOUR: '0.25' }, { gasBudgetPerHour: 25n * 10n ** 16n }],
    [
      'SMTP_URL and MAIL_FROM',
      { SMTP_URL: 'smtps://user:p%40ss@smtp.example.com', MAIL_FROM: 'Acme wallets <wallet@example.com>' },
      {
        mail: {
          server: {
            host: 'smtp.example.com',
            port: 465,
            secure: true,
            login: { user: 'user', pass: 'p@ss' },
          },
          from: { name: 'Acme wallets', address: 'wallet@example.com' },
        },
      },
    ],
    ['LOG_LEVEL', { LOG_LEVEL: 'silent' }, { logLevel: 'silent' }],
    [
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example/otlp',
        OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key = a%2Cb==, other=',
      },
      {
        tracing: { endpoint: 'https://collector.example/otlp', headers: { 'x-api-key': 'a,b==', other: '' } },
      },
    ],
  ])('read %s', (_, env, expected) => {
    expect(loadConfig({ ...NEEDED, ...env })).toMatchObject(expected);
  });

  it.each([
    ['ORGWALLET_ROLES', 'api,cook'],
    ['ORGWALLET_ROLES', ','],
    ['HTTPS_PORT', '0'],
    ['HTTPS_PORT', '65536'],
    ['HTTPS_PORT', '80.5'],
    ['HTTPS_PORT', 'https'],
    ['HTTP_PORT', '-1'],
    ['OPS_PORT', 'x'],
    ['OPS_HOST', '127.0.0.1:9090'],
    ['OPS_ALLOWED_HOSTS', 'orgwallet, orgwallet:9090'],
    ['OPS_ALLOWED_HOSTS', '*'],
    ['HTTPS_HOST', 'http://localhost'],
    ['HTTP_HOST', '[::1]'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TRUSTED_PROXIES', '10.0.0.1, localhost'],
    ['TRUSTED_PROXIES', '10.0.0.0/8/8'],
    ['TRUSTED_PROXIES', '10.0.0.0/x'],
    ['TRUSTED_PROXIES', '0.0.0.0/0'],
    ['DATABASE_URL', 'mysql://h/d'],
    ['DATABASE_URL', 'localhost'],
    ['TEMPORAL_TASK_QUEUE', 'a b'],
    ['TEMPORAL_BUILD_ID', 'a:b'],
    ['TEMPORAL_BUILD_ID', '__unversioned__'],
    ['TEMPORAL_DEPLOYMENT_NAME', 'a.b'],
    ['TEMPORAL_TLS', 'yes'],
    ['TEMPORAL_UI_URL', 'javascript:alert(1)'],
    ['TEMPORAL_UI_URL', 'data:text/html,x'],
    ['TEMPORAL_UI_URL', 'temporal:8233'],
    ['SIGNER_NETWORK', '5'],
    ['SIGNER_NETWORK', 'main'],
    ['SIGNER_NETWORK', '-1'],
    ['PROPOSAL_LIFETIME', '7'],
    ['PROPOSAL_LIFETIME', '7 days'],
    ['IDEMPOTENCY_RETENTION', '-1h'],
    ['RATE_LIMIT_PER_SECOND', '0'],
    ['RATE_LIMIT_BURST', '1.5'],
    ['MAX_OPEN_PER_KEY', 'many'],
    ['MAX_GAS', '0x10'],
    ['MAX_GAS', '-1'],
    ['GAS_BUDGET_PER_HOUR', '1e3'],
    ['WEBHOOK_ALLOWED_RANGES', '10.1.0.1'],
    ['WEBHOOK_ALLOWED_RANGES', '10.1.0.0/16,localhost'],
    ['PRICES_URL', 'prices.example'],
    ['PRICES_URL', 'http://prices.example/'],
    ['PRICES_URL', 'file:///prices.json'],
    ['SMTP_URL', 'smtp.example.com'],
    ['SMTP_URL', 'https://smtp.example.com'],
    ['MAIL_FROM', 'Acme'],
    ['MAIL_FROM', 'a@b.example, c@d.example'],
    ['LOG_LEVEL', 'loud'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4317'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'Bearer secret'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'name=%zz'],
    ['NETWORKS_FILE', '/does/not/exist.json'],
  ])('refuse %s=%s and name it', (setting, value) => {
    const error = errorOf(() => loadConfig({ ...NEEDED, [setting]: value }));
    expect(error.setting).toBe(setting);
    expect(error.message).toMatch(new RegExp(`^${setting}: .+`));
    expect(error.name).toBe('ConfigError');
  });

  it.each([
    ['PROPOSAL_LIFETIME', '0s'],
    ['PROPOSAL_LIFETIME', '999ms'],
    ['PROPOSAL_LIFETIME', '999999999d'],
    ['RECONCILE_EVERY', '500ms'],
    ['IDEMPOTENCY_RETENTION', '0s'],
    ['SIGNER_DATABASE_URL', 'localhost'],
  ])('refuse %s=%s, which cannot work, and name it', (setting, value) => {
    expect(errorOf(() => loadConfig({ ...NEEDED, [setting]: value })).setting).toBe(setting);
  });

  it.each([
    ['HTTPS_PORT', '0x50'],
    ['HTTPS_PORT', '1e3'],
    ['HTTPS_PORT', ' 80 '],
    ['RATE_LIMIT_BURST', '0b11'],
  ])('refuse %s=%s: a number is decimal digits', (setting, value) => {
    expect(errorOf(() => loadConfig({ ...NEEDED, [setting]: value })).setting).toBe(setting);
  });

  it('refuse to do without NETWORKS_FILE, empty or absent', () => {
    for (const value of ['', undefined]) {
      const error = errorOf(() => loadConfig({ ...NEEDED, NETWORKS_FILE: value }));
      expect(error.message).toBe('NETWORKS_FILE: is required');
    }
  });

  it('have a login of the database for the service and one for the signer, each needed where it is used', () => {
    const config = loadConfig({ NETWORKS_FILE, DATABASE_URL: '' });
    expect(errorOf(() => serviceDatabaseUrl(config)).setting).toBe('DATABASE_URL');
    expect(errorOf(() => signerDatabaseUrl(config)).setting).toBe('SIGNER_DATABASE_URL');
    expect(serviceDatabaseUrl(loadConfig(NEEDED))).toBe(NEEDED.DATABASE_URL);
    expect(errorOf(() => signerDatabaseUrl(loadConfig(NEEDED))).setting).toBe('SIGNER_DATABASE_URL');
  });

  it.each(['api', 'worker', 'chain'] as const)(
    'refuse a signer that shares its process with %s in production',
    (role) => {
      const roles = ['signer', role] as const;
      expect(errorOf(() => assertRoles({ production: true, roles })).message).toMatch(
        /^ORGWALLET_ROLES: the signer must be a process of its own/,
      );
      expect(() => assertRoles({ production: false, roles })).not.toThrow();
      for (const alone of [['signer'], [role]] as const) assertRoles({ production: true, roles: alone });
    },
  );

  it('require the certificate and its key together', () => {
    expect(errorOf(() => loadConfig({ ...NEEDED, TLS_CERT_FILE: '/c' })).setting).toBe('TLS_KEY_FILE');
    expect(errorOf(() => loadConfig({ ...NEEDED, TLS_KEY_FILE: '/k' })).setting).toBe('TLS_CERT_FILE');
  });

  it('name a client certificate for Temporal that has no key, and a key that has no certificate', () => {
    expect(errorOf(() => loadConfig({ ...NEEDED, TEMPORAL_TLS_CERT_FILE: '/c' })).setting).toBe(
      'TEMPORAL_TLS_KEY_FILE',
    );
    expect(errorOf(() => loadConfig({ ...NEEDED, TEMPORAL_TLS_KEY_FILE: '/k' })).setting).toBe(
      'TEMPORAL_TLS_CERT_FILE',
    );
  });

  it.each([
    ['DATABASE_URL', 'postgres://user@localhost/other', 'databaseUrl'],
    ['SIGNER_DATABASE_URL', 'postgres://signer@localhost/other', 'signerDatabaseUrl'],
    ['DATABASE_LISTEN_URL', 'postgres://listener@localhost/other', 'listenDatabaseUrl'],
  ])('read %s from the file that its setting with _FILE names', (name, value, field) => {
    const { DATABASE_URL: _, ...others } = NEEDED;
    const file = join(mkdtempSync(join(folder, 'secret-')), 'secret');
    const set = { ...(name === 'DATABASE_URL' ? others : NEEDED), [`${name}_FILE`]: file };
    writeFileSync(file, `${value} \r\n\n`);
    expect(loadConfig(set)).toMatchObject({ [field]: value });
    writeFileSync(file, ' \n');
    expect(errorOf(() => loadConfig(set)).message).toBe(`${name}_FILE: ${file} is empty`);
    rmSync(file);
    expect(errorOf(() => loadConfig(set)).message).toMatch(`${name}_FILE: ${file} cannot be read: ENOENT`);
    expect(errorOf(() => loadConfig({ ...set, [name]: value })).message).toBe(
      `${name}_FILE: is set beside ${name}: only one of them can be`,
    );
  });

  it('read the API key of Temporal and the headers of the collector from files', () => {
    const file = join(mkdtempSync(join(folder, 'secret-')), 'secret');
    writeFileSync(file, 'x-api-key=secret\n');
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
    expect(
      loadConfig({
        ...NEEDED,
        ...endpoint,
        TEMPORAL_API_KEY_FILE: file,
        OTEL_EXPORTER_OTLP_HEADERS_FILE: file,
      }),
    ).toMatchObject({
      temporal: { apiKey: 'x-api-key=secret' },
      tracing: { headers: { 'x-api-key': 'secret' } },
    });
  });

  it('name the file of a secret with a bad value, and do not show it', () => {
    const file = join(mkdtempSync(join(folder, 'secret-')), 'secret');
    writeFileSync(file, 'mysql://hunter2@host/db');
    const { DATABASE_URL: _, ...others } = NEEDED;
    const { message } = errorOf(() => loadConfig({ ...others, DATABASE_URL_FILE: file }));
    expect(message).toMatch(/^DATABASE_URL: must begin with postgres/);
    expect(message).not.toContain('hunter2');
  });

  it('count an empty setting as absent', () => {
    const empty = {
      HTTPS_PORT: '',
      KEYSTORE_PASSPHRASE: '',
      TLS_CERT_FILE: '',
      PROPOSAL_LIFETIME: '',
      SIGNER_NETWORK: '',
    };
    expect(loadConfig({ ...NEEDED, ...empty })).toEqual(loadConfig(NEEDED));
  });

  it('leave out optional settings that are not given, rather than set them to undefined', () => {
    const config = loadConfig(NEEDED);
    for (const name of ['tokenListFile', 'prices', 'httpsHost', 'httpHost'])
      expect(config).not.toHaveProperty(name);
    expect(Object.keys(config.keystore)).toEqual(['file']);
    expect(Object.keys(config.temporal).sort()).toEqual(['address', 'namespace', 'taskQueue']);
  });

  it('have a mail server and a sender, or neither', () => {
    expect(errorOf(() => loadConfig({ ...NEEDED, MAIL_FROM: 'a@b.example' })).setting).toBe('SMTP_URL');
    expect(errorOf(() => loadConfig({ ...NEEDED, SMTP_URL: 'smtp://localhost' })).setting).toBe('MAIL_FROM');
    expect(loadConfig(NEEDED)).not.toHaveProperty('mail');
  });

  it('have prices from one place', () => {
    const both = { PRICES_FILE: '/prices.json', PRICES_URL: 'https://prices.example/' };
    expect(errorOf(() => loadConfig({ ...NEEDED, ...both })).setting).toBe('PRICES_URL');
  });

  it('ignore unknown settings', () => {
    expect(loadConfig({ ...NEEDED, PATH: '/bin', HTTPS_PORTS: 'x' })).toEqual(loadConfig(NEEDED));
  });

  it('are production only when NODE_ENV says exactly that', () => {
    for (const NODE_ENV of ['development', 'prod', 'Production']) {
      expect(loadConfig({ ...NEEDED, NODE_ENV }).production).toBe(false);
    }
  });

  it('cannot be changed after they were read', () => {
    const config = loadConfig(NEEDED) as { httpsPort: number };
    expect(() => {
      config.httpsPort = 1;
    }).toThrow(TypeError);
  });

  it('never disclose a secret in an error', () => {
    const secrets = {
      DATABASE_URL: 'mysql://user:hunter2@h/d',
      KEYSTORE_PASSPHRASE: 'hunter2',
      TEMPORAL_API_KEY: 'hunter2',
    };
    expect(errorOf(() => loadConfig({ ...NEEDED, ...secrets })).message).not.toContain('hunter2');
    const mail = { SMTP_URL: 'smtp://user:hunter2@smtp.example.com/?logger=true', MAIL_FROM: 'a@b.example' };
    expect(errorOf(() => loadConfig({ ...NEEDED, ...mail })).message).not.toContain('hunter2');
    const prices = { PRICES_URL: 'http://prices.example/?key=hunter2' };
    expect(errorOf(() => loadConfig({ ...NEEDED, ...prices })).message).not.toContain('hunter2');
    const headers = { OTEL_EXPORTER_OTLP_HEADERS: 'hunter2' };
    expect(errorOf(() => loadConfig({ ...NEEDED, ...headers })).message).not.toContain('hunter2');
  });
});

describe('the origins of people', () => {
  const origins = (env: NodeJS.ProcessEnv) => loadConfig({ ...NEEDED, ...env }).origins;

  it('are this machine by default, and none in production', () => {
    expect(origins({})).toEqual(['https://localhost:8443', 'https://127.0.0.1:8443']);
    expect(origins({ HTTPS_PORT: '443' })).toEqual(['https://localhost', 'https://127.0.0.1']);
    expect(origins({ NODE_ENV: 'production' })).toEqual([]);
  });

  it('are those that are named', () => {
    expect(origins({ ORIGINS: 'https://wallet.example.com, https://10.0.0.1:8443' })).toEqual([
      'https://wallet.example.com',
      'https://10.0.0.1:8443',
    ]);
  });

  it.each([
    'http://wallet.example.com',
    'https://wallet.example.com/',
    'https://wallet.example.com:443',
    'https://Wallet.example.com',
    'https://user@wallet.example.com',
    'https://[::1]',
    'https://wallet',
    'wallet.example.com',
    '*',
  ])('are never %s', (ORIGINS) => {
    expect(errorOf(() => origins({ ORIGINS })).message).toBe(
      `ORIGINS: "${ORIGINS}" is not an HTTPS origin (expected e.g. https://wallet.example.com)`,
    );
  });
});

describe('durations', () => {
  it.each([
    ['500ms', 500],
    ['0s', 0],
    ['90s', 90_000],
    ['15m', 900_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['007d', 604_800_000],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms);
  });

  it.each([
    '',
    '7',
    'd',
    '7 d',
    ' 7d',
    '7d ',
    '7D',
    '1.5h',
    '-1s',
    '+1s',
    '1w',
    '1h30m',
    '1e3s',
    '１d',
    '1234567890s',
    '7d\n',
  ])('rejects %j with an example', (text) => {
    expect(() => parseDurationMs(text)).toThrow(`invalid duration "${text}" (expected e.g. 90s, 15m, 7d)`);
  });

  it('are a number times a unit, in whole milliseconds', () => {
    const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
    fc.assert(
      fc.property(
        fc.nat({ max: 100_000 }),
        fc.constantFrom(...(Object.keys(units) as (keyof typeof units)[])),
        (count, unit) => {
          const ms = parseDurationMs(`${count}${unit}`);
          expect(ms).toBe(count * units[unit]);
          expect(Number.isSafeInteger(ms)).toBe(true);
        },
      ),
    );
  });
});

describe('a networks file', () => {
  const FULL = {
    id: 1,
    name: 'Mainnet',
    rpcUrls: ['https://rpc.example/v1', 'https://second.example'],
    rpcBatchSize: 20,
    signerRpcUrls: ['https://one.example', 'https://two.example/key'],
    relayers: 4,
    nativeAsset: { symbol: 'XYZ', name: 'Xyz coin', decimals: 18 },
    confirmations: 12,
    maxFeePerGas: '123456789012345678901234567890',
    explorerUrl: 'https://explorer.example',
    walletRpcUrl: 'https://rpc-of-wallets.example',
  };

  it('is read whole', () => {
    const file = networksFile([{ ...FULL, allowPlainHttp: true }]);
    expect(readNetworks(file)).toEqual([{ ...FULL, maxFeePerGas: 123_456_789_012_345_678_901_234_567_890n }]);
  });

  it('needs no more than id, name and RPC address of a network', () => {
    const { rpcUrl, ...rest } = NETWORK;
    expect(readNetworks(networksFile([NETWORK]))).toEqual([
      {
        ...rest,
        rpcUrls: [rpcUrl],
        signerRpcUrls: [rpcUrl],
        relayers: 1,
        nativeAsset: { symbol: 'ETH', name: 'Ether', decimals: 18 },
        confirmations: 1,
        maxFeePerGas: 500_000_000_000n,
      },
    ]);
  });

  it.each<[string, unknown, object]>([
    ['ETH', 'ETH', { symbol: 'ETH', name: 'Ether', decimals: 18 }],
    ['another symbol', 'POL', { symbol: 'POL', name: 'POL', decimals: 18 }],
    ['a symbol and decimals', { symbol: 'X', decimals: 18 }, { symbol: 'X', name: 'X', decimals: 18 }],
    ['a symbol and a name', { symbol: 'X', name: 'Y' }, { symbol: 'X', name: 'Y', decimals: 18 }],
  ])('may give the native asset as %s', (_, nativeAsset, expected) => {
    expect(readNetworks(networksFile([{ ...NETWORK, nativeAsset }]))[0]?.nativeAsset).toEqual(expected);
  });

  it('may give the fee ceiling as a number, and confirmations of 0', () => {
    const [network] = readNetworks(
      networksFile([{ ...NETWORK, maxFeePerGas: 30_000_000_000, confirmations: 0 }]),
    );
    expect(network).toMatchObject({ maxFeePerGas: 30_000_000_000n, confirmations: 0 });
  });

  it.each<[string, unknown, string]>([
    ['no list', {}, 'top'],
    ['an empty list', [], 'top'],
    ['two networks with one id', [NETWORK, NETWORK], 'network ids must be unique'],
    [
      'two networks with one short name',
      [
        { ...NETWORK, id: 1 },
        { ...NETWORK, id: 2, shortName: 'eth' },
      ],
      '1.shortName: is the short name of network 1',
    ],
    ['an id of 0', [{ ...NETWORK, id: 0 }], 'at 0.id:'],
    ['an id that is a text', [{ ...NETWORK, id: '1' }], 'at 0.id:'],
    ['an id beyond what a number can tell apart', [{ ...NETWORK, id: 2 ** 53 }], 'at 0.id:'],
    ['an empty name', [{ ...NETWORK, name: '' }], 'at 0.name:'],
    ['no address', [{ id: 1, name: 'x' }], 'at 0.rpcUrls: is required'],
    ['both forms of an address', [{ ...NETWORK, rpcUrls: [NETWORK.rpcUrl] }], 'at 0.rpcUrls: is set beside'],
    ['an address twice', [{ id: 1, name: 'x', rpcUrls: ['http://a', 'http://a'] }], 'at 0.rpcUrls:'],
    ['no relayers', [{ ...NETWORK, relayers: 0 }], 'at 0.relayers:'],
    ['too many relayers', [{ ...NETWORK, relayers: 65 }], 'at 0.relayers:'],
    ['half a relayer', [{ ...NETWORK, relayers: 1.5 }], 'at 0.relayers:'],
    ['batches of none', [{ ...NETWORK, rpcBatchSize: 0 }], 'at 0.rpcBatchSize:'],
    ['an address that is none', [NETWORK, { ...NETWORK, id: 1, rpcUrl: 'localhost' }], 'at 1.rpcUrl:'],
    ['a fraction of confirmations', [{ ...NETWORK, confirmations: 1.5 }], 'at 0.confirmations:'],
    ['confirmations below 0', [{ ...NETWORK, confirmations: -1 }], 'at 0.confirmations:'],
    ['a fee ceiling with a unit', [{ ...NETWORK, maxFeePerGas: '5 gwei' }], 'at 0.maxFeePerGas'],
    ['a fee ceiling below 0', [{ ...NETWORK, maxFeePerGas: -5 }], 'at 0.maxFeePerGas'],
    ['an empty native asset', [{ ...NETWORK, nativeAsset: '' }], 'at 0.nativeAsset'],
    [
      'other decimals than 18',
      [{ ...NETWORK, nativeAsset: { symbol: 'X', decimals: 8 } }],
      'at 0.nativeAsset',
    ],
    ['no endpoint of the signer', [{ ...NETWORK, signerRpcUrls: [] }], 'at 0.signerRpcUrls'],
    [
      'an endpoint of the signer twice',
      [{ ...NETWORK, signerRpcUrls: ['https://a.example', 'https://a.example'] }],
      'at 0.signerRpcUrls',
    ],
    ['an explorer that is not a URL', [{ ...NETWORK, explorerUrl: 'x' }], 'at 0.explorerUrl:'],
  ])('with %s is refused, with its name and the place', (_, content, place) => {
    const file = networksFile(content);
    const error = errorOf(() => readNetworks(file));
    expect(error.setting).toBe('NETWORKS_FILE');
    expect(error.message).toContain(file);
    expect(error.message).toContain(place);
  });

  describe('in production', () => {
    const read = (...networks: object[]) => readNetworks(networksFile(networks), { production: true });
    const REMOTE = { ...NETWORK, rpcUrl: 'https://rpc.example' };

    it('gives the signer no endpoint that is not its own', () => {
      expect(read(REMOTE)[0]?.signerRpcUrls).toEqual([]);
      expect(read({ ...REMOTE, signerRpcUrls: ['https://own.example'] })[0]?.signerRpcUrls).toEqual([
        'https://own.example',
      ]);
    });

    it.each<[string, object, string]>([
      ['rpcUrl', { rpcUrl: 'http://rpc.example' }, 'at 1.rpcUrl:'],
      [
        'signerRpcUrls',
        { signerRpcUrls: ['https://own.example', 'http://10.0.0.7:8545'] },
        'at 1.signerRpcUrls.1:',
      ],
      [
        'rpcUrls',
        { rpcUrl: undefined, rpcUrls: ['https://a.example', 'http://b.example'] },
        'at 1.rpcUrls.1:',
      ],
      ['a host that only looks local', { rpcUrl: 'http://127.0.0.1.example' }, 'at 1.rpcUrl:'],
    ])('refuses plain HTTP in %s, unless the network allows it', (_, change, place) => {
      const plain = { ...REMOTE, id: 2, ...change };
      const error = errorOf(() => read(REMOTE, plain));
      expect([error.setting, error.message]).toEqual(['NETWORKS_FILE', expect.stringContaining(place)]);
      expect(error.message).toContain('allowPlainHttp');
      expect(read(REMOTE, { ...plain, allowPlainHttp: true })).toHaveLength(2);
      expect(readNetworks(networksFile([REMOTE, plain]))).toHaveLength(2);
    });

    it('accepts plain HTTP on this machine', () => {
      expect(read(NETWORK, { ...NETWORK, id: 2, rpcUrl: 'http://[::1]:8545' })).toHaveLength(2);
    });
  });

  it('that is not JSON, or is not there, is refused with its name', () => {
    for (const file of [networksFile('[{'), join(folder, 'absent.json'), folder]) {
      const error = errorOf(() => readNetworks(file));
      expect(error.setting).toBe('NETWORKS_FILE');
      expect(error.message).toContain(`${file} cannot be read as JSON: `);
    }
  });

  it.each([
    ['an RPC address that is neither HTTP nor a web socket', { rpcUrl: 'javascript:alert(1)' }],
    ['an explorer that is neither HTTP nor HTTPS', { explorerUrl: 'javascript:alert(1)' }],
    ['an endpoint of wallets that is neither', { walletRpcUrl: 'javascript:alert(1)' }],
  ])('with %s is refused', (_, change) => {
    expect(errorOf(() => readNetworks(networksFile([{ ...NETWORK, ...change }]))).setting).toBe(
      'NETWORKS_FILE',
    );
  });
});
