import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { projectRoot } from '../../src/projectRoot';

const root = projectRoot();
const FOLDERS = ['src', 'activities', 'workflows', 'client', 'console', 'tools'];

/** `rule file → file` for each import that the rules of the project refuse, in the project or in a folder like it. */
function refused(dir: string, folders: readonly string[]): string[] {
  const program = join(root, 'node_modules', 'dependency-cruiser', 'bin', 'dependency-cruise.mjs');
  const options = ['--config', join(root, '.dependency-cruiser.cjs'), '--output-type', 'json'];
  const output = execFileSync(process.execPath, [program, ...options, ...folders], {
    cwd: dir,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const { violations } = JSON.parse(output).summary as {
    violations: { rule: { name: string }; from: string; to: string }[];
  };
  return violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`).sort();
}

/** What is refused in a project of these files, each with its one import. */
function refusedIn(files: { readonly [path: string]: string }): string[] {
  const dir = mkdtempSync(join(tmpdir(), 'orgwallet-imports-'));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  };
  try {
    const packages = { zod: '1.0.0', viem: '1.0.0' };
    write(
      'package.json',
      JSON.stringify({ dependencies: packages, devDependencies: { selfsigned: '1.0.0' } }),
    );
    write('tsconfig.json', '{}');
    for (const name of [...Object.keys(packages), 'selfsigned', 'undeclared']) {
      write(
        `node_modules/${name}/package.json`,
        JSON.stringify({ name, version: '1.0.0', main: 'index.js' }),
      );
      write(`node_modules/${name}/index.js`, '');
    }
    for (const [path, from] of Object.entries(files)) write(path, from);
    return refused(dir, [...new Set(Object.keys(files).map((path) => path.split('/')[0] ?? ''))]);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

const value = (from: string) => `import { x } from '${from}';\nexport const y = x;\n`;
const type = (from: string) => `import type { X } from '${from}';\nexport type Y = X;\n`;

describe('the import table of ARCHITECTURE.md', () => {
  it('holds in the project', () => {
    expect(refused(root, FOLDERS)).toEqual([]);
  }, 120_000);

  it('refuses what a layer must not import, and nothing else', () => {
    const allowed = {
      'src/domain/policy.ts': value('zod'),
      'src/domain/own.ts': value('./policy'),
      'src/chain/address.ts': value('viem'),
      'src/chain/keys.ts': type('../config'),
      'src/signer/keys/keystore.ts': '',
      'src/db/members.ts': value('../domain/policy'),
      'src/db/audit.ts': value('./members'),
      'src/credentials/memberSessions.ts': value('../db/audit'),
      'src/temporal/ids.ts': value('../domain/policy'),
      'src/contract/memberContract.ts': value('../chain/address'),
      'src/operations/kind.ts': value('../contract/memberContract'),
      'src/transactions/plan.ts': type('../operations/kind'),
      'src/api/app.ts': value('../transactions/plan'),
      'src/signer/signerContext.ts': value('../chain/keys'),
      'src/signer/refusal.ts': '',
      'src/signer/activities.ts': value('./signerContext'),
      'src/signer/workers.ts': value('./keys/keystore'),
      'src/cli/keystoreCommands.ts': value('../signer/keys/keystore'),
      'activities/transactions/followTransaction.ts': type('../../src/signer/refusal'),
      'workflows/activity.ts': type('../activities/transactions/followTransaction'),
      'workflows/signing.ts': type('../src/signer/activities'),
      'workflows/ids.ts': value('../src/temporal/ids'),
      'tools/dev/main.ts': value('../../src/service'),
      'tools/demo/main.ts': value('../dev/main'),
      'client/src/index.ts': value('viem'),
      'console/src/api/client.ts': value('../../../client/src/index'),
      'console/src/domain/amounts.ts': value('viem'),
      'console/src/text/labels.ts': value('../domain/amounts'),
      'src/cli/verify.ts': value('../../client/src/index'),
      'tools/demo/pay.ts': value('../../client/src/index'),
      'test/certificate.ts': value('selfsigned'),
      'src/chain/clients.ts': '',
      'src/temporal/client.ts': '',
      'src/lifetime.ts': '',
      'src/upgrade.ts': value('./temporal/client'),
      'src/executionTimes.ts': type('./clients'),
      'activities/mapLimit.ts': '',
      'tools/dev/ports.ts': '',
      'test/support/api.ts': '',
    };
    const notAllowed = {
      'src/domain/db.ts': value('../db/members'),
      'src/domain/files.ts': value('node:fs'),
      'src/domain/viem.ts': value('viem'),
      'src/db/envelopes.ts': value('../chain/clients'),
      'src/db/sessions.ts': type('./audit'),
      'src/temporal/config.ts': value('../config'),
      'src/contract/clients.ts': value('../chain/clients'),
      'src/operations/api.ts': type('../api/app'),
      'src/transactions/kind.ts': value('../operations/kind'),
      'src/api/activity.ts': value('../../activities/mapLimit'),
      'src/cli/stack.ts': value('../../tools/dev/ports'),
      'src/service.ts': value('../test/support/api'),
      'src/workers.ts': value('./signer/keys/keystore'),
      'src/logging.ts': value('selfsigned'),
      'src/metrics.ts': value('undeclared'),
      'src/main.ts': value('./nowhere'),
      'src/clients.ts': value('./lifetime'),
      'src/chainReads.ts': value('./clients'),
      'src/relayerWatch.ts': type('./chainReads'),
      'src/config.ts': value('./db/members'),
      'src/other.ts': value('./domain/policy'),
      'src/roles.ts': value('../client/src/index'),
      'client/src/policy.ts': type('../../src/domain/policy'),
      'client/src/zod.ts': value('zod'),
      'client/src/page.ts': value('../../console/src/api/client'),
      'console/src/policy.ts': type('../../src/domain/policy'),
      'console/src/zod.ts': value('zod'),
      'console/src/domain/words.ts': value('../text/labels'),
      'console/src/text/page.ts': value('../api/client'),
      'client/src/files.ts': value('node:fs'),
      'activities/deployments/api.ts': type('../../src/api/app'),
      'activities/deployments/config.ts': value('../../src/config'),
      'activities/relayer/followEnvelope.ts': value('../../src/signer/keys/keystore'),
      'activities/relayer/terms.ts': type('../../src/signer/refusal'),
      'activities/chainActivities.ts': value('./relayer/terms'),
      'activities/approvals/evidence.ts': value('../transactions/followTransaction'),
      'activities/deployments/followDeployment.ts': value('../transactions/followTransaction'),
      'src/signer/loaded.ts': value('../api/app'),
      'src/signer/main.ts': value('./loaded'),
      'src/signer/journal/lines.ts': value('../../db/members'),
      'src/signer/requests.ts': value('../operations/kind'),
      'src/signer/store/members.ts': value('../../db/members'),
      'src/signer/recovery/writeBack.ts': '',
      'src/signer/seal.ts': value('./recovery/writeBack'),
      'src/proof/proof.ts': value('../signer/recovery/writeBack'),
      'src/operations/rules.ts': value('./bodies'),
      'src/operations/bodies.ts': value('../contract/endpoint'),
      'src/contract/endpoint.ts': '',
      'src/api/signing.ts': value('../signer/signerContext'),
      'activities/transactions/evidence.ts': value('../deployments/config'),
      'workflows/values.ts': value('../activities/mapLimit'),
      'workflows/client.ts': value('../src/temporal/client'),
      'workflows/crypto.ts': value('node:crypto'),
      'workflows/db.ts': value('../src/db/members'),
      'tools/dev/demo.ts': value('../demo/scenario'),
      'tools/demo/scenario.ts': value('./chapters'),
      'tools/demo/chapters.ts': value('./scenario'),
    };
    expect(refusedIn({ ...allowed, ...notAllowed })).toEqual([
      'activities: imports: activities/deployments/config.ts → src/config.ts',
      'activities: imports: activities/relayer/followEnvelope.ts → src/signer/keys/keystore.ts',
      'activities: types: activities/deployments/api.ts → src/api/app.ts',
      'client: imports: client/src/page.ts → console/src/api/client.ts',
      'client: modules of Node: client/src/files.ts → fs',
      'client: packages: client/src/zod.ts → node_modules/zod/index.js',
      'client: types: client/src/policy.ts → src/domain/policy.ts',
      'console/src: types: console/src/policy.ts → src/domain/policy.ts',
      'every file has a layer: src/other.ts → src/domain/policy.ts',
      'imports exist: src/main.ts → ./nowhere',
      'no cycle between files: tools/demo/chapters.ts → tools/demo/scenario.ts',
      'nobody imports the console but its tests: client/src/page.ts → console/src/api/client.ts',
      'one folder of the console reads the contract: console/src/policy.ts → src/domain/policy.ts',
      'one folder of the console reads the contract: console/src/zod.ts → node_modules/zod/index.js',
      'only a process of the signer loads what signs: src/api/signing.ts → src/signer/signerContext.ts',
      'only the service runs activities: src/api/activity.ts → activities/mapLimit.ts',
      'only the signer, the CLI and the start of the demo open the keystore: activities/relayer/followEnvelope.ts → src/signer/keys/keystore.ts',
      'only the signer, the CLI and the start of the demo open the keystore: src/workers.ts → src/signer/keys/keystore.ts',
      'packages are declared: src/metrics.ts → node_modules/undeclared/index.js',
      'production without packages of development: src/logging.ts → node_modules/selfsigned/index.js',
      'production without the client, but for the CLI and the rescue kit: src/roles.ts → client/src/index.ts',
      'production without tools and tests: src/cli/stack.ts → tools/dev/ports.ts',
      'production without tools and tests: src/service.ts → test/support/api.ts',
      'proposals and transactions are apart: activities/deployments/followDeployment.ts → activities/transactions/followTransaction.ts',
      'repositories append no audit entries: src/db/sessions.ts → src/db/audit.ts',
      'src/api: imports: src/api/activity.ts → activities/mapLimit.ts',
      'src/api: imports: src/api/signing.ts → src/signer/signerContext.ts',
      'src/chainReads: imports: src/chainReads.ts → src/clients.ts',
      'src/cli: imports: src/cli/stack.ts → tools/dev/ports.ts',
      'src/clients: imports: src/clients.ts → src/lifetime.ts',
      'src/config: imports: src/config.ts → src/db/members.ts',
      'src/contract: imports: src/contract/clients.ts → src/chain/clients.ts',
      'src/db: imports: src/db/envelopes.ts → src/chain/clients.ts',
      'src/domain: imports: src/domain/db.ts → src/db/members.ts',
      'src/domain: modules of Node: src/domain/files.ts → fs',
      'src/domain: packages: src/domain/viem.ts → node_modules/viem/index.js',
      'src/operations: types: src/operations/api.ts → src/api/app.ts',
      'src/process: imports: src/workers.ts → src/signer/keys/keystore.ts',
      'src/roles: imports: src/roles.ts → client/src/index.ts',
      'src/roles: types: src/relayerWatch.ts → src/chainReads.ts',
      'src/service: imports: src/service.ts → test/support/api.ts',
      'src/signer/store: imports: src/signer/store/members.ts → src/db/members.ts',
      'src/signer: imports: src/signer/journal/lines.ts → src/db/members.ts',
      'src/signer: imports: src/signer/loaded.ts → src/api/app.ts',
      'src/signer: imports: src/signer/requests.ts → src/operations/kind.ts',
      'src/temporal: imports: src/temporal/config.ts → src/config.ts',
      'src/transactions: imports: src/transactions/kind.ts → src/operations/kind.ts',
      'the chain worker is apart from the signer: activities/chainActivities.ts → src/signer/refusal.ts',
      'the journal knows only the rules: src/signer/journal/lines.ts → src/db/members.ts',
      'the process of the signer loads nothing of those whom it does not trust: src/signer/main.ts → src/api/app.ts',
      'the process of the signer loads nothing of those whom it does not trust: src/signer/main.ts → src/contract/memberContract.ts',
      'the rules of operations load neither the contract nor a table: src/operations/rules.ts → src/contract/endpoint.ts',
      'tools/dev: imports: tools/dev/demo.ts → tools/demo/scenario.ts',
      'transactions and proposals are apart: activities/transactions/evidence.ts → activities/deployments/config.ts',
      'what subjects share knows no subject: activities/approvals/evidence.ts → activities/transactions/followTransaction.ts',
      'what the console decides is apart from what it says: console/src/domain/words.ts → console/src/text/labels.ts',
      'what the console says is apart from what it shows: console/src/text/page.ts → console/src/api/client.ts',
      'what writes back is the CLI, and no process of the signer: src/proof/proof.ts → src/signer/recovery/writeBack.ts',
      'what writes back is the CLI, and no process of the signer: src/signer/seal.ts → src/signer/recovery/writeBack.ts',
      'workflows: imports: workflows/client.ts → src/temporal/client.ts',
      'workflows: imports: workflows/db.ts → src/db/members.ts',
      'workflows: imports: workflows/values.ts → activities/mapLimit.ts',
      'workflows: modules of Node: workflows/crypto.ts → crypto',
    ]);
  }, 120_000);
});
