import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { armFailpoint } from '../failpoints';
import { backupKeystore, changePassphrase, openKeystore, readPassphrase } from '../signer/keys/keystore';
import type { Within } from './commandContext';

/** `keystore backup`, `keystore change-passphrase`. */
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

  keystore
    .command('change-passphrase')
    .description(
      'Encrypt the keystore with NEW_KEYSTORE_PASSPHRASE or NEW_KEYSTORE_PASSPHRASE_FILE; its keys stay',
    )
    .action((_options: object, command: Command) =>
      within(command, async ({ config, settings, output }) => {
        const { keystore: present, testFailpoint } = config();
        armFailpoint(testFailpoint);
        const { NEW_KEYSTORE_PASSPHRASE: passphrase, NEW_KEYSTORE_PASSPHRASE_FILE: passphraseFile } =
          settings;
        const changed = await changePassphrase(present.file, {
          from: readPassphrase(present),
          to: readPassphrase({ passphrase, passphraseFile }, 'NEW_KEYSTORE_PASSPHRASE'),
        });
        const { fingerprint, isChanged } = changed;
        output.result(
          { file: present.file, fingerprint, changed: isChanged },
          isChanged
            ? `${present.file} (fingerprint ${fingerprint}) opens with the new passphrase only.\nBackups still open with the old one: make a new backup, and delete them. The signer needs the new passphrase at its next start.`
            : `${present.file} (fingerprint ${fingerprint}) has the new passphrase already.`,
        );
      }),
    );
}
