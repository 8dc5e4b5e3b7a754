import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { backupKeystore, openKeystore, readPassphrase } from '../chain/keystore';
import type { Within } from './context';

/** `keystore backup`. */
export function keystoreCommands(program: Command, within: Within): void {
  const keystore = program.command('keystore').description('The encrypted file that holds every signing key');

  keystore
    .command('backup')
    .description('Copy the encrypted keystore; it opens only with its passphrase, which is not in the copy')
    .option('--out <file>', 'where to (default: a new file in the folder backups of the data folder)')
    .action((options: { out?: string }, command: Command) =>
      within(command, async ({ config, output }) => {
        const { dataDir, keystore: settings } = config();
        // A copy of a file that cannot be opened is not a backup.
        if (existsSync(settings.file)) {
          await openKeystore({ file: settings.file, passphrase: readPassphrase(settings) });
        }
        const stamp = new Date().toISOString().replace(/[:.]/g, '-');
        const backup = await backupKeystore(
          settings.file,
          options.out ?? join(dataDir, 'backups', `keystore-${stamp}.json`),
        );
        output.result(
          backup,
          `${backup.file} (fingerprint ${backup.fingerprint})\nStore it on another machine, and its passphrase separately: both are needed.`,
        );
      }),
    );
}
