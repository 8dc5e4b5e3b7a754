import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { parseAllDocuments, stringify } from 'yaml';
import { encodeSignature } from '../../src/chain/signatures';
import { loadConfig } from '../../src/config';
import { requireRow } from '../../src/db/rows';
import { projectRoot } from '../../src/projectRoot';
import { lastLogLines, type Part } from '../../tools/dev/parts';
import { spawned } from '../cli/command';
import { installPackages } from '../support/debianPackages';
import { goProgram } from '../support/goProgram';
import { HELM, VALIDATE } from '../support/helm';
import { HttpClient } from '../support/http';
import { blocksOf } from '../support/markdown';
import { payOnce } from '../support/payingOrganization';
import { PodHost } from '../support/podHost';
import { freePorts, sharedStack, startOwnPostgres, type TestDatabase, temporaryDir } from '../support/stack';
import { until } from '../support/until';

const LIMIT_MS = 900_000;
const PAGE = readFileSync(join(projectRoot(), 'docs', 'kubernetes.md'), 'utf8');

// biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes
type KubernetesObject = any;

const block = blocksOf(PAGE);

const objectsIn = (yaml: string): KubernetesObject[] =>
  parseAllDocuments(yaml)
    .map((document) => document.toJS())
    .filter((object) => object !== null);

let dir: string;
let postgres: Awaited<ReturnType<typeof startOwnPostgres>>;
let database: TestDatabase;
let helm: string;
let created: KubernetesObject[];
let rendered: KubernetesObject[];
let httpsPort: number;
const pods: Record<string, PodHost> = {};
const parts: Part[] = [];

/** Runs commands of the page in a folder with a project. */
async function run(commands: string): Promise<string> {
  const here = commands
    // What a cluster would store is written to a file.
    .replaceAll(
      /kubectl create secret [^;\n]*/g,
      (text) => `{ ${text} --dry-run=client --output yaml && echo ---; } >> created.yaml`,
    )
    .replaceAll('kubectl apply --filename -', 'cat > namespace.yaml')
    .replaceAll('helm install ', `${helm} template --namespace orgwallet `)
    .replaceAll(' --wait --timeout 15m', ' > rendered.yaml')
    // What a kubelet would run in the container, its script runs.
    .replaceAll(/kubectl exec (-i )?(\S+) -- /g, (_, __, target: string) => `${podAt(target).program} `)
    .replaceAll('postgres://orgwallet_owner:…@db.example/orgwallet', database.url)
    .replaceAll('postgres://orgwallet_service:…@db.example/orgwallet', database.serviceUrl)
    .replaceAll('postgres://orgwallet_signer:…@db.example/orgwallet', database.signerUrl);
  const shell = ['--norc', '-euo', 'pipefail', '-c', `cd ${dir}\n${here}`];
  const env = { KUBECONFIG: join(dir, 'kubeconfig') };
  const { status, stdout, stderr } = await spawned(env, 'bash', ...shell);
  if (status !== 0) throw new Error(`${here}\n${stdout}${stderr}`);
  return stdout;
}

/** The pod that `kubectl exec` would take. */
function podAt(target: string): PodHost {
  const name = target.replace(/^deploy\//, '').replace(/-0$/, '');
  return requireRow(pods[name]);
}

async function start(name: string, ports: NodeJS.ProcessEnv): Promise<void> {
  const workload = rendered.find(
    ({ kind, metadata }) => ['Job', 'Deployment', 'StatefulSet'].includes(kind) && metadata.name === name,
  );
  mkdirSync(join(dir, name));
  const pod = new PodHost(join(dir, name), workload, created, ports);
  pods[name] = pod;
  const programs = pod.programs;
  // A Job ends; the others run on.
  for (const program of workload.kind === 'Job' ? programs : programs.slice(0, -1)) {
    const { status, stdout, stderr } = await spawned({}, program);
    if (status !== 0) throw new Error(`${program}: ${stdout}${stderr}`);
  }
  if (workload.kind === 'Job') return;
  const part = pod.start();
  parts.push(part);
  await until(
    `${name} is ready`,
    async () => {
      if (!part.isRunning()) throw new Error(lastLogLines(part.logFile));
      return (await fetch(`http://127.0.0.1:${ports.OPS_PORT}/readyz`)).ok;
    },
    120_000,
  );
}

beforeAll(async () => {
  if (process.getuid?.() !== 0) throw new Error('this test needs root: pods run as their own user');
  if (!existsSync('/usr/bin/kubectl')) installPackages('kubernetes-client', 'openssl');
  helm = await goProgram(HELM);
  // By TCP: /tmp of a process, where the shared one has its socket, is its own.
  postgres = await startOwnPostgres();
  ({ database } = postgres);
  dir = temporaryDir();
  const { networksFile, tlsDir } = sharedStack();
  writeFileSync(join(dir, 'networks.json'), readFileSync(networksFile));
  writeFileSync(join(dir, 'tls.crt'), readFileSync(join(tlsDir, 'cert.pem')));
  writeFileSync(join(dir, 'tls.key'), readFileSync(join(tlsDir, 'key.pem')));
  execFileSync('ln', ['-s', join(projectRoot(), 'ops'), join(dir, 'ops')]);
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    contexts: [{ name: 'cluster', context: { cluster: 'cluster', user: 'operator' } }],
    'current-context': 'cluster',
  };
  writeFileSync(join(dir, 'kubeconfig'), stringify(kubeconfig));
}, LIMIT_MS);
afterAll(async () => {
  for (const part of parts.toReversed()) await part.stop();
  await postgres?.stop();
});

