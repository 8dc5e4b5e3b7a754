import type { Command } from 'commander';
import { newId } from '../db/ids';
import { admitGenesis, keyAddresses } from '../organizations/admitGenesis';
import { identifyVoterOf, keystoreOf, type Within } from './commandContext';
import { CommandRefused } from './output';
import { reconcileRestore } from './reconcileRestore';

/** `signer keys`, `signer admit`, `signer reconcile-restore`: run on the host that has the keystore. */
export function signerCommands(program: Command, within: Within): void {
  const signer = program.command('signer').description('What is done on the host of the signer');

  signer
    .command('keys')
    .description('Print the id and the keys of a new organization, for `org create --keys` on another host')
    .action((_options: object, command: Command) =>
      within(command, async (context) => {
        const keystore = await keystoreOf(context);
        const organizationId = newId('org');
        const keys = { organizationId, ...keyAddresses(keystore, organizationId) };
        context.output.result(keys, JSON.stringify(keys, null, 2));
      }),
    );

  signer
    .command('admit <organization> <hash>')
    .description('Admit the genesis of an organization, after comparing its hash with the admins')
    .action((organizationId: string, hash: string, _options: object, command: Command) =>
      within(command, async (context) => {
        const keystore = await keystoreOf(context);
        const deps = {
          db: context.signerDb(),
          production: await context.production(),
          keystore,
          identifyVoter: await identifyVoterOf(context),
        };
        const admitted = await admitGenesis(deps, { organizationId, hash });
        if (!admitted.ok) throw new CommandRefused(admitted.refusal.message);
        context.output.result({ organizationId, hash }, `organization ${organizationId} is admitted`);
      }),
    );

  signer
    .command('reconcile-restore')
    .description(
      'After a restore of the database: compare it with the journal and the chains, and write back what it lacks',
    )
    .option('--write', 'write it back (default: only show it)')
    .option('--new-journal', 'the journal is lost: make it anew from the database')
    .action((options: { write?: true; newJournal?: true }, command: Command) =>
      within(command, (context) => reconcileRestore(context, options)),
    );
}
