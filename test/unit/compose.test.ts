import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { loadConfig, missingInProduction, readNetworks } from '../../src/config';
import { projectRoot } from '../../src/projectRoot';
import { withSecrets } from '../../src/secrets';
import { readStackSettings } from '../../tools/dev/settings';

const read = (file: string) => readFileSync(join(projectRoot(), file), 'utf8');
const composeText = read('docker-compose.yml');
const compose = parse(composeText);
const { services } = compose;
const dockerfile = read('Dockerfile');
const folder = mkdtempSync(join(tmpdir(), 'orgwallet-compose-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Names of every setting that the service or the embedded stack reads. */
function knownSettings(): Set<string> {
  const asked = new Set(['NODE_ENV', 'TEMPORAL_UI_URL']);
  const recorder = new Proxy(
    {},
    {
      get: (_, name) => {
        asked.add(String(name));
        return undefined;
      },
    },
  );
  readStackSettings(recorder);
  missingInProduction(recorder);
  withSecrets(recorder);
  const schema = /const settings = z\.object\(\{\n([\s\S]*?)\n\}\);/.exec(read('src/config.ts'))?.[1] ?? '';
  for (const [, name] of schema.matchAll(/^ {2}([A-Z_]+): /gm)) asked.add(name ?? '');
  return asked;
}

/** What a text becomes when nothing is set outside. */
function withDefaults(text: string): string {
  return text.replace(/\$\{\w+:-([^}]*)\}/g, '$1');
}

/** `VARIABLE → default` of everything in the file that can be set from outside. */
const variables = new Map(
  [...composeText.matchAll(/\$\{(\w+)(?::-([^}]*))?\}/g)].map(([, name = '', byDefault]) => [
    name,
    byDefault,
  ]),
);

/** The settings of a container when nothing is set outside. */
function environmentOf(service: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries<string>(services[service].environment).map(([name, value]) => [name, withDefaults(value)]),
  );
}

const OWN_IMAGES = ['migrate', 'orgwallet', 'signer'];
const environment = environmentOf('orgwallet');
const networks = compose.configs.networks.content;