test(
  'the commands of the page lead from an empty namespace to an organization and a payment',
  async () => {
    await run(block('Create the Secrets', 'Namespace'));
    expect(readFileSync(join(dir, 'kubeconfig'), 'utf8')).toContain('namespace: orgwallet');
    await run(block('Create the Secrets', 'create secret'));
    expect(statSync(join(dir, 'signer.env')).mode & 0o077).toBe(0);
    created = objectsIn(readFileSync(join(dir, 'created.yaml'), 'utf8'));
    writeFileSync(join(dir, 'values.yaml'), block('Install', 'repository', 'yaml'));
    await run(block('Install', 'helm install'));
    rendered = objectsIn(readFileSync(join(dir, 'rendered.yaml'), 'utf8'));

    // The page names another Temporal; each process needs ports of its own here, where they share a network.
    const [signerOps, workerOps, chainOps, apiOps, https = 0, http] = await freePorts(6);
    httpsPort = https;
    const common = {
      TEMPORAL_ADDRESS: sharedStack().temporalAddress,
      TEMPORAL_TASK_QUEUE: `kubernetes-${signerOps}`,
      // The server of the tests is older than the one that builds need.
      TEMPORAL_BUILD_ID: '',
    };
    await start('wallets-migrate', {});
    await start('wallets-signer', { ...common, OPS_PORT: String(signerOps) });
    await run(block('Install', 'keystore backup'));
    expect(JSON.parse(readFileSync(join(dir, 'keystore-backup.json'), 'utf8'))).toHaveProperty('cipher');
    await start('wallets-worker', { ...common, OPS_PORT: String(workerOps) });
    await start('wallets-chain', { ...common, OPS_PORT: String(chainOps) });
    await start('wallets-api', {
      ...common,
      ...{ OPS_PORT: String(apiOps), HTTPS_PORT: String(https), HTTP_PORT: String(http) },
    });

    // The organization.
    const wallets = [0, 1].map(() => privateKeyToAccount(generatePrivateKey()));
    const members = wallets.map(({ address }, index) => ({
      name: ['Ann', 'Bot'][index],
      type: ['user', 'api'][index],
      walletAddress: address,
      admin: true,
    }));
    writeFileSync(join(dir, 'org.json'), JSON.stringify({ name: 'Acme', threshold: 2, members }));
    const shown = await run(block('Found the organization', 'org create'));
    const [id = ''] = /org_\w+/.exec(shown) ?? [];
    const bot = /(mem_\w+).*Bot|Bot.*(mem_\w+)/.exec(shown);
    await run(block('Found the organization', 'org genesis').replaceAll('org_…', id));
    const genesis = JSON.parse(readFileSync(join(dir, 'genesis.json'), 'utf8'));
    for (const wallet of wallets) {
      const signature = encodeSignature(wallet.address, await wallet.signTypedData(genesis));
      await run(
        block('Found the organization', 'org sign').replaceAll('org_…', id).replaceAll('0x…', signature),
      );
    }
    const [hash = ''] = /0x[0-9a-f]{64}/.exec(shown) ?? [];
    const issued = await run(
      block('Found the organization', 'signer admit')
        .replaceAll('org_…', id)
        .replaceAll('0x…', hash)
        .replaceAll('mem_…', bot?.[1] ?? bot?.[2] ?? ''),
    );
    expect(issued).toMatch(/key_\w+/);

    // A payment.
    const signer = podAt('wallets-signer-0');
    const [{ data }] = created.filter(({ metadata }) => metadata.name === 'orgwallet-signer');
    const env = {
      MIGRATION_DATABASE_URL: database.url,
      KEYSTORE_PASSPHRASE: Buffer.from(data.KEYSTORE_PASSPHRASE, 'base64').toString(),
    };
    const config = loadConfig({
      NETWORKS_FILE: sharedStack().networksFile,
      KEYSTORE_FILE: signer.fileOf('data', 'signer', 'keystore.json'),
    });
    const client = new HttpClient(httpsPort, readFileSync(join(dir, 'tls.crt'), 'utf8'));
    await payOnce({ env, config, http: client });
    client.close();
    expect(await run(block('Pay', 'doctor'))).toMatch(/ok +workflows/);
  },
  LIMIT_MS,
);

it.each(['1.27', '1.30'])(
  'everything that the page creates is valid in Kubernetes %s',
  async (version) => {
    const validate = await goProgram(VALIDATE);
    const file = join(dir, `all-${version}.yaml`);
    const namespace = objectsIn(readFileSync(join(dir, 'namespace.yaml'), 'utf8'));
    writeFileSync(
      file,
      [...namespace, ...created, ...rendered].map((object) => stringify(object)).join('---\n'),
    );
    const { status, stdout, stderr } = await spawned({}, validate, '--version', version, file);
    expect({ status, said: `${stdout}${stderr}` }).toMatchObject({
      status: 0,
      said: expect.stringContaining('OK'),
    });
  },
  LIMIT_MS,
);

it('every pod has what the namespace demands of it', () => {
  const workloads = rendered.filter(({ kind }) => ['Job', 'Deployment', 'StatefulSet'].includes(kind));
  expect(workloads.map(({ metadata }) => metadata.name).toSorted()).toEqual([
    'wallets-api',
    'wallets-chain',
    'wallets-migrate',
    'wallets-signer',
    'wallets-worker',
  ]);
  for (const { spec } of workloads) {
    const {
      securityContext,
      containers,
      initContainers = [],
      hostNetwork,
      hostPID,
      volumes,
    } = spec.template.spec;
    expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect([hostNetwork, hostPID]).toEqual([undefined, undefined]);
    expect(volumes.flatMap(({ hostPath }: KubernetesObject) => hostPath ?? [])).toEqual([]);
    for (const container of [...containers, ...initContainers]) {
      expect(container.securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      });
    }
  }
});
