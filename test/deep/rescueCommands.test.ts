import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Address } from 'viem';
import { requireRow } from '../../src/db/rows';
import { projectRoot } from '../../src/projectRoot';
import { anAddress } from '../support/builders';
import { codeBlocks } from '../support/markdown';
import { ETHER, type RescueAdmin, type RescueChain, RescueWorld } from '../support/rescueWorld';
import { rpc, startOwnChain, temporaryDir } from '../support/stack';

const PAGE = readFileSync(join(projectRoot(), 'docs', 'rescue.md'), 'utf8');
const CHAIN_IDS = [41_361, 41_362];
/** Many short programs, on a machine that may be busy. */
const LIMIT_MS = 240_000;

let parts: Awaited<ReturnType<typeof startOwnChain>>[] = [];
let world: RescueWorld;
let programs: string;

/** The native program of the npm package, as `cast`. */
function castFolder(): string {
  const resolveFrom = createRequire(createRequire(__filename).resolve('@foundry-rs/cast/package.json'));
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const manifest = resolveFrom.resolve(`@foundry-rs/cast-${process.platform}-${arch}/package.json`);
  const folder = join(temporaryDir(), 'bin');
  mkdirSync(folder);
  symlinkSync(join(dirname(manifest), 'bin', 'cast'), join(folder, 'cast'));
  return folder;
}

beforeAll(async () => {
  programs = castFolder();
  parts = await Promise.all(CHAIN_IDS.map((id) => startOwnChain(id)));
  const endpoints = parts.map(({ current }) => ({ chainId: current.chainId, rpcUrl: current.rpcUrl }));
  world = await RescueWorld.make(endpoints);
}, LIMIT_MS);
afterAll(() => Promise.all(parts.map((part) => part.stop())));

