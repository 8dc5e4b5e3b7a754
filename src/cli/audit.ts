import type { Command } from 'commander';
import { verifyAudit } from '../db/audit';
import { listOrganizations } from '../db/organizations';
import { withContext } from './context';
import { CommandRefused } from './output';

/** `audit verify`. */
export function auditCommands(program: Command): void {
  const audit = program.command('audit').description('The append-only log of every state change');

  audit
    .command('verify')
    .description(
      'Prove that no entry was changed, removed or put in another order; names the first broken one',
    )
    .option('--org <org_…>', 'only of this organization')
    .action((options: { org?: string }, command: Command) =>
      withContext(command, async ({ db, output }) => {
        const all = (await listOrganizations(db())).map(({ id }) => id);
        if (options.org !== undefined && !all.includes(options.org)) {
          throw new CommandRefused(`there is no organization ${options.org}`);
        }
        const results = [];
        for (const organizationId of options.org === undefined ? all : [options.org]) {
          const proof = await verifyAudit(db(), organizationId);
          results.push(
            proof.ok
              ? { organizationId, ok: true, entries: Number(proof.entries), hash: proof.hash }
              : {
                  organizationId,
                  ok: false,
                  position: Number(proof.position),
                  id: proof.id,
                  reason: proof.reason,
                },
          );
        }
        const words = results.map((result) =>
          result.ok
            ? `${result.organizationId}: ${result.entries} entries, unbroken (${result.hash})`
            : `${result.organizationId}: BROKEN at entry ${result.position}${result.id ? ` (${result.id})` : ''}: ${result.reason}`,
        );
        output.result(results, words.length > 0 ? words.join('\n') : 'There are no organizations.');
        if (results.some(({ ok }) => !ok)) throw new CommandRefused('an audit log is broken');
      }),
    );
}
