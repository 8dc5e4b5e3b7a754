import { execFile } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { loadConfig, missingInProduction } from '../../src/config';
import { projectRoot } from '../../src/projectRoot';
import { createOrOpenKeystore } from '../../src/signer/keys/keystore';
import { goProgram } from '../support/goProgram';
import { HELM, VALIDATE } from '../support/helm';
import { temporaryDir } from '../support/stack';

const run = promisify(execFile);

const chart = join(projectRoot(), 'ops', 'helm');
/** Beyond SHUTDOWN_DELAY, as docs/monitoring.md says. */
const STOP_SECONDS = 70;

/** What the Secrets of an operator contain, by their names in values.yaml. */
const SECRETS: Readonly<Record<string, Record<string, string>>> = {
  'orgwallet-service': { DATABASE_URL: 'postgres://orgwallet_service:x@db.example/orgwallet' },
  'orgwallet-signer': {
    SIGNER_DATABASE_URL: 'postgres://orgwallet_signer:x@db.example/orgwallet',
    KEYSTORE_PASSPHRASE: 'correct horse battery staple',
  },
  'orgwallet-migration': { MIGRATION_DATABASE_URL: 'postgres://orgwallet_owner:x@db.example/orgwallet' },
};

interface Variable {
  readonly name: string;
  readonly value: string;
}

/** One secret in a volume. */
interface SecretSource {
  readonly secret: { readonly name: string; readonly items: readonly [{ key: string; path: string }] };
}

// biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes
type Rendered = any;

let helm: string;
let objects: Rendered[];
let networksFile: string;

beforeAll(async () => {
  helm = await goProgram(HELM);
  const values = join(temporaryDir(), 'values.yaml');
  writeFileSync(values, 'settings:\n  TEMPORAL_ADDRESS: temporal.example:7233\n  MAX_GAS: 12000000\n');
  objects = await rendered('--values', values);
  networksFile = join(temporaryDir(), 'networks.json');
  writeFileSync(networksFile, JSON.stringify([{ id: 1, name: 'One', rpcUrls: ['https://rpc.example'] }]));
}, 900_000);

/** The objects that the chart makes of the one required value and more. */
async function rendered(...args: readonly string[]): Promise<Rendered[]> {
  const required = ['--set', 'settings.TEMPORAL_ADDRESS=temporal.example:7233'];
  const { stdout } = await run(helm, ['template', 'wallets', chart, ...required, ...args]);
  return parseAllDocuments(stdout)
    .map((document) => document.toJS())
    .filter((object) => object !== null);
}

const ofKind = (all: readonly Rendered[], wanted: string) => all.filter(({ kind }) => kind === wanted);

/** The pods that a role, or the migration, runs. */
function podOf(component: string, all: readonly Rendered[] = objects): Rendered {
  const [workload] = all.filter(
    ({ kind, metadata }) =>
      ['Deployment', 'StatefulSet', 'Job'].includes(kind) &&
      metadata.labels['app.kubernetes.io/component'] === component,
  );
  return workload.spec.template.spec;
}

/** The variables of the container: no value comes out of a Secret. */
function variablesOf(component: string, all: readonly Rendered[] = objects): Record<string, string> {
  const variables: Variable[] = podOf(component, all).containers[0].env;
  for (const variable of variables) expect(Object.keys(variable)).toEqual(['name', 'value']);
  return Object.fromEntries(variables.map(({ name, value }) => [name, value]));
}

/** What the files of Secrets in a pod are of: Secret and key, by their paths. */
function secretFilesOf(component: string, all: readonly Rendered[] = objects): Record<string, string> {
  const pod = podOf(component, all);
  const volume = pod.volumes.find(({ name }: Rendered) => name === 'secrets');
  const mount = pod.containers[0].volumeMounts.find(({ name }: Rendered) => name === 'secrets');
  expect(mount !== undefined).toBe(volume !== undefined);
  if (!volume) return {};
  expect(mount).toMatchObject({ readOnly: true });
  const sources: SecretSource[] = volume.projected.sources;
  return Object.fromEntries(
    sources.map(({ secret: { name, items } }) => {
      const [{ key, path }] = items;
      return [join(mount.mountPath, path), `${name}/${key}`];
    }),
  );
}