/** The blocks below a heading of the third level, in their order. */
function blocksBelow(heading: string): string[] {
  const [, rest = ''] = PAGE.split(`\n### ${heading}\n`);
  return codeBlocks(rest.split(/\n##+ /)[0] ?? '');
}
const blockBelow = (heading: string) => requireRow(blocksBelow(heading)[0]);

/** A terminal of an admin: what is in the page stands for addresses, and its wallet. */
interface Terminal {
  readonly dir: string;
  readonly chain: RescueChain;
  readonly admin: RescueAdmin;
}

const terminalOf = (chain: RescueChain, admin: RescueAdmin): Terminal => ({
  dir: temporaryDir(),
  chain,
  admin,
});

/** Runs blocks of the page in one shell. */
function run(
  { dir, chain, admin }: Terminal,
  blocks: readonly string[],
  { recipient = anAddress(), token = anAddress() } = {},
): Promise<string> {
  const [first = '', second = '', third = ''] = world.accounts;
  const text = blocks
    .join('\n')
    .replaceAll('https://rpc.example', chain.url)
    .replaceAll('0xADMINS_SAFE', world.adminsSafe)
    .replaceAll('0xKEEPER', world.keeper)
    .replaceAll('0xACCOUNT_1', first)
    .replaceAll('0xACCOUNT_2', second)
    .replaceAll('0xACCOUNT_3', third)
    .replaceAll('0xRECIPIENT', recipient)
    .replaceAll('0xTOKEN', token)
    .replaceAll('"--ledger"', `"--private-key ${admin.privateKey}"`);
  const env = { PATH: `${programs}:/usr/local/bin:/usr/bin:/bin`, HOME: dir };
  return new Promise((resolve, reject) =>
    execFile('bash', ['-euo', 'pipefail', '-c', text], { cwd: dir, env }, (error, out, err) =>
      error ? reject(new Error(`${out}\n${err}`)) : resolve(out),
    ),
  );
}

const WHERE = blockBelow('1. Say who and where');
const LOOK = blockBelow('2. Look');
const TAKEOVER = blockBelow('3. Make the takeover');
const SIGN = blockBelow('4. Sign');
const SEND = blockBelow('5. Send');
const [PAYMENT = '', TOKEN = ''] = blocksBelow('6. Move the money');

/** The functions and constants of that block, without looking. */
const CONSTANTS = LOOK.replace(/\nlook$/, '');

/** Signs, and adds the line for the others to a file. */
const SIGN_INTO_FILE = `{\n${SIGN}\n} > signed.txt\ntail -n 1 signed.txt >> signatures.txt\ncat signed.txt`;

/** Two admins sign what the blocks set, each in a terminal of their own; the second one sends it. */
async function together(
  chain: RescueChain,
  what: readonly string[],
  addresses: { readonly recipient?: string; readonly token?: string } = {},
): Promise<string> {
  const [alice, bob] = world.admins.map((admin) => terminalOf(chain, admin));
  if (!alice || !bob) throw new Error('nobody is there');
  const blocks = [WHERE, ...what, SIGN_INTO_FILE];
  const first = await run(alice, blocks, addresses);
  cpSync(join(alice.dir, 'signatures.txt'), join(bob.dir, 'signatures.txt'));
  const second = await run(bob, [...blocks, SEND], addresses);
  const hashes = [first, second].map((output) => /^hash (0x[0-9a-f]{64})$/m.exec(output)?.[1]);
  expect(hashes[0]).toBe(hashes[1]);
  return second;
}

describe('the commands of docs/rescue.md', () => {
  it(
    'take three accounts over on two networks and move money and tokens, with cast alone',
    async () => {
      for (const [i, chain] of world.chains.entries()) {
        const output = await together(chain, [LOOK, TAKEOVER]);
        const looks = output.split(`${world.adminsSafe}\n`);
        // Before, and after.
        expect(looks.length).toBe(3);
        expect(looks[1]).toContain(`owners  [${world.signingKey.address}], 1 must sign`);
        expect(looks[2]).not.toContain(world.signingKey.address);
        expect(
          looks[2]?.match(new RegExp(`owners  \\[${world.adminsSafe}\\], 1 must sign`, 'g')),
        ).toHaveLength(3);
        for (const account of world.accounts) {
          expect(await world.ownersOf(chain, account)).toEqual([world.adminsSafe]);
          expect(await world.refusalOfOldKey(chain, account)).toBe('GS026');
        }
        expect(await world.modulesOf(chain, world.adminsSafe)).toEqual([]);

        const recipient = anAddress() as Address;
        await together(chain, [CONSTANTS, PAYMENT], { recipient });
        expect(await chain.client.getBalance({ address: recipient })).toBe((3n * ETHER) / 2n);

        const token = requireRow(parts[i]).current.token.address as Address;
        await fundWithToken(chain, token, requireRow(world.accounts[0]));
        await together(chain, [CONSTANTS, PAYMENT, TOKEN], { recipient, token });
        expect(await tokenBalance(chain, token, recipient)).toBe((3n * ETHER) / 2n);
      }
    },
    LIMIT_MS,
  );

  it(
    'make the transaction that is in the kit',
    async () => {
      const other = await RescueWorld.make(parts.map(({ current }) => current));
      const before = world;
      world = other;
      try {
        const chain = requireRow(world.chains[0]);
        const show = 'echo "$TO $OPERATION $DATA"';
        const terminal = terminalOf(chain, requireRow(world.admins[0]));
        const output = await run(terminal, [WHERE, CONSTANTS, TAKEOVER, show]);
        const { to, operation, data } = requireRow(world.kit.networks[0]?.takeovers[0]);
        expect(output.trim().split('\n').at(-1)).toBe(`${to} ${operation} ${data}`);
      } finally {
        world = before;
      }
    },
    LIMIT_MS,
  );
});

const TRANSFER = '0xa9059cbb';
const BALANCE_OF = '0x70a08231';
const word = (value: string | bigint) =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2).toLowerCase()).padStart(64, '0');

async function fundWithToken({ url }: RescueChain, token: Address, to: Address): Promise<void> {
  const [from] = await rpc<string[]>(url, 'eth_accounts', []);
  await rpc(url, 'eth_sendTransaction', [
    { from, to: token, data: `${TRANSFER}${word(to)}${word(5n * ETHER)}` },
  ]);
}

async function tokenBalance({ url }: RescueChain, token: Address, of: Address): Promise<bigint> {
  return BigInt(
    await rpc<string>(url, 'eth_call', [{ to: token, data: `${BALANCE_OF}${word(of)}` }, 'latest']),
  );
}
