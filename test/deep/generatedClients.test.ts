import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeAccount, type Shown } from '../support/api';
import { operations, sessionOperations } from '../support/document';
import { goProgram } from '../support/goProgram';
import { codeBlocks, sectionBelow } from '../support/markdown';
import { startReceiver } from '../support/receiver';
import { sharedService, type TestOrganization, type TestService } from '../support/service';
import { endpointOf, fundOnLocalChain, temporaryDir } from '../support/stack';
import { aTransactionBody, makePolicies } from '../support/transactionApi';
import { NETWORK_ID } from '../support/transactions';
import { until } from '../support/until';

const ROOT = join(__dirname, '../..');
const PROGRAMS = join(__dirname, 'generated');
const OAPI_CODEGEN = { path: 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen', version: 'v2.8.2' };
const ALL = [...operations, ...sessionOperations];
/** Packages are downloaded. */
const INSTALL_LIMIT_MS = 600_000;
const LIMIT_MS = 300_000;

let service: TestService;
let org: TestOrganization;
let folder: string;
let account: Shown;
let policy: Shown;

/** Runs a program in the folder of these tests. Throws with its output if it fails. */
async function run(program: string, args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<string> {
  const path = `${join(folder, 'venv/bin')}:${process.env.PATH}`;
  const env = { ...process.env, PATH: path, PYTHONDONTWRITEBYTECODE: '1', ...more };
  const options = { cwd: more.PWD ?? folder, env, maxBuffer: 100_000_000 };
  try {
    const { stdout } = await promisify(execFile)(program, args, options);
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/** openapi-generator, which is a Java program: its Python package brings one. */
const generate = (name: string, output: string, properties: string) =>
  run('openapi-generator-cli', [
    'generate',
    ...['-i', 'openapi.json', '-g', name, '-o', output, `--additional-properties=${properties}`],
  ]);

/** What the programs in `generated/` need to pay somebody. */
function paymentEnv(to: string): NodeJS.ProcessEnv {
  return {
    BASE_URL: JSON.parse(readFileSync(join(folder, 'openapi.json'), 'utf8')).servers[0].url,
    API_KEY: org.adminKey,
    CA_FILE: service.config.tls.certFile,
    NODE_EXTRA_CA_CERTS: service.config.tls.certFile,
    PRIVATE_KEY: org.dave.privateKey,
    PAYMENT: JSON.stringify(aTransactionBody(org, { account, policy, to })),
  };
}

/** Runs the commands of a section of a page, beside `docs/examples` and what `npm start` would have written. */
async function runPage(file: string, section: string, to: string): Promise<string> {
  const demo = {
    baseUrl: `https://localhost:${service.config.httpsPort}/api/v1`,
    caFile: service.config.tls.certFile,
    apiKeys: [{ key: org.adminKey }],
    members: [{ walletAddress: org.dave.wallet.address, privateKey: org.dave.privateKey }],
    networks: [{ id: NETWORK_ID }],
  };
  writeFileSync(join(folder, 'demo.json'), JSON.stringify(demo));
  const page = readFileSync(join(ROOT, file), 'utf8');
  const commands = codeBlocks(sectionBelow(page, section));
  const work = temporaryDir();
  for (const part of ['docs/examples', 'docs/vectors.json']) {
    cpSync(join(ROOT, part), join(work, part), { recursive: true });
  }
  return run('bash', ['-euo', 'pipefail', '-c', commands.join('\n')], {
    PWD: work,
    ORGWALLET_DATA_DIR: folder,
    API: demo.baseUrl,
    CA: demo.caFile,
    ACCOUNT: account.id,
    POLICY: policy.id,
    RECIPIENT: to,
  });
}

const aRecipient = (digit: number) => `0x${'0'.repeat(36)}a11${digit}`;

/** Compiles a program of `generated/` with the client in `work/client`, and runs it. */
async function payInTypeScript(work: string, program: string, to: string): Promise<string> {
  cpSync(join(PROGRAMS, program), join(folder, work, 'pay.ts'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, work, 'node_modules'));
  const compilerOptions = {
    target: 'es2022',
    module: 'nodenext',
    strict: true,
    skipLibCheck: true,
    types: ['node'],
    outDir: 'dist',
  };
  const settings = { compilerOptions, include: ['pay.ts', 'client/**/*.ts'] };
  writeFileSync(join(folder, work, 'tsconfig.json'), JSON.stringify(settings));
  await run('npx', ['tsc', '-p', 'tsconfig.json'], { PWD: join(folder, work) });
  return run('node', [`${work}/dist/pay.js`], paymentEnv(to));
}

/** Builds a program of `generated/go` with the client in `work/orgwallet`, and runs it. */
async function payInGo(work: string, program: string, to: string): Promise<string> {
  cpSync(join(PROGRAMS, 'go'), join(folder, work), { recursive: true });
  await run('go', ['build', '-o', 'pay', `./${program}`], { PWD: join(folder, work) });
  return run(`./${work}/pay`, [], paymentEnv(to));
}

/** What a program has printed that has paid, and has read the proposals of the organization. */
const PAID = /^txn_\w+ completed\naccounts\/create policies\/create\n$/;

beforeAll(async () => {
  service = await sharedService();
  org = await service.createOrganization();
  folder = temporaryDir();
  account = await makeAccount(service.http, org, { networkIds: [NETWORK_ID] });
  const anything = {
    name: 'Everything',
    type: 'AUTO_APPROVAL',
    transactionType: 'ANY',
    networkId: NETWORK_ID,
    accountIds: null,
    initiatorSetting: null,
  };
  [policy] = (await makePolicies(service.http, org, anything)) as [Shown];
  const network = service.config.networks.find(({ id }) => id === NETWORK_ID);
  if (!network) throw new Error('the local chain is not configured');
  await fundOnLocalChain(endpointOf(network), account.address);
  const { text } = await service.http.send({
    path: '/openapi.json',
    headers: { host: `localhost:${service.config.httpsPort}` },
  });
  writeFileSync(join(folder, 'openapi.json'), text);
  await run('python3', ['-m', 'venv', 'venv']);
  await run('pip', ['install', '--quiet', '-r', join(PROGRAMS, 'requirements.txt')]);
}, INSTALL_LIMIT_MS);
afterAll(async () => {
  await service?.stop();
});

describe('the library of Standard Webhooks for Python', () => {
  it(
    'verifies a request of a webhook, with both secrets while one is rotated',
    async () => {
      const receiver = await startReceiver();
      try {
        const hooks = '/api/v1/webhooks';
        const ask = { key: org.adminKey, path: hooks };
        const { id } = (await service.http.send({ ...ask, body: { url: receiver.url } })).body.data;
        await service.http.send({ ...ask, path: `${hooks}/${id}/rotate`, body: {} });
        const rotated = () => receiver.received.find(({ event }) => event.type === 'webhook.rotated');
        const { headers, body } = await until('it was sent', async () => rotated());
        const { secrets } = (await service.http.send({ ...ask, path: `${hooks}/${id}/secrets` })).body.data;
        const file = join(folder, 'webhook.json');
        writeFileSync(file, JSON.stringify({ headers, body }));
        const program = join(PROGRAMS, 'verify_webhook.py');
        const printed = await run('python', [program, file, ...secrets.map(({ secret }: Shown) => secret)]);
        expect(printed).toBe('webhook.rotated\nwebhook.rotated\n');
        await service.http.send({ ...ask, method: 'DELETE', path: `${hooks}/${id}` });
      } finally {
        receiver.close();
      }
    },
    LIMIT_MS,
  );
});

describe('the client of openapi-python-client', () => {
  it(
    'has every operation, with a type for its body and each of its responses',
    async () => {
      const options = ['--meta', 'none', '--output-path', 'client', '--fail-on-warning'];
      await run('openapi-python-client', ['generate', '--path', 'openapi.json', ...options]);
      const files = readdirSync(join(folder, 'client/api'), { recursive: true, encoding: 'utf8' });
      const modules = new Map(
        files
          .filter((file) => file.endsWith('.py') && !file.endsWith('__init__.py'))
          .map((file) => [file.split('/').at(-1), readFileSync(join(folder, 'client/api', file), 'utf8')]),
      );
      expect([...modules.keys()].sort()).toEqual(ALL.map(({ id }) => moduleOf(id)).sort());
      for (const { id, body } of ALL) {
        const text = modules.get(moduleOf(id)) ?? '';
        const [, response = 'none'] =
          /^def sync_detailed\([\s\S]*?\) -> Response\[(.*)\]:$/m.exec(text) ?? [];
        expect([id, response]).toEqual([id, expect.stringMatching(/^(Error \| \w+|\w+ \| Error)$/)]);
        const [, request] = /^ {4}body: (.*),$/m.exec(text) ?? [];
        expect([id, request !== undefined]).toEqual([id, body !== undefined]);
        expect([id, request]).not.toEqual([id, 'Any']);
      }
    },
    LIMIT_MS,
  );

  it(
    'signs as the vectors, and pays as docs/python.md shows',
    async () => {
      expect(await runPage('docs/python.md', 'A payment', aRecipient(1))).toMatch(
        /txn_\w+: Send 0\.01 "ETH" .*\nFrom the account .*\ncompleted in block \d+: 0x\w{64}\n$/,
      );
    },
    INSTALL_LIMIT_MS,
  );
});

describe('the clients of openapi-generator', () => {
  it(
    'pay in Python',
    async () => {
      await generate('python', 'python', 'packageName=orgwallet_api');
      await run('pip', ['install', '--quiet', './python']);
      const env = { ...paymentEnv(aRecipient(2)), PYTHONPATH: join(ROOT, 'docs/examples') };
      expect(await run('python', [join(PROGRAMS, 'pay.py')], env)).toMatch(PAID);
    },
    LIMIT_MS,
  );

  it(
    'pay in TypeScript (typescript-fetch), compiled in strict mode',
    async () => {
      await generate('typescript-fetch', 'fetch/client', 'supportsES6=true');
      expect(await payInTypeScript('fetch', 'pay.ts', aRecipient(3))).toMatch(PAID);
    },
    LIMIT_MS,
  );

  it(
    'pay in Go, their enums prefixed, and the variants of a response read from its kind',
    async () => {
      const properties =
        'packageName=orgwallet,enumClassPrefix=true,useOneOfDiscriminatorLookup=true,withGoMod=false';
      await generate('go', 'openapi-go/orgwallet', properties);
      // Its tests import the package by a name of their own.
      rmSync(join(folder, 'openapi-go/orgwallet/test'), { recursive: true });
      expect(await payInGo('openapi-go', 'openapi-generator', aRecipient(5))).toMatch(PAID);
    },
    INSTALL_LIMIT_MS,
  );
});

describe("the client of openapi-generator's java", () => {
  it(
    'pays, built with Maven',
    async () => {
      const packages = 'apiPackage=orgwallet.api,modelPackage=orgwallet.model,invokerPackage=orgwallet';
      const artifact = 'groupId=orgwallet,artifactId=orgwallet-client,artifactVersion=1.0.0';
      cpSync(join(PROGRAMS, 'java'), join(folder, 'java'), { recursive: true });
      await generate('java', 'java/client', `${artifact},${packages}`);
      await run('mvn', ['-q', '-B', 'package', '-Dmaven.test.skip=true'], { PWD: join(folder, 'java') });
      const built = join(folder, 'java/pay/target');
      const classes = `${built}/pay-1.0.0.jar:${built}/lib/*`;
      expect(await run('java', ['-cp', classes, 'Pay'], paymentEnv(aRecipient(8)))).toMatch(PAID);
    },
    INSTALL_LIMIT_MS,
  );
});

describe('the client of Hey API', () => {
  it(
    'pays in TypeScript, compiled in strict mode',
    async () => {
      const packages = ['typescript@5.9.3', '@hey-api/openapi-ts@0.99.0'];
      const from = packages.flatMap((name) => ['--package', name]);
      await run('npx', ['--yes', ...from, 'openapi-ts', '-i', 'openapi.json', '-o', 'hey-api/client']);
      expect(await payInTypeScript('hey-api', 'payHeyApi.ts', aRecipient(6))).toMatch(PAID);
    },
    INSTALL_LIMIT_MS,
  );
});

describe("Den's SDK", () => {
  it(
    'pays as docs/den-sdk.md shows',
    async () => {
      expect(await runPage('docs/den-sdk.md', 'A payment', aRecipient(7))).toMatch(/^txn_\w+ completed$/m);
    },
    INSTALL_LIMIT_MS,
  );
});

describe('the client of oapi-codegen', () => {
  it(
    'signs as the vectors, and pays as docs/go.md shows',
    async () => {
      expect(await runPage('docs/go.md', 'A payment', aRecipient(9))).toMatch(
        /^ok .*\/sign.*\n(?:.*\n)*txn_\w+: Send 0\.01 "ETH" .*\n(?:.*\n)*completed: txn_\w+\n$/m,
      );
    },
    INSTALL_LIMIT_MS,
  );

  it(
    'pays in Go',
    async () => {
      const codegen = await goProgram(OAPI_CODEGEN);
      mkdirSync(join(folder, 'oapi-codegen/orgwallet'), { recursive: true });
      const options = ['-generate', 'types,client', '-package', 'orgwallet'];
      await run(codegen, [...options, '-o', 'oapi-codegen/orgwallet/client.go', 'openapi.json']);
      expect(await payInGo('oapi-codegen', 'oapi-codegen', aRecipient(4))).toMatch(PAID);
    },
    INSTALL_LIMIT_MS,
  );
});

/** proposeMembersCreate is in propose_members_create.py. */
function moduleOf(operationId: string): string {
  return `${operationId.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}.py`;
}
