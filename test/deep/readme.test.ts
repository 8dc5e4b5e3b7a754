import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeBlocks } from '../support/markdown';
import { sharedService, type TestMember, type TestService } from '../support/service';
import { endpointOf, temporaryDir } from '../support/stack';

const project = join(__dirname, '..', '..');

/** Many short processes, and the TypeScript compiler, beside other tests. */
const TUTORIAL_LIMIT_MS = 240_000;

let service: TestService;
beforeAll(async () => {
  service = await sharedService();
});
afterAll(async () => {
  await service?.stop();
});

/** The shell blocks of docs/tutorial.md, as somebody pastes them into one terminal beside `npm start`. */
function tutorial(): string {
  return codeBlocks(readFileSync(join(project, 'docs', 'tutorial.md'), 'utf8')).join('\n');
}

/** Runs shell text in the project, beside the demo organization of a data folder. */
function runInShell(text: string, dataDir: string): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ORGWALLET_DATA_DIR: dataDir };
  return new Promise((resolve, reject) =>
    execFile('bash', ['-euo', 'pipefail', '-c', text], { cwd: project, env }, (error, out, err) =>
      error ? reject(new Error(`${error.message}\n${out}\n${err}`)) : resolve(out),
    ),
  );
}

/** A data folder with a demo.json for a fresh organization of the running service. */
async function dataFolder(): Promise<string> {
  const { adminKey, alice, bob, carol, bot, dave } = await service.createOrganization();
  const shown = ({ id, name, wallet, privateKey }: TestMember) => ({
    id,
    name,
    walletAddress: wallet.address,
    privateKey,
  });
  const demo = {
    baseUrl: `https://localhost:${service.config.httpsPort}/api/v1`,
    caFile: service.config.tls.certFile,
    apiKeys: [{ key: adminKey }],
    admins: { threshold: 2, members: [alice, bob, carol, bot].map(shown) },
    members: [shown(dave)],
    networks: service.config.networks.map((network) => ({
      id: network.id,
      name: network.name,
      rpcUrl: endpointOf(network),
    })),
  };
  const folder = temporaryDir();
  writeFileSync(join(folder, 'demo.json'), JSON.stringify(demo));
  return folder;
}

describe('the tutorial', () => {
  it('takes no name that the demo, which runs before it, may have taken', () => {
    const folder = join(project, 'tools/demo/chapters');
    const chapters = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
    const taken = [...chapters.join('').matchAll(/named\('([^']+)'\)/g)].map(([, name]) => name);
    const names = [...tutorial().matchAll(/"name":"([^"]+)"|example -- first-account (\w+)/g)];
    expect(taken).toContain('Treasury');
    expect(names.map(([, posted, passed]) => posted ?? passed)).toEqual(['Payroll', 'Lunch money', 'Vault']);
    for (const [, posted, passed] of names) expect(taken).not.toContain(posted ?? passed);
  });

  it(
    'works when its blocks are pasted into a shell, in curl and in TypeScript',
    async () => {
      const output = await runInShell(tutorial(), await dataFolder());
      const expected = [
        /^Create account "Payroll" \(0x\w{40}\) on .*\npendingReviewSignatures\ncompleted$/m,
        /^1 ETH\nCreate policy "Lunch money", approved automatically\n(?:.+\n)+?pendingReviewSignatures\ncompleted$/m,
        /^Send 0\.05 "ETH" .*\nFrom the account .*\ncompleted$/m,
        /"result":"0x[1-9a-f][0-9a-f]*"/,
        /^forbidden:\n {2}amount is 0\.2 "ETH", permitted is at most 0\.1 "ETH"$/m,
        /^Bob signed: approvalReady, completed\nVault is 0x\w{40} on /m,
        /^completed in block \d+: 0x\w{64}$/m,
      ];
      for (const text of expected) expect(output).toMatch(text);
    },
    TUTORIAL_LIMIT_MS,
  );
});

it(
  'the program in README.md runs as it is, twice',
  async () => {
    const folder = await dataFolder();
    for (let run = 0; run < 2; run += 1) {
      expect(await runInShell('npm run example -- approve', folder)).toMatch(
        /^Create account "Savings \d+" \(0x\w{40}\) on .*: completed$/m,
      );
    }
  },
  TUTORIAL_LIMIT_MS,
);
