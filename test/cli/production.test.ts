import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { anAddress } from '../support/builders';
import { makeKeystore, serviceSettings, startServicePart } from '../support/service';
import { networksFile, sharedStack, temporaryDir } from '../support/stack';
import { command, json, refused, words } from './command';

let env: NodeJS.ProcessEnv;
let file: string;

function writeOrganization(wallet: string): void {
  const members = [
    { name: 'Alice', type: 'user', walletAddress: wallet, admin: true },
    { name: 'Bot', type: 'api', walletAddress: anAddress(), admin: true },
  ];
  writeFileSync(file, JSON.stringify({ name: 'Production', threshold: 1, members }));
}

const create = () => ['org', 'create', '--file', file];

beforeAll(async () => {
  env = await serviceSettings();
  expect(env.NODE_ENV).toBeUndefined();
  await makeKeystore(join(env.KEYSTORE_FILE ?? '', '..'), env.KEYSTORE_PASSPHRASE ?? '');
  file = join(temporaryDir(), 'org.json');
});

it('starts no role with NODE_ENV=production on a database that does not know it', async () => {
  const started = startServicePart({
    ...env,
    NODE_ENV: 'production',
    ORGWALLET_ROLES: 'signer',
    NETWORKS_FILE: network('https://127.0.0.1:1'),
  });
  await expect(started).rejects.toThrow(/NODE_ENV: is production, and the database does not know it/);
});

it('is remembered by the database, and obeyed by commands without NODE_ENV', async () => {
  // Its private key is known to everybody.
  writeOrganization('0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266');
  const before = await json(env, ...create());
  expect(await words(env, 'db', 'migrate', '--production')).toBe(
    'nothing to do; this is an installation of production\n',
  );
  // Nothing takes it back.
  expect(await words(env, 'db', 'migrate')).toBe('nothing to do\n');
  expect(await refused(env, ...create())).toMatch(/has a well-known private key/);
  const remote = { ...env, NETWORKS_FILE: network('https://127.0.0.1:1') };
  expect(await refused(remote, 'signer', 'admit', before.organizationId, before.genesis.hash)).toMatch(
    /has a well-known private key/,
  );
  writeOrganization(anAddress());
  await json(env, ...create());
});

it('is obeyed by doctor and by every role: nothing is sent in clear', async () => {
  const plain = {
    ...env,
    TRUSTED_PROXIES: '127.0.0.1',
    NETWORKS_FILE: network('http://node.example:8545'),
  };
  const doctor = await command(plain, 'doctor', '--json');
  const settings = JSON.parse(doctor.stdout).find(({ part }: { part: string }) => part === 'settings');
  expect(settings).toMatchObject({ status: 'fail', found: expect.stringMatching(/https:/) });
  for (const ORGWALLET_ROLES of ['api', 'worker', 'chain', 'signer']) {
    const started = startServicePart({ ...plain, ORGWALLET_ROLES });
    await expect(started).rejects.toThrow(/cannot start: NETWORKS_FILE.*https:/);
  }
});

/** A networks file without endpoints of the signer. */
function network(rpcUrl: string): string {
  const [chain] = sharedStack().chains;
  const nativeAsset = { symbol: 'ETH', name: 'Ether', decimals: 18 };
  return networksFile([{ id: chain?.chainId, name: 'Remote', rpcUrl, nativeAsset }]);
}
