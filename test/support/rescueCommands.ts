import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { requireRow } from '../../src/db/rows';
import { projectRoot } from '../../src/projectRoot';
import { anAddress } from './builders';
import { codeBlocks } from './markdown';
import type { RescueAdmin, RescueChain, RescueWorld } from './rescueWorld';
import { temporaryDir } from './stack';

const PAGE = readFileSync(join(projectRoot(), 'docs', 'rescue.md'), 'utf8');

/** The blocks below a heading of the third level, in their order. */
function blocksBelow(heading: string): string[] {
  const [, rest = ''] = PAGE.split(`\n### ${heading}\n`);
  return codeBlocks(rest.split(/\n##+ /)[0] ?? '');
}
const blockBelow = (heading: string) => requireRow(blocksBelow(heading)[0]);

const WHERE = blockBelow('1. Set the addresses');
/** Shows the owners of everything. */
export const LOOK = blockBelow('2. Check owners and modules');
export const TAKEOVER = blockBelow('3. Build the takeover');
const SIGN = blockBelow('4. Sign');
const SEND = blockBelow('5. Send');
const MOVES = blocksBelow('6. Move the money');
/** Sets a payment of native currency. */
export const PAYMENT = requireRow(MOVES[0]);
/** After that: sets a payment of a token. */
export const TOKEN = requireRow(MOVES[1]);

/** The functions and constants of looking, without looking. */
export const CONSTANTS = LOOK.replace(/\nlook$/, '');

/** Signs, and adds the line for the others to a file. */
const SIGN_INTO_FILE = `{\n${SIGN}\n} > signed.txt\ntail -n 1 signed.txt >> signatures.txt\ncat signed.txt`;

let programs: string | undefined;

/** A folder with the native program of the npm package, as `cast`. */
function castFolder(): string {
  if (programs !== undefined) return programs;
  const resolveFrom = createRequire(createRequire(__filename).resolve('@foundry-rs/cast/package.json'));
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const manifest = resolveFrom.resolve(`@foundry-rs/cast-${process.platform}-${arch}/package.json`);
  const folder = join(temporaryDir(), 'bin');
  mkdirSync(folder);
  symlinkSync(join(dirname(manifest), 'bin', 'cast'), join(folder, 'cast'));
  programs = folder;
  return folder;
}

/** A terminal of an admin. */
interface Terminal {
  readonly dir: string;
  readonly admin: RescueAdmin;
}
const terminalOf = (admin: RescueAdmin | undefined): Terminal => ({
  dir: temporaryDir(),
  admin: requireRow(admin),
});

/** What stands in the page for addresses that are not in the kit. */
interface Addresses {
  readonly recipient?: string;
  readonly token?: string;
}

/** Runs blocks of the page in one shell; what stands in it for addresses and for the wallet is filled in. */
function run(
  world: RescueWorld,
  { url }: RescueChain,
  { dir, admin }: Terminal,
  blocks: readonly string[],
  { recipient = anAddress(), token = anAddress() }: Addresses = {},
): Promise<string> {
  const [first = '', second = '', third = ''] = world.accounts;
  const text = blocks
    .join('\n')
    .replaceAll('https://rpc.example', url)
    .replaceAll('0xADMINS_SAFE', world.adminsSafe)
    .replaceAll('0xKEEPER', world.keeper)
    .replaceAll('0xACCOUNT_1', first)
    .replaceAll('0xACCOUNT_2', second)
    .replaceAll('0xACCOUNT_3', third)
    .replaceAll('0xRECIPIENT', recipient)
    .replaceAll('0xTOKEN', token)
    .replaceAll('"--ledger"', `"--private-key ${admin.privateKey}"`);
  const env = { PATH: `${castFolder()}:/usr/local/bin:/usr/bin:/bin`, HOME: dir };
  return new Promise((resolve, reject) =>
    execFile('bash', ['-euo', 'pipefail', '-c', text], { cwd: dir, env }, (error, out, err) =>
      error ? reject(new Error(`${out}\n${err}`)) : resolve(out),
    ),
  );
}

/** Two admins sign what the blocks set, each in a terminal of their own; the second one sends it. Returns what it printed. */
export async function togetherByCast(
  world: RescueWorld,
  chain: RescueChain,
  what: readonly string[],
  addresses?: Addresses,
): Promise<string> {
  const [alice, bob] = [terminalOf(world.admins[0]), terminalOf(world.admins[1])];
  const blocks = [WHERE, ...what, SIGN_INTO_FILE];
  const first = await run(world, chain, alice, blocks, addresses);
  cpSync(join(alice.dir, 'signatures.txt'), join(bob.dir, 'signatures.txt'));
  const second = await run(world, chain, bob, [...blocks, SEND], addresses);
  const hashes = [first, second].map((output) => /^hash (0x[0-9a-f]{64})$/m.exec(output)?.[1]);
  expect(hashes[0]).toBe(hashes[1]);
  return second;
}

/** The takeover that the commands make, as `to operation data`. */
export async function takeoverByCast(world: RescueWorld, chain: RescueChain): Promise<string> {
  const show = 'echo "$TO $OPERATION $DATA"';
  const blocks = [WHERE, CONSTANTS, TAKEOVER, show];
  const output = await run(world, chain, terminalOf(world.admins[0]), blocks);
  return requireRow(output.trim().split('\n').at(-1));
}
