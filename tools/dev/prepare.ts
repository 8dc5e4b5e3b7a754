import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { Keystore } from '../../src/chain/keys';
import { type NetworkConfig, readNetworks } from '../../src/config';
import { issueApiKey } from '../../src/credentials/apiKeys';
import { createDatabase, type Db } from '../../src/db/database';
import { readProduction } from '../../src/db/installation';
import { migrate } from '../../src/db/migrate';
import { listOrganizations } from '../../src/db/organizations';
import { listRelayers } from '../../src/db/relayers';
import { OPERATOR } from '../../src/domain/actor';
import { isLoopback } from '../../src/domain/loopback';
import { openKeystore, readPassphrase } from '../../src/signer/keys/keystore';
import { foundOrganization } from './foundOrganization';
import { fundOnLocalChain } from './localChain';
import { ensureDemoToken, ensureSafeContracts, LOCAL_FUNDER, type TestToken } from './localContracts';
import { rpc } from './rpc';

/** A member of the demo organization, with the key that a person would keep in a wallet. */
interface DemoMember {
  readonly id: string;
  readonly name: string;
  readonly type: 'user' | 'api';
  readonly walletAddress: string;
  readonly privateKey: string;
}

/** ORGWALLET_DATA_DIR/demo.json: everything that a client needs to try the service. */
export interface DemoFile {
  readonly origin: string;
  readonly baseUrl: string;
  readonly caFile: string;
  readonly operationsUrl: string;
  readonly temporalUiUrl: string | null;
  readonly organizationId: string;
  readonly apiKeys: readonly { readonly key: string; readonly memberId: string }[];
  readonly admins: { readonly threshold: number; readonly members: readonly DemoMember[] };
  readonly members: readonly DemoMember[];
  readonly networks: readonly {
    readonly id: number;
    readonly name: string;
    readonly rpcUrl: string;
    readonly funderPrivateKey: string;
    readonly testTokens: readonly {
      readonly address: string;
      readonly symbol: string;
      readonly decimals: number;
    }[];
  }[];
}

/** The addresses of the running service. */
type Addresses = Pick<DemoFile, 'origin' | 'baseUrl' | 'caFile' | 'operationsUrl' | 'temporalUiUrl'>;

const CHAIN_LIMIT_MS = 30_000;
const RELAYERS_LIMIT_MS = 30_000;
const THRESHOLD = 2;
const PEOPLE = [
  { name: 'Alice', type: 'user', admin: true },
  { name: 'Bob', type: 'user', admin: true },
  { name: 'Carol', type: 'user', admin: true },
  { name: 'Admin Bot', type: 'api', admin: true },
  { name: 'Dave', type: 'user', admin: false },
  { name: 'Payments Bot', type: 'api', admin: false },
] as const;

