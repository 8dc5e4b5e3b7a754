import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { operationDomainSalt } from '../chain/domainSalt';
import type { Db } from '../db/database';
import { listOrganizations } from '../db/organizations';
import { isDuplicateIn } from '../db/rows';
import type { MemberSummary } from '../domain/approval';
import { quoted } from '../domain/quoted';
import { type Genesis, keyAddresses, readGenesis, signGenesis } from '../organizations/admitGenesis';
import { createOrganization, type NewOrganizationKeys } from '../organizations/organization';
import { collect } from './collect';
import { type CommandContext, identifyVoterOf, keystoreOf, type Within } from './commandContext';
import { readGenesisSignature } from './genesisSignature';
import { readOrganizationFile, readOrganizationKeys } from './organizationFile';
import { CommandRefused } from './output';
import { table } from './text';

/** The keys of a new organization: of the keystore on this host, or as the signer's host has printed them. */
async function keysOf(context: CommandContext, file: string | undefined): Promise<NewOrganizationKeys> {
  const domainSalt = operationDomainSalt;
  if (file !== undefined) {
    const { organizationId, ...keys } = readOrganizationKeys(file);
    return { organizationId, domainSalt, keysOf: () => keys };
  }
  const keystore = await keystoreOf(context);
  return { domainSalt, keysOf: (id) => keyAddresses(keystore, id) };
}

/** The genesis of an organization. Throws CommandRefused where there is no such organization. */
async function requireGenesis(db: Db, id: string): Promise<Genesis> {
  const genesis = await readGenesis(db, id);
  if (!genesis) throw new CommandRefused(`organization ${id} not found`);
  return genesis;
}

const nameOf = ({ id, name }: MemberSummary) => `${quoted(name)} (${id})`;

/** Stores one signature of the genesis, as it was given, and returns whose it is. Throws CommandRefused. */
async function storeSignature(
  deps: Parameters<typeof signGenesis>[0],
  genesis: Genesis,
  given: string,
): Promise<MemberSummary> {
  const signature = await readGenesisSignature(given, genesis);
  const signed = await signGenesis(deps, { organizationId: genesis.state.id, signature });
  if (signed.ok) return signed.value;
  throw new CommandRefused(`${given.startsWith('0x') ? '' : `${given}: `}${signed.refusal.message}`);
}

/** `org create`: stores an organization, and prints what its founders do next. */
function addCreate(org: Command, within: Within): void {
  org
    .command('create')
    .description('Create an organization with its members and admins')
    .requiredOption(
      '--file <org.json>',
      '{name, threshold, members: [{name, type, walletAddress, walletKind?, admin}], onChain?}',
    )
    .option(
      '--keys <keys.json>',
      'what `orgwallet signer keys` printed, where the keystore is on another host',
    )
    .action((options: { file: string; keys?: string }, command: Command) =>
      within(command, async (context) => {
        const { db, output } = context;
        const input = readOrganizationFile(options.file, { production: await context.production() });
        const keys = await keysOf(context, options.keys);
        const created = await createOrganization(db(), input, keys).catch((error) => {
          if (isDuplicateIn('organizations', error)) {
            throw new CommandRefused(
              `organization ${keys.organizationId} exists already: nothing was changed. For another one, run \`orgwallet signer keys\` again`,
            );
          }
          throw error instanceof RangeError ? new CommandRefused(`${options.file}: ${error.message}`) : error;
        });
        const members = input.members.map((member, index) => [
          created.memberIds[index] ?? '',
          member.name,
          member.type,
          member.admin ? 'admin' : '',
        ]);
        const bot = input.members.findIndex(({ type, admin }) => type === 'api' && admin);
        const genesis = await readGenesis(db(), created.organizationId);
        output.result(
          { ...created, genesis: { hash: genesis?.hash, payload: genesis?.payload } },
          [
            `organization ${created.organizationId}`,
            table(['member', 'name', 'type', ''], members, ''),
            `genesis ${genesis?.hash}`,
            `Next: every admin signs the genesis (orgwallet org genesis ${created.organizationId}), then on the signer's host`,
            `  orgwallet signer admit ${created.organizationId} ${genesis?.hash}`,
            `Then: orgwallet keys issue --member ${created.memberIds[bot]}`,
          ].join('\n'),
        );
      }),
    );
}

/** `org genesis`: what the founders sign. */
function addGenesis(org: Command, within: Within): void {
  org
    .command('genesis <organization>')
    .description('Print what the founders sign, and who has not signed yet')
    .option('--out <file>', 'write what they sign to a file, as wallets and `orgwallet verify` take it')
    .action((id: string, { out }: { out?: string }, command: Command) =>
      within(command, async ({ db, output }) => {
        const { hash, payload, missing, admitted } = await requireGenesis(db(), id);
        if (out !== undefined) writeFileSync(out, payload);
        const waiting = missing.map(nameOf).join(', ');
        output.result(
          { hash, payload: JSON.parse(payload), missing: missing.map((member) => member.id), admitted },
          [
            `genesis ${hash}`,
            admitted
              ? 'admitted'
              : waiting
                ? `not signed by ${waiting}`
                : 'signed by every admin, not admitted',
            out ?? payload,
          ].join('\n'),
        );
      }),
    );
}

/** `org sign`: stores signatures of the genesis. */
function addSign(org: Command, within: Within): void {
  org
    .command('sign <organization>')
    .description("Store admins' signatures of the genesis")
    .requiredOption(
      '--signature <0x… | file>',
      'of eth_signTypedData_v4 over the payload of `org genesis`; of a contract wallet, ABI-encoded (address, bytes); or a file that has it, as the console saves it (may be given again)',
      collect,
    )
    .action((id: string, options: { signature: string[] }, command: Command) =>
      within(command, async (context) => {
        const db = context.db();
        const genesis = await requireGenesis(db, id);
        const deps = { db, identifyVoter: await identifyVoterOf(context) };
        const signed: MemberSummary[] = [];
        for (const given of options.signature) signed.push(await storeSignature(deps, genesis, given));
        const { hash, missing } = await requireGenesis(db, id);
        context.output.result(
          { memberIds: signed.map((member) => member.id), missing: missing.map((member) => member.id) },
          [
            ...signed.map((member) => `${nameOf(member)} has signed the genesis ${hash}`),
            missing.length > 0
              ? `not signed by ${missing.map(nameOf).join(', ')}`
              : "signed by every admin. Next: on the signer's host, `orgwallet signer admit` with the hash that the founders have compared",
          ].join('\n'),
        );
      }),
    );
}

/** `org list`. */
function addList(org: Command, within: Within): void {
  org
    .command('list')
    .description('List all organizations')
    .action((_options: object, command: Command) =>
      within(command, async ({ db, output }) => {
        const organizations = (await listOrganizations(db())).map(({ id, name, createdAt }) => ({
          id,
          name,
          createdAt: createdAt.toISOString(),
        }));
        output.result(
          organizations,
          table(
            ['id', 'name', 'created'],
            organizations.map(({ id, name, createdAt }) => [id, name, createdAt]),
            'There are no organizations yet: orgwallet org create --file org.json',
          ),
        );
      }),
    );
}

/** `org create`, `org genesis`, `org sign`, `org list`. */
export function organizationCommands(program: Command, within: Within): void {
  const org = program.command('org').description('Organizations, the tenants of this installation');
  addCreate(org, within);
  addGenesis(org, within);
  addSign(org, within);
  addList(org, within);
}