describe('docker-compose.yml', () => {
  it('has Postgres, Temporal with its UI, two chains, the service and the signer, and nothing else', () => {
    expect(Object.keys(services).sort()).toEqual([
      'chain-1',
      'chain-2',
      'demo',
      'migrate',
      'orgwallet',
      'postgres',
      'signer',
      'temporal',
      'temporal-namespace',
      'temporal-schema',
      'temporal-ui',
    ]);
  });

  it('names every image with a version', () => {
    for (const [name, service] of Object.entries<{ image?: string }>(services)) {
      if (![...OWN_IMAGES, 'demo'].includes(name)) expect(service.image).toMatch(/:v?\d[\w.-]*$/);
    }
  });

  it('sets only what the service reads, and lets only such names be set from outside', () => {
    const known = knownSettings();
    expect([...known].filter((name) => /^[A-Z_]+$/.test(name)).length).toBeGreaterThan(30);
    for (const service of OWN_IMAGES) {
      expect(Object.keys(environmentOf(service)).filter((name) => !known.has(name))).toEqual([]);
    }
    const own = [...variables.keys()].filter((name) => !known.has(name));
    expect(own.filter((name) => !name.endsWith('POSTGRES_PASSWORD'))).toEqual([]);
  });

  it('has the defaults of the service itself', () => {
    expect(Object.fromEntries(variables)).toMatchObject({
      HTTPS_PORT: '8443',
      HTTP_PORT: '8080',
      OPS_PORT: '9090',
      POSTGRES_PORT: '54329',
      TEMPORAL_PORT: '7233',
      TEMPORAL_UI_PORT: '8233',
      TEMPORAL_NAMESPACE: 'default',
      PROPOSAL_LIFETIME: '7d',
      RECONCILE_EVERY: '20s',
      IDEMPOTENCY_RETENTION: '24h',
      RATE_LIMIT_PER_SECOND: '100',
      RATE_LIMIT_BURST: '300',
    });
    // Without a default a forgotten variable would silently be empty.
    expect([...variables.values()]).not.toContain(undefined);
  });

  it('gives the service settings that it starts with', () => {
    const NETWORKS_FILE = join(folder, 'networks.json');
    writeFileSync(NETWORKS_FILE, networks);
    const config = loadConfig({ ...environment, NETWORKS_FILE });
    expect(config).toMatchObject({
      production: false,
      roles: ['api', 'worker', 'chain'],
      databaseUrl: 'postgres://orgwallet_service:service@postgres:5432/orgwallet',
      temporal: { address: 'temporal:7233', uiUrl: 'http://127.0.0.1:8233' },
      ops: { host: '0.0.0.0', port: 9090 },
      shutdownDelayMs: 0,
      proposalLifetimeMs: 7 * 86_400_000,
    });
    const { databaseUrl, temporalAddress, networksFile } = readStackSettings(environment);
    // None of these parts is started a second time inside the container.
    expect([databaseUrl, temporalAddress, networksFile]).not.toContain(undefined);
  });

  it('creates a login for each container that has one, which knows no other', () => {
    const logins = withDefaults(compose.configs.logins.content);
    const target = '/docker-entrypoint-initdb.d/logins.sql';
    expect(services.postgres.configs).toEqual([{ source: 'logins', target }]);
    const created = [...logins.matchAll(/^CREATE ROLE (\w+) LOGIN( CREATEDB)? PASSWORD '(\w+)';$/gm)];
    expect(created.map(([, name]) => name)).toEqual([
      'orgwallet_owner',
      'orgwallet_service',
      'orgwallet_signer',
      'temporal',
    ]);
    expect(new Set(created.map(([, , , password]) => password)).size).toBe(4);
    const passwords = new Map(created.map(([, name = '', , password = '']) => [name, password]));
    for (const [service, setting, login] of [
      ['migrate', 'MIGRATION_DATABASE_URL', 'orgwallet_owner'],
      ['orgwallet', 'DATABASE_URL', 'orgwallet_service'],
      ['signer', 'SIGNER_DATABASE_URL', 'orgwallet_signer'],
    ] as const) {
      const settings = environmentOf(service);
      expect(Object.keys(settings).filter((name) => name.endsWith('DATABASE_URL'))).toEqual([setting]);
      const url = `postgres://${login}:${passwords.get(login)}@postgres:5432/orgwallet`;
      expect(settings[setting]).toBe(url);
    }
    expect(environmentOf('temporal')).toMatchObject({
      POSTGRES_USER: 'temporal',
      POSTGRES_PWD: passwords.get('temporal'),
    });
  });

  it('makes the demo organization once, with the settings of the step that does it', () => {
    const { demo } = services;
    expect(demo.command).toEqual(['node', 'dist/tools/dev/prepare.js', 'demo']);
    expect(demo.volumes).toEqual(['orgwallet:/data', 'signer:/signer:ro']);
    expect(demo.network_mode).toBe('service:orgwallet');
    const asked = JSON.parse(environmentOf('demo').ORGWALLET_PREPARE ?? '');
    const { SIGNER_DATABASE_URL, KEYSTORE_PASSPHRASE } = environmentOf('signer');
    expect(asked).toMatchObject({
      databaseUrl: environment.DATABASE_URL,
      signer: {
        databaseUrl: SIGNER_DATABASE_URL,
        keystoreFile: '/signer/keystore.json',
        passphrase: KEYSTORE_PASSPHRASE,
      },
      networksFile: environment.NETWORKS_FILE,
      demoFile: '/data/demo.json',
      addresses: { caFile: `${environment.ORGWALLET_DATA_DIR}/tls/cert.pem` },
    });
  });

  it('gives the signer alone the keystore, in a process of its own', () => {
    const NETWORKS_FILE = join(folder, 'signer-networks.json');
    writeFileSync(NETWORKS_FILE, networks);
    const settings = environmentOf('signer');
    const config = loadConfig({ ...settings, NETWORKS_FILE });
    expect(config).toMatchObject({ roles: ['signer'], keystore: { file: '/data/keystore.json' } });
    expect(config.keystore.passphrase?.length).toBeGreaterThanOrEqual(12);
    expect(services.signer.command).toEqual(['node', 'dist/src/main.js']);
    expect(services.signer.volumes).toEqual(['signer:/data']);
    // It has the network of `orgwallet`, and so needs another port.
    expect(services.signer.network_mode).toBe('service:orgwallet');
    expect(settings.OPS_PORT).not.toBe(environment.OPS_PORT);
    for (const name of ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'NETWORKS_FILE']) {
      expect(settings[name]).toBe(environment[name]);
    }
    const others = Object.entries<{ volumes?: string[] }>(services).filter(
      ([name]) => !['signer', 'demo'].includes(name),
    );
    for (const [name, { volumes = [] }] of others) {
      expect(volumes.filter((volume) => volume.startsWith('signer:'))).toEqual([]);
      expect(
        Object.keys(services[name].environment ?? {}).filter((key) => key.startsWith('KEYSTORE')),
      ).toEqual([]);
    }
  });

  it('has the chains that the networks file names', () => {
    const NETWORKS_FILE = join(folder, 'chains.json');
    writeFileSync(NETWORKS_FILE, networks);
    const chains = readNetworks(NETWORKS_FILE);
    for (const [index, { id, rpcUrls }] of chains.entries()) {
      const { command, network_mode } = services[`chain-${index + 1}`];
      const option = (name: string) => command[command.indexOf(name) + 1];
      expect(option('--chain-id')).toBe(String(id));
      expect(rpcUrls).toEqual([`http://127.0.0.1:${option('--port')}`]);
      expect(network_mode).toBe('service:orgwallet');
      expect(services.orgwallet.ports).toContain(`127.0.0.1:${option('--port')}:${option('--port')}`);
    }
    expect(chains).toHaveLength(2);
  });

  it('publishes the API to everybody, everything else to this machine alone', () => {
    const published = Object.entries<{ ports?: string[] }>(services).flatMap(([name, { ports = [] }]) =>
      ports.map((port) => `${name} ${withDefaults(port)}`),
    );
    expect(published.filter((port) => !port.includes(' 127.0.0.1:'))).toEqual([
      'orgwallet 8443:8443',
      'orgwallet 8080:8080',
    ]);
    expect(published).toEqual(
      expect.arrayContaining([
        'orgwallet 127.0.0.1:9090:9090',
        'postgres 127.0.0.1:54329:5432',
        'temporal 127.0.0.1:7233:7233',
        'temporal-ui 127.0.0.1:8233:8080',
      ]),
    );
    const hostPorts = published.map((port) => port.split(':').at(-2)?.split(' ').at(-1));
    expect(new Set(hostPorts).size).toBe(hostPorts.length);
    for (const [setting, port] of [
      ['HTTPS_PORT', '8443'],
      ['HTTP_PORT', '8080'],
      ['OPS_PORT', '9090'],
    ] as const) {
      expect(environment[setting]).toBe(port);
    }
  });

  it('starts the service when the schema is there and Temporal answers', () => {
    for (const part of ['postgres', 'temporal']) {
      expect(services[part].healthcheck).toMatchObject({
        test: expect.any(Array),
        interval: expect.any(String),
        timeout: expect.any(String),
        retries: expect.any(Number),
      });
    }
    expect(services.migrate.depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
    expect(services.migrate.command).toEqual(['./orgwallet', 'db', 'migrate']);
    expect(services.orgwallet.depends_on).toEqual({
      migrate: { condition: 'service_completed_successfully' },
      'temporal-namespace': { condition: 'service_completed_successfully' },
    });
    expect(services['temporal-namespace'].depends_on).toEqual({ temporal: { condition: 'service_healthy' } });
    expect(services.temporal.depends_on).toEqual({
      'temporal-schema': { condition: 'service_completed_successfully' },
    });
    expect(services['temporal-schema'].depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
  });

  it('keeps data in named volumes, and gives the service time to end what it does', () => {
    const mounted = Object.values<{ volumes?: string[] }>(services).flatMap(({ volumes = [] }) =>
      volumes.map((volume) => volume.split(':')[0]),
    );
    expect([...new Set(mounted)].sort()).toEqual(Object.keys(compose.volumes).sort());
    expect(services.orgwallet.volumes).toContain(`orgwallet:${environment.ORGWALLET_DATA_DIR}`);
    expect(Number.parseInt(services.orgwallet.stop_grace_period, 10)).toBeGreaterThanOrEqual(15);
  });
});

describe('docker-compose.production.yml', () => {
  const text = read('docker-compose.production.yml');
  const production = parse(text, { merge: true });
  const roles = ['signer', 'api', 'worker', 'chain'] as const;
  /** What is set outside; a secret that a role does not need is not there. */
  const given: Record<string, string> = { TEMPORAL_ADDRESS: 'temporal.example:7233' };
  const secrets: Record<string, string> = {
    'migration-database-url': 'postgres://orgwallet_owner:x@db.example/orgwallet',
    'database-url': 'postgres://orgwallet_service:x@db.example/orgwallet',
    'signer-database-url': 'postgres://orgwallet_signer:x@db.example/orgwallet',
    'keystore-passphrase': 'correct horse battery staple',
    'temporal-api-key': 'key',
  };
  /** As Compose has it: a value, a default, a message where it is missing, another value where it is set. */
  const interpolated = (value: string, set: Readonly<Record<string, string>>) =>
    value.replaceAll(/\$\{(\w+)(?::([-?+])([^}]*))?\}/g, (_, name: string, how = '', text = '') => {
      const own = set[name] ?? '';
      if (how === '+') return own === '' ? '' : text;
      if (own === '' && how === '?') throw new Error(`${name}: ${text}`);
      return own === '' ? text : own;
    });
  const settingsOf = (service: string, set = given): Record<string, string> =>
    Object.fromEntries(
      Object.entries<string>(production.services[service].environment).map(([name, value]) => [
        name,
        interpolated(value, set),
      ]),
    );
  /** The settings of a container, whose secrets are in a folder of their own here. */
  const settingsHere = (service: string, set = given): NodeJS.ProcessEnv => {
    const place = mkdtempSync(join(folder, `${service}-`));
    for (const name of production.services[service].secrets) {
      writeFileSync(join(place, name), `${secrets[name] ?? name}\n`);
    }
    const here = Object.entries(settingsOf(service, set)).map(([name, value]) => [
      name,
      value.replace('/run/secrets', place),
    ]);
    return { ...Object.fromEntries(here), NODE_ENV: 'production' };
  };

  it('runs the image for production with settings that are complete', () => {
    expect(Object.keys(production.services)).toEqual(['migrate', ...roles]);
    const networksFile = join(folder, 'production-networks.json');
    writeFileSync(networksFile, JSON.stringify([{ id: 1, name: 'One', rpcUrl: 'https://rpc.example' }]));
    for (const role of roles) {
      const { build, image } = production.services[role];
      expect(build).toMatchObject({ context: '.', target: 'production' });
      expect(image).toBe(`\${IMAGE:-orgwallet:${JSON.parse(read('package.json')).version}}`);
      const settings = settingsHere(role);
      expect(missingInProduction(settings)).toEqual([]);
      const config = loadConfig({ ...settings, NETWORKS_FILE: networksFile });
      expect(config).toMatchObject({
        roles: [role],
        ops: { host: '0.0.0.0', port: 9090, allowedHosts: [role] },
      });
      const login = role === 'signer' ? config.signerDatabaseUrl : config.databaseUrl;
      expect(login).toBe(secrets[role === 'signer' ? 'signer-database-url' : 'database-url']);
    }
    const known = knownSettings();
    const used = roles.flatMap((role) => Object.keys(settingsOf(role)));
    expect(used.filter((name) => !known.has(name))).toEqual([]);
  });

  it('gives each login, the keystore and the certificate to the process that needs it, and no rights to any', () => {
    const known = ['migrate', ...roles].map((service) => [service, ...production.services[service].secrets]);
    expect(known).toEqual([
      ['migrate', 'migration-database-url'],
      ['signer', 'signer-database-url', 'keystore-passphrase', 'temporal-api-key'],
      ['api', 'database-url', 'temporal-api-key', 'tls.crt', 'tls.key'],
      ['worker', 'database-url', 'temporal-api-key'],
      ['chain', 'database-url', 'temporal-api-key'],
    ]);
    expect(Object.keys(production.secrets).toSorted()).toEqual(
      [...new Set(known.flatMap(([, ...names]) => names))].toSorted(),
    );
    // In no environment, where `docker inspect` shows it.
    const values = ['migrate', ...roles].flatMap((service) => Object.values(settingsOf(service)));
    expect(values.filter((value) => /postgres:|DATABASE_URL|PASSPHRASE|API_KEY/.test(value))).toEqual([]);
    for (const service of Object.values(production.services)) {
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        tmpfs: ['/tmp'],
      });
    }
    const published = Object.values<{ ports?: string[] }>(production.services).flatMap(
      ({ ports = [] }) => ports,
    );
    expect(published.map(withDefaults)).toEqual(['8443:8443']);
  });

  it('marks the database as one of production', () => {
    expect(production.services.migrate.command).toEqual(['orgwallet', 'db', 'migrate', '--production']);
  });

  it('has the key of Temporal where its file is set, and none elsewhere', () => {
    const networksFile = join(folder, 'keyed-networks.json');
    writeFileSync(networksFile, JSON.stringify([{ id: 1, name: 'One', rpcUrl: 'https://rpc.example' }]));
    const keyOf = (set: Record<string, string>) =>
      loadConfig({ ...settingsHere('worker', set), NETWORKS_FILE: networksFile }).temporal.apiKey;
    expect(keyOf(given)).toBeUndefined();
    expect(keyOf({ ...given, TEMPORAL_API_KEY_FILE: './key' })).toBe('key');
    expect(interpolated(production.secrets['temporal-api-key'].file, given)).toBe('/dev/null');
  });

  it('gives each process the time to end that it may take', () => {
    // SHUTDOWN_DELAY is 0; a worker of an earlier build moves its workflows.
    for (const role of roles) {
      expect(Number.parseInt(production.services[role].stop_grace_period, 10)).toBeGreaterThanOrEqual(100);
    }
  });
});

