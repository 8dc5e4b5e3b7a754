import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Hex } from 'viem';
import { keyAddresses, readGenesis, signGenesis } from '../approvals/genesis';
import { operationDomainSalt } from '../chain/domainSalt';
import { encodeSignature, recoverSigner } from '../chain/signatures';
import { appendAudit, OPERATOR } from '../db/audit';
import { createOrganization, listOrganizations, type NewOrganizationKeys } from '../db/organizations';
import { isDuplicateIn } from '../db/rows';
import { quoted } from '../domain/quoted';
import { type CommandContext, identifyVoterOf, keystoreOf, type Within } from './context';
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

/** The bytes of a key's signature (65), together with its address; any other text as it is. */
async function withSigner(hash: Hex, signature: string): Promise<string> {
  if (!/^0x[0-9a-fA-F]{130}$/.test(signature)) return signature;
  const signer = await recoverSigner(hash, signature as Hex);
  return signer ? encodeSignature(signer, signature as Hex) : signature;
}

/** `org create`, `org genesis`, `org sign`, `org list`. */
export function organizationCommands(program: Command, within: Within): void {
  const org = program.command('org').description('Organizations, the tenants of this installation');

  org
    .command('create')
    .description('Create an organization with its members and admins')
    .requiredOption(
      '--file <org.json>',
      '{name, threshold, members: [{name, type, walletAddress, walletKind?, admin}]}',
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

  org
    .command('genesis <organization>')
    .description('Print what the founders sign, and who has not signed yet')
    .option('--out <file>', 'write what they sign to a file, as wallets and `orgwallet verify` take it')
    .action((id: string, { out }: { out?: string }, command: Command) =>
      within(command, async ({ db, output }) => {
        const genesis = await readGenesis(db(), id);
        if (!genesis) throw new CommandRefused(`organization ${id} not found`);
        const { hash, payload, missing, admitted } = genesis;
        if (out !== undefined) writeFileSync(out, payload);
        const waiting = missing.map(({ id: memberId, name }) => `${quoted(name)} (${memberId})`).join(', ');
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

  org
    .command('sign <organization>')
    .description("Store an admin's signature of the genesis")
    .requiredOption(
      '--signature <0x…>',
      'of eth_signTypedData_v4 over the payload of `org genesis`; of a contract wallet, ABI-encoded (address, bytes)',
    )
    .action((id: string, options: { signature: string }, command: Command) =>
      within(command, async (context) => {
        const { output } = context;
        const db = context.db();
        const genesis = await readGenesis(db, id);
        if (!genesis) throw new CommandRefused(`organization ${id} not found`);
        const signature = await withSigner(genesis.hash as Hex, options.signature);
        const identifyVoter = await identifyVoterOf(context);
        const signed = await signGenesis({ db, identifyVoter }, { organizationId: id, signature });
        if (!signed.ok) throw new CommandRefused(signed.refusal.message);
        const member = signed.value;
        await db.transaction((tx) =>
          appendAudit(tx, id, [
            {
              action: 'organization.signed',
              actor: OPERATOR,
              resourceType: 'organization',
              resourceId: id,
              details: { memberId: member.id, hash: genesis.hash },
            },
          ]),
        );
        output.result(
          { memberId: member.id },
          `${quoted(member.name)} (${member.id}) has signed the genesis ${genesis.hash}`,
        );
      }),
    );

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
