import { join } from 'node:path';
import type { Command } from 'commander';
import { backupKeystore, KeystoreError } from '../chain/keystore';
import { withContext } from './context';
import { CommandRefused } from './output';

/** `keystore backup`. */
export function keystoreCommands(program: Command): void {
  const keystore = program.command('keystore').description('The encrypted file that holds every signing key');

  keystore
    .command('backup')
    .description('Copy the encrypted keystore; it opens only with its passphrase, which is not in the copy')
    .option('--out <file>', 'where to (default: beside the keystore, named by the time)')
    .action((options: { out?: string }, command: Command) =>
      withContext(command, async ({ config, output }) => {
        const stamp = new Date().toISOString().replace(/[:.]/g, '-');
        const out = options.out ?? join(config.dataDir, 'backups', `keystore-${stamp}.json`);
        try {
          const backup = await backupKeystore(config.keystore.file, out);
          output.result(
            backup,
            `${backup.file} (fingerprint ${backup.fingerprint})\nMove it to another place, apart from its passphrase.`,
          );
        } catch (error) {
          if (error instanceof KeystoreError) throw new CommandRefused(error.message);
          throw error;
        }
      }),
    );
}