/** The settings of the container, with the files of Secrets that this machine has instead. */
function environmentOf(component: string): NodeJS.ProcessEnv {
  const sources = secretFilesOf(component);
  const folder = temporaryDir();
  const used = new Set<string>();
  const settings = Object.entries(variablesOf(component)).map(([name, value]) => {
    const source = sources[value];
    if (source === undefined) return [name, value];
    const [secret = '', key = ''] = source.split('/');
    const found = SECRETS[secret]?.[key];
    if (found === undefined) throw new Error(`${secret} has no ${key}`);
    used.add(value);
    const file = join(folder, name);
    writeFileSync(file, found);
    return [name, file];
  });
  // Each file is named by a setting.
  expect([...used].toSorted()).toEqual(Object.keys(sources).toSorted());
  return Object.fromEntries(settings);
}

it('passes the linter, with its one required value', async () => {
  const { stdout } = await run(helm, [
    'lint',
    '--strict',
    chart,
    ...['--set', 'settings.TEMPORAL_ADDRESS=temporal.example:7233'],
  ]);
  expect(stdout).toContain('0 chart(s) failed');
  await expect(run(helm, ['template', chart])).rejects.toThrow(/settings\.TEMPORAL_ADDRESS is needed/);
});

it('has the version of the service', () => {
  const { version } = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8'));
  expect(podOf('api').containers[0].image).toBe(`orgwallet:${version}`);
});

it('gives the workers of each upgrade a build of their own', () => {
  const { version } = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8'));
  expect(environmentOf('worker').TEMPORAL_BUILD_ID).toBe(`${version}-1`);
  expect(environmentOf('chain')).not.toHaveProperty('TEMPORAL_BUILD_ID');
});

it.each(['api', 'worker', 'chain', 'signer'])('starts %s with settings that are complete', (role) => {
  const production: NodeJS.ProcessEnv = { ...environmentOf(role), NODE_ENV: 'production' };
  expect(missingInProduction(production)).toEqual([]);
  expect(production.NETWORKS_FILE).toBe('/etc/orgwallet/networks.json');
  const config = loadConfig({ ...production, NETWORKS_FILE: networksFile });
  expect(config).toMatchObject({ roles: [role], ops: { host: '0.0.0.0', port: 9090 }, maxGas: 12_000_000n });
  const seconds = podOf(role).terminationGracePeriodSeconds;
  expect(seconds).toBeGreaterThanOrEqual(config.shutdownDelayMs / 1_000 + STOP_SECONDS);
});

it('gives each login to the pods that need it, and keystore and journal to the signer alone', () => {
  const names = ['DATABASE_URL', 'SIGNER_DATABASE_URL', 'KEYSTORE_PASSPHRASE', 'MIGRATION_DATABASE_URL'];
  const known = ['api', 'worker', 'chain', 'signer', 'migrate'].map((component) => [
    component,
    ...names.filter((name) => `${name}_FILE` in environmentOf(component)),
  ]);
  expect(known).toEqual([
    ['api', 'DATABASE_URL'],
    ['worker', 'DATABASE_URL'],
    ['chain', 'DATABASE_URL'],
    ['signer', 'SIGNER_DATABASE_URL', 'KEYSTORE_PASSPHRASE'],
    ['migrate', 'MIGRATION_DATABASE_URL'],
  ]);
  const [signer] = objects.filter(({ kind }) => kind === 'StatefulSet');
  expect(signer.spec.replicas).toBe(1);
  expect(signer.spec.volumeClaimTemplates).toMatchObject([{ metadata: { name: 'data' } }]);
  expect(signer.spec.persistentVolumeClaimRetentionPolicy.whenDeleted).toBe('Retain');
});

it('runs everything without rights, on a file system that is not written, and nothing as root', () => {
  for (const component of ['api', 'worker', 'chain', 'signer', 'migrate']) {
    const pod = podOf(component);
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    for (const { securityContext } of [...pod.containers, ...(pod.initContainers ?? [])]) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  }
});

