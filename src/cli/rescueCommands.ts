import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PayloadMismatch, spokenHash, verifyGenesis } from '@orgwallet/client';
import {
  buildRescueKit,
  checkRescueKit,
  type KnownOrganization,
  kitHash,
  type RescueKit,
  verifyRescueKit,
} from '@orgwallet/client/rescue';
import type { Command } from 'commander';
import { findSealedState } from '../db/seals';
import { canonicalJson } from '../domain/canonicalJson';
import { quoted } from '../domain/quoted';
import { projectRoot } from '../projectRoot';
import type { CommandContext, Within } from './commandContext';
import { readInputJson } from './inputFile';
import { CommandRefused } from './output';
import { showRescueStatus } from './rescueStatus';

/** Writes a new file that a command was asked for. Throws CommandRefused. */
function writeOutput(file: string, content: string | Buffer): void {
  try {
    writeFileSync(file, content, { flag: 'wx' });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CommandRefused(code === 'EEXIST' ? `${file}: exists already` : message);
  }
}

/** The page of this build, and its SHA-256. */
function writePage({ output }: CommandContext, { out }: { readonly out: string }): void {
  const page = readFileSync(join(projectRoot(), 'dist', 'rescue.html'));
  const sha256 = createHash('sha256').update(page).digest('hex');
  writeOutput(out, page);
  output.result(
    { file: out, sha256 },
    `${out}\nSHA-256  ${sha256}\nCompare it with SHA256SUMS of the release.`,
  );
}

/** Writes the kit of an organization, as its seal key has signed its state. */
async function writeKit(
  { db, config, output }: CommandContext,
  { org, out }: { readonly org: string; readonly out?: string },
): Promise<void> {
  const stored = await findSealedState(db(), org);
  if (!stored) throw new CommandRefused(`organization ${org} not found`);
  const { networks } = config();
  const nameOf = (networkId: number) =>
    networks.find(({ id }) => id === networkId)?.name ?? `network ${networkId}`;
  const built = await buildRescueKit(stored, nameOf, new Date());
  if (!built) throw new CommandRefused(`the admins' Safe of organization ${org} is off`);
  const kit = await checkRescueKit(built);
  const text = `${JSON.stringify(kit, null, 2)}\n`;
  if (out === undefined) return output.document(text);
  writeOutput(out, text);
  output.result({ file: out, hash: kitHash(kit) }, `${out}\nhash  ${kitHash(kit)}`);
}

interface VerifyOptions {
  readonly genesis?: string;
  readonly hash?: string;
}

/** The keys that the founders have signed. Throws CommandRefused. */
function knownIn({ genesis, hash }: VerifyOptions): KnownOrganization | undefined {
  if (genesis === undefined) return undefined;
  const content = Object(readInputJson(genesis));
  try {
    return verifyGenesis(canonicalJson(content.payload ?? content), { hash }).state;
  } catch (error) {
    if (error instanceof PayloadMismatch) throw new CommandRefused(`${genesis}: ${error.message}`);
    throw error;
  }
}

/** The kit in a file: alone, or in an answer of the API. */
async function kitIn(file: string, known: KnownOrganization | undefined): Promise<RescueKit> {
  const content = Object(readInputJson(file));
  const kit = content.data ?? content;
  try {
    return await (known ? verifyRescueKit(kit, known) : checkRescueKit(kit));
  } catch (error) {
    if (error instanceof PayloadMismatch) throw new CommandRefused(`${file}: ${error.message}`);
    throw error;
  }
}

/** Says of what organization a kit is, and that it is whole. Throws CommandRefused. */
async function verifyKit({ output }: CommandContext, file: string, options: VerifyOptions): Promise<void> {
  const known = knownIn(options);
  const kit = await kitIn(file, known);
  const { organization, sequence, createdAt, adminsSafe, keeper, signingKey, sealKey, admins, networks } =
    kit;
  const hash = kitHash(kit);
  output.result(
    { organization, sequence, createdAt, adminsSafe, keeper, signingKey, sealKey, admins, hash },
    [
      `${quoted(organization.name)} (${organization.id}), ${createdAt}, after ${sequence} decisions`,
      `admins' Safe  ${adminsSafe}`,
      `keeper        ${keeper}`,
      `signing key   ${signingKey}`,
      `seal key      ${sealKey}`,
      `admins        ${admins.threshold} of ${admins.members.length} must sign`,
      ...admins.members.map(({ name, walletAddress }) => `              ${quoted(name)} (${walletAddress})`),
      ...networks.map(
        ({ networkId, name, accounts }) => `${name} (${networkId}): ${accounts.length} accounts`,
      ),
      `hash          ${hash}`,
      `read aloud    ${spokenHash(hash)}`,
      known
        ? 'Its keys are those of the genesis.'
        : 'Compare the two keys with the genesis: --genesis <file>',
    ].join('\n'),
  );
}

/** `rescue`: what the admins need to get at the accounts without this service. None of it acts. */
export function rescueCommands(program: Command, within: Within): void {
  const rescue = program
    .command('rescue')
    .description('What admins need to take the accounts over themselves');
  rescue
    .command('status')
    .description('Show whether the admins can take the accounts over, network by network')
    .requiredOption('--org <org_…>', 'its id')
    .action((options, command) => within(command, (context) => showRescueStatus(context, options)));
  rescue
    .command('page')
    .description('Write the page with which they do it, a file that needs no service')
    .option('--out <file>', 'the new file', 'rescue.html')
    .action((options, command) => within(command, async (context) => writePage(context, options)));
  rescue
    .command('kit')
    .description('Write the rescue kit of an organization: addresses and calls, no secret')
    .requiredOption('--org <org_…>', 'its id')
    .option('--out <file>', 'a new file, in place of stdout')
    .action((options, command) => within(command, (context) => writeKit(context, options)));
  rescue
    .command('verify')
    .description('Check a rescue kit, offline: its addresses, its calls, and who has signed it')
    .argument('<file>', 'the kit, or an answer of the API with it; - for stdin')
    .option('--genesis <file>', 'what the founders signed: the kit must have its keys')
    .option('--hash <0x…>', 'the hash of the genesis that the founders have compared')
    .action((file, options, command) => within(command, (context) => verifyKit(context, file, options)));
}