describe('Dockerfile', () => {
  const stages = new Map(
    dockerfile
      .split(/^(?=FROM )/m)
      .slice(1)
      .map((text) => [/^FROM \S+ AS (\w+)$/m.exec(text)?.[1] ?? '', text]),
  );
  const {
    base = '',
    packages = '',
    build = '',
    development = '',
    production = '',
  } = Object.fromEntries(stages);
  const commandOf = (stage: string) => stage.trim().split('\n').at(-1);

  it('makes the image for production unless asked for another, on one fixed version of Node', () => {
    expect([...stages.keys()]).toEqual(['base', 'packages', 'build', 'development', 'production']);
    expect(dockerfile).toMatch(/^ARG NODE_IMAGE=node:24[\w.-]*-slim$/m);
    expect(base).toMatch(/^FROM \$\{NODE_IMAGE\} AS base$/m);
    expect(build).toMatch(/^FROM base AS build$/m);
    expect(dockerfile).not.toMatch(/:latest|npm install/);
  });

  it('runs as a user without rights, who owns the data folder', () => {
    expect(base).toMatch(/chown node:node \/data/);
    expect(base).toMatch(/^ENV ORGWALLET_DATA_DIR=\/data$/m);
    expect(base).toMatch(/^VOLUME \/data$/m);
    for (const stage of [development, production]) {
      expect(/^USER (\S+)$/m.exec(stage)?.[1]).toBe('node');
      expect(stage.indexOf('USER ')).toBeLessThan(stage.indexOf('CMD ["node", '));
    }
  });

  it('runs the service alone in production, with the packages of production', () => {
    expect(production).toMatch(/^FROM base AS production$/m);
    expect(production).toMatch(/^ENV NODE_ENV=production /m);
    expect(packages).toMatch(/^RUN npm ci --omit=dev$/m);
    expect(production).toMatch(/^COPY --from=packages \/app \.\/$/m);
    expect(production).toContain(`image.version="${JSON.parse(read('package.json')).version}"`);
    const copied = [...production.matchAll(/^COPY --from=build (.+) \S+$/gm)].flatMap(([, paths = '']) =>
      paths.split(' ').map((path) => path.replace(/^\/app\//, '')),
    );
    expect(copied).toEqual([
      'dist/src',
      'dist/activities',
      'dist/workflow-bundle.js',
      'dist/revision',
      'dist/rescue.html',
      'client/dist',
      'console/dist',
    ]);
    expect(commandOf(production)).toBe('CMD ["node", "dist/src/main.js"]');
  });

  it('runs the stack in development, as docker-compose.yml does, and installs nothing at start', () => {
    for (const service of OWN_IMAGES) {
      expect(services[service].build).toEqual({ context: '.', target: 'development' });
    }
    expect(development).toMatch(/^FROM build AS development$/m);
    expect(development).toMatch(/^ENV NODE_ENV=development ORGWALLET_PREBUILT=true$/m);
    expect(build).toMatch(/^RUN npm ci$/m);
    expect(build).toMatch(/^RUN ORGWALLET_REVISION=\$REVISION npm run build$/m);
    expect(commandOf(development)).toBe('CMD ["node", "tools/dev/start.mjs"]');
  });

  it('says whether it lives, whatever it waits for', () => {
    expect(base).toMatch(/^HEALTHCHECK /m);
    expect(base).toContain('/healthz');
    expect(base).toMatch(/^EXPOSE 8443 8080 9090$/m);
  });

  it('takes neither secrets nor data nor what was built outside into the image', () => {
    const ignored = read('.dockerignore').split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['.git', '.data', 'node_modules', 'dist', '.env']));
  });
});