it('lets the signer write a new volume, and takes its files from the group of the volume', async () => {
  const pod = podOf('signer');
  expect(pod.securityContext).toMatchObject({ fsGroup: 1000, fsGroupChangePolicy: 'OnRootMismatch' });
  expect(environmentOf('signer').ORGWALLET_DATA_DIR).toBe('/data/signer');
  // As the kubelet leaves a volume that it gives to a group.
  const volume = temporaryDir();
  chmodSync(volume, 0o2770);
  const [, , script = ''] = pod.initContainers[0].command;
  const close = () => run('sh', ['-euc', script.replaceAll('/data', volume)]);
  const opened = () =>
    createOrOpenKeystore({
      file: join(volume, 'signer', 'keystore.json'),
      passphrase: 'correct horse battery staple',
      cost: 2 ** 14,
    });
  await close();
  await opened();
  chmodSync(join(volume, 'signer', 'keystore.json'), 0o660);
  await expect(opened()).rejects.toThrow(/lets others access it/);
  await close();
  await opened();
});

it('has objects that Kubernetes takes', async () => {
  const validate = await goProgram(VALIDATE);
  const all = await rendered(...EVERYTHING);
  const file = join(temporaryDir(), 'rendered.yaml');
  // The operator of Prometheus has its own kinds, which are not known there.
  const builtIn = all.filter(({ apiVersion }) => !apiVersion.startsWith('monitoring.coreos.com/'));
  writeFileSync(file, builtIn.map((object) => stringify(object)).join('---\n'));
  const { stdout, stderr } = await run(validate, ['--version', '1.30', file]);
  expect(`${stdout}${stderr}`).toContain('OK');
}, 900_000);

const CA = { name: 'ca', secret: { secretName: 'ca' } };
const CA_MOUNT = { name: 'ca', mountPath: '/ca' };
const EVERYTHING = [
  ...['--set-json', `extraVolumes=${JSON.stringify([CA])}`],
  ...['--set-json', `extraVolumeMounts=${JSON.stringify([CA_MOUNT])}`],
  ...[
    '--set-json',
    'extraEnv=[{"name":"ALL","value":"1"}]',
    '--set-json',
    'chain.extraEnv=[{"name":"ONE","value":"2"}]',
  ],
  ...['--set', 'secretKeys.DATABASE_URL=uri', '--set', 'secrets.signer=', '--set', 'secrets.temporal='],
  ...['--set', 'signer.storage.existingClaim=vault'],
  ...['--set', 'monitoring.serviceMonitor.enabled=true,monitoring.prometheusRule.enabled=true'],
  ...['--set', 'monitoring.prometheusRule.docsUrl=https://wiki.internal/orgwallet/'],
];

