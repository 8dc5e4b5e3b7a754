import type { Command } from 'commander';
import { type AuditProof, verifyAudit } from '../db/audit';
import { organizationsOf, type Within } from './context';
import { CommandRefused } from './output';
import { count } from './text';

function proofOf(proof: AuditProof) {
  return proof.ok
    ? { ok: true as const, entries: Number(proof.entries), hash: proof.hash }
    : { ok: false as const, position: Number(proof.position), id: proof.id, reason: proof.reason };
}

/** `audit verify`. */
export function auditCommands(program: Command, within: Within): void {
  const audit = program.command('audit').description('The append-only log of every state change');

  audit
    .command('verify')
    .description('Prove that no entry was changed, removed or moved; names the first broken one')
    .option('--org <org_…>', 'only of this organization')
    .action((options: { org?: string }, command: Command) =>
      within(command, async ({ db, output }) => {
        const results = [];
        for (const { id } of await organizationsOf(db(), options.org)) {
          results.push({ organizationId: id, ...proofOf(await verifyAudit(db(), id)) });
        }
        const words = results.map((result) => {
          if (result.ok) {
            return `${result.organizationId}: ${count(result.entries, 'entry', 'entries')}, unbroken (${result.hash})`;
          }
          const entry = result.id ? `${result.position} (${result.id})` : String(result.position);
          return `${result.organizationId}: BROKEN at entry ${entry}: ${result.reason}`;
        });
        output.result(results, words.length > 0 ? words.join('\n') : 'There are no organizations.');
        if (results.some(({ ok }) => !ok)) throw new CommandRefused('an audit log is broken');
      }),
    );
}