/** The client version of a node. A chain that is still starting has 30 s to answer. */
async function clientVersion(rpcUrl: string): Promise<string> {
  const deadline = Date.now() + CHAIN_LIMIT_MS;
  for (;;) {
    try {
      return await rpc<string>(rpcUrl, 'web3_clientVersion');
    } catch (error) {
      if (Date.now() > deadline) {
        throw new Error(`NETWORKS_FILE: the chain at ${rpcUrl} does not answer: ${(error as Error).message}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}

/**
 * Deploys the Safe contracts and the demo token on a local anvil chain. Any other chain is not changed and has no
 * token.
 */
async function prepareLocalChain(rpcUrl: string): Promise<TestToken | undefined> {
  if (!isLoopback(rpcUrl)) return undefined;
  const version = await clientVersion(rpcUrl);
  if (!/^anvil/i.test(version)) return undefined;
  await ensureSafeContracts(rpcUrl);
  return ensureDemoToken(rpcUrl);
}

/** Deploys what is missing on the chains that run here. */
async function prepareLocalChains(networks: readonly NetworkConfig[]): Promise<void> {
  await Promise.all(networks.flatMap(({ rpcUrls }) => rpcUrls).map(prepareLocalChain));
}

async function makeDemoOrganization(logins: {
  readonly db: Db;
  readonly signerDb: Db;
  readonly keystore: Keystore;
}): Promise<Pick<DemoFile, 'organizationId' | 'apiKeys' | 'admins' | 'members'>> {
  const people = PEOPLE.map((person) => {
    const privateKey = generatePrivateKey();
    const wallet = privateKeyToAccount(privateKey);
    return { ...person, privateKey, wallet, walletAddress: wallet.address };
  });
  const { db } = logins;
  const { organizationId, memberIds } = await foundOrganization(logins, {
    name: 'Demo Organization',
    threshold: THRESHOLD,
    onChain: true,
    members: people.map(({ name, type, wallet, admin }) => ({ name, type, wallet, admin })),
  });
  const members = people.map(({ admin, wallet: _, ...person }, index) => ({
    admin,
    member: { id: memberIds[index] ?? '', ...person },
  }));
  const apiKeys: { key: string; memberId: string }[] = [];
  for (const { member } of members.filter((candidate) => candidate.member.type === 'api')) {
    const { key } = await db.transaction((tx) =>
      issueApiKey(tx, { organizationId, memberIds: [member.id], actor: OPERATOR }),
    );
    apiKeys.push({ key, memberId: member.id });
  }
  const ofAdmins = (admin: boolean): DemoMember[] =>
    members
      .filter((candidate) => candidate.admin === admin)
      .map(({ member: { id, name, type, walletAddress, privateKey } }) => ({
        id,
        name,
        type,
        walletAddress,
        privateKey,
      }));
  return {
    organizationId,
    apiKeys,
    admins: { threshold: THRESHOLD, members: ofAdmins(true) },
    members: ofAdmins(false),
  };
}

function readDemoFile(file: string): DemoFile | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** The relayers, which a signer that runs elsewhere may not have registered yet; it has 30 s to do so. */
async function relayersOf(db: Db, networks: readonly NetworkConfig[]): ReturnType<typeof listRelayers> {
  const deadline = Date.now() + RELAYERS_LIMIT_MS;
  for (;;) {
    const relayers = await listRelayers(db);
    const complete = networks.every(
      ({ id, relayers: needed }) => relayers.filter(({ networkId }) => networkId === id).length >= needed,
    );
    if (complete || Date.now() > deadline) return relayers;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** Deploys what is missing on each network, and funds its relayers. */
async function prepareNetworks(
  networks: readonly NetworkConfig[],
  relayers: Awaited<ReturnType<typeof listRelayers>>,
): Promise<DemoFile['networks'][number][]> {
  const prepared: DemoFile['networks'][number][] = [];
  for (const { id, name, rpcUrls } of networks) {
    const [rpcUrl = ''] = rpcUrls;
    const token = await prepareLocalChain(rpcUrl);
    for (const relayer of relayers.filter((candidate) => candidate.networkId === id)) {
      if (token) await fundOnLocalChain(rpcUrl, relayer.address);
    }
    prepared.push({
      id,
      name,
      rpcUrl,
      funderPrivateKey: LOCAL_FUNDER.privateKey,
      testTokens: token ? [{ address: token.address, symbol: token.symbol, decimals: token.decimals }] : [],
    });
  }
  return prepared;
}

/** Gives the people of the demo native currency of the chains that run here, for their first deposit in an account. */
async function fundPeople(
  { admins, members }: Pick<DemoFile, 'admins' | 'members'>,
  networks: DemoFile['networks'],
): Promise<void> {
  const people = [...admins.members, ...members].filter(({ type }) => type === 'user');
  const local = networks.filter(({ testTokens }) => testTokens.length > 0);
  await Promise.all(
    people.flatMap(({ walletAddress }) => local.map(({ rpcUrl }) => fundOnLocalChain(rpcUrl, walletAddress))),
  );
}

/** What the signer of the demo organization has. */
interface SignerSettings {
  readonly databaseUrl: string;
  readonly keystoreFile: string;
  readonly passphrase?: string;
  readonly passphraseFile?: string;
}

/** Makes the demo organization, and admits it as the signer's host does. */
async function foundDemoOrganization(db: Db, { databaseUrl, keystoreFile, ...passphrase }: SignerSettings) {
  const signerDb = createDatabase(databaseUrl, { poolMax: 1 });
  try {
    const keystore = await openKeystore({ file: keystoreFile, passphrase: readPassphrase(passphrase) });
    return await makeDemoOrganization({ db, signerDb, keystore });
  } finally {
    await signerDb.destroy();
  }
}

/**
 * Funds the relayers, creates the demo organization unless the one of demo.json is in the database, and writes
 * demo.json with the addresses of this start. Refuses chains that are not local.
 */
async function prepareDemo(options: {
  databaseUrl: string;
  signer: SignerSettings;
  networksFile: string;
  demoFile: string;
  addresses: Addresses;
}): Promise<void> {
  const networks = readNetworks(options.networksFile);
  const remote = networks.find(({ rpcUrls }) => !rpcUrls.every(isLoopback));
  if (remote)
    throw new Error(`A demo needs local chains; ${remote.name} is at ${remote.rpcUrls.join(', ')}.`);
  const db = createDatabase(options.databaseUrl, { poolMax: 2 });
  try {
    if (await readProduction(db)) throw new Error('A demo is not made in a database of production.');
    const relayers = await relayersOf(db, networks);
    const demoNetworks = await prepareNetworks(networks, relayers);
    const before = readDemoFile(options.demoFile);
    const organizations = before ? await listOrganizations(db) : [];
    const kept = before && organizations.some(({ id }) => id === before.organizationId) ? before : undefined;
    const organization = kept ?? (await foundDemoOrganization(db, options.signer));
    await fundPeople(organization, demoNetworks);
    const demo: DemoFile = {
      ...options.addresses,
      organizationId: organization.organizationId,
      apiKeys: organization.apiKeys,
      admins: organization.admins,
      members: organization.members,
      networks: demoNetworks,
    };
    writeFileSync(`${options.demoFile}.new`, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${options.demoFile}.new`, options.demoFile);
  } finally {
    await db.destroy();
  }
}

/**
 * Runs one step of a start in its own process, so that the supervisor uses little memory:
 * `node prepare.js <step>` with its argument in ORGWALLET_PREPARE, where other users cannot read it.
 */
async function main([step, argument = '']: string[]): Promise<void> {
  if (step === 'database') await migrate(argument);
  else if (step === 'networks') await prepareLocalChains(readNetworks(argument));
  else if (step === 'demo') await prepareDemo(JSON.parse(argument));
  else throw new Error(`unknown step ${step}`);
}

if (require.main === module) {
  main([process.argv[2] ?? '', process.env.ORGWALLET_PREPARE ?? '']).catch((error: Error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  });
}