describe("an operator's own", () => {
  let all: Rendered[];

  beforeAll(async () => {
    all = await rendered(...EVERYTHING);
  });

  it('volumes and variables reach every process and the migration, and those of a role it alone', () => {
    for (const component of ['api', 'worker', 'chain', 'signer', 'migrate']) {
      const pod = podOf(component, all);
      expect(pod.volumes).toContainEqual(CA);
      expect(pod.containers[0].volumeMounts).toContainEqual(CA_MOUNT);
      const names = pod.containers[0].env.map(({ name }: { name: string }) => name);
      expect(names).toContain('ALL');
      expect(names.includes('ONE')).toBe(component === 'chain');
      expect(new Set(names).size).toBe(names.length);
    }
  });

  it('Secrets have the keys that they have, and one without a name is not asked for', () => {
    const file = '/etc/orgwallet-secrets/DATABASE_URL';
    expect(variablesOf('api', all)).toMatchObject({ DATABASE_URL_FILE: file });
    expect(secretFilesOf('api', all)).toEqual({ [file]: 'orgwallet-service/uri' });
    expect(variablesOf('signer', all)).not.toHaveProperty('KEYSTORE_PASSPHRASE_FILE');
    expect(secretFilesOf('signer', all)).toEqual({});
    expect(variablesOf('api', all)).not.toHaveProperty('TEMPORAL_API_KEY_FILE');
  });

  it('API key of Temporal is given to every role, and not to the migration', async () => {
    const keyed = await rendered('--set', 'secrets.temporal=cloud');
    const file = '/etc/orgwallet-secrets/TEMPORAL_API_KEY';
    for (const role of ['api', 'worker', 'chain', 'signer']) {
      expect(variablesOf(role, keyed)).toMatchObject({ TEMPORAL_API_KEY_FILE: file });
      expect(secretFilesOf(role, keyed)).toMatchObject({ [file]: 'cloud/TEMPORAL_API_KEY' });
    }
    expect(secretFilesOf('migrate', keyed)).not.toHaveProperty([file]);
  });

  it('claim is used instead of a new one', () => {
    const [signer] = ofKind(all, 'StatefulSet');
    expect(signer.spec.volumeClaimTemplates).toBeUndefined();
    expect(podOf('signer', all).volumes).toContainEqual({
      name: 'data',
      persistentVolumeClaim: { claimName: 'vault' },
    });
  });

  it('Prometheus finds all processes, also those that are not ready, under the job that the rules expect', () => {
    const [monitor] = ofKind(all, 'ServiceMonitor');
    const scraped = ofKind(all, 'Service').filter(({ metadata }) =>
      Object.entries(monitor.spec.selector.matchLabels).every(
        ([name, value]) => metadata.labels[name] === value,
      ),
    );
    expect(scraped).toHaveLength(1);
    expect(scraped[0].metadata.labels[monitor.spec.jobLabel]).toBe('orgwallet');
    expect(scraped[0].spec).toMatchObject({ publishNotReadyAddresses: true, clusterIP: 'None' });
    const selected = [...ofKind(all, 'Deployment'), ...ofKind(all, 'StatefulSet'), ...ofKind(all, 'Job')]
      .filter(({ spec }) =>
        Object.entries(scraped[0].spec.selector).every(
          ([name, value]) => spec.template.metadata.labels[name] === value,
        ),
      )
      .map(({ metadata }) => metadata.name);
    expect(selected.toSorted()).toEqual(['wallets-api', 'wallets-chain', 'wallets-signer', 'wallets-worker']);
  });

  it('rules are those of ops/alerts.yml, with links to the pages of the operator', () => {
    const [rule] = ofKind(all, 'PrometheusRule');
    const own = readFileSync(join(projectRoot(), 'ops', 'alerts.yml'), 'utf8');
    const linked = own.replaceAll('https://docs.example.com/orgwallet', 'https://wiki.internal/orgwallet');
    expect(rule.spec).toEqual(parse(linked));
  });
});

it('is not rendered with a value that does not exist, or of another type', async () => {
  await expect(rendered('--set', 'api.replica=3')).rejects.toThrow(/replica/);
  await expect(rendered('--set', 'worker.replicas=none')).rejects.toThrow(/replicas/);
  await expect(rendered('--set', 'monitoring.prometheusRule.enabled=true')).rejects.toThrow(
    /docsUrl is needed/,
  );
});

it('spreads pods over zones and hosts, and lets nobody but the monitoring reach ops ports', () => {
  for (const role of ['api', 'worker', 'chain']) {
    expect(podOf(role).topologySpreadConstraints).toMatchObject(
      ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'].map((topologyKey) => ({
        topologyKey,
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: { 'app.kubernetes.io/component': role } },
      })),
    );
  }
  const monitoring = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } };
  const ops = { ports: [{ port: 'ops' }], from: [monitoring] };
  const policies = ofKind(objects, 'NetworkPolicy').map(({ spec }) => [
    spec.podSelector.matchLabels['app.kubernetes.io/component'],
    spec.ingress,
  ]);
  expect(Object.fromEntries(policies)).toEqual({
    api: [ops, { ports: [{ port: 'https' }] }],
    worker: [ops],
    chain: [ops],
    signer: [ops],
  });
});

it('asks each process whether it lives and is ready, and sends requests to the API alone', () => {
  for (const role of ['api', 'worker', 'chain', 'signer']) {
    expect(podOf(role).containers[0]).toMatchObject({
      startupProbe: { httpGet: { path: '/healthz', port: 'ops' }, failureThreshold: 120 },
      livenessProbe: { httpGet: { path: '/healthz', port: 'ops' } },
      readinessProbe: { httpGet: { path: '/readyz', port: 'ops' } },
    });
  }
  const [service] = objects.filter(({ kind, metadata }) => kind === 'Service' && metadata.name === 'wallets');
  expect(service.spec).toMatchObject({
    selector: { 'app.kubernetes.io/component': 'api' },
    ports: [{ port: 443, targetPort: 'https' }],
  });
});
