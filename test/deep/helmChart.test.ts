import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { loadConfig, missingInProduction } from '../../src/config';
import { projectRoot } from '../../src/projectRoot';
import { goProgram } from '../support/goProgram';
import { temporaryDir } from '../support/stack';

const run = promisify(execFile);

const HELM = { path: 'helm.sh/helm/v3/cmd/helm', version: 'v3.22.0' };
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
  readonly value?: string;
  readonly valueFrom?: { secretKeyRef: { name: string; key: string; optional?: boolean } };
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
  const { stdout } = await run(helm, ['template', 'wallets', chart, '--values', values]);
  objects = parseAllDocuments(stdout)
    .map((document) => document.toJS())
    .filter((object) => object !== null);
  networksFile = join(temporaryDir(), 'networks.json');
  writeFileSync(networksFile, JSON.stringify([{ id: 1, name: 'One', rpcUrls: ['https://rpc.example'] }]));
}, 900_000);

/** The pods that a role, or the migration, runs. */
function podOf(component: string): Rendered {
  const [workload] = objects.filter(
    ({ kind, metadata }) =>
      ['Deployment', 'StatefulSet', 'Job'].includes(kind) &&
      metadata.labels['app.kubernetes.io/component'] === component,
  );
  return workload.spec.template.spec;
}

/** The environment of the container, with what the Secrets contain. */
function environmentOf(component: string): NodeJS.ProcessEnv {
  const variables: Variable[] = podOf(component).containers[0].env;
  return Object.fromEntries(
    variables.flatMap(({ name, value, valueFrom }) => {
      if (!valueFrom) return [[name, value]];
      const { name: secret, key, optional } = valueFrom.secretKeyRef;
      const found = SECRETS[secret]?.[key];
      if (found === undefined && !optional) throw new Error(`${secret} has no ${key}`);
      return found === undefined ? [] : [[name, found]];
    }),
  );
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
    ...names.filter((name) => name in environmentOf(component)),
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
  expect(podOf('signer').securityContext.fsGroup).toBeUndefined();
});

it('runs everything without rights, on a file system that is not written', () => {
  for (const component of ['api', 'worker', 'chain', 'signer', 'migrate']) {
    const pod = podOf(component);
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    for (const { securityContext } of pod.containers) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  }
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
