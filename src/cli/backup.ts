import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { OpsError } from '../core/errors.ts';
import { afterRestore } from '../incidents/after-restore.ts';
import { backUp } from '../infra/db/backup/backup.ts';
import { restore } from '../infra/db/backup/restore.ts';
import { createAuditLog } from '../safety/audit/audit-chain.ts';
import { WITNESS_FILE } from '../safety/audit/audit-witness.ts';
import { VAULT_KEY_FILE } from '../safety/vault/vault-key.ts';
import { operator, withStore } from './with-store.ts';

export const backupCommand = new Command('backup')
  .description('Write the whole record into a file, also while Sentry runs.')
  .argument('<file>', 'a new file; nobody else may read it')
  .action((file: string) =>
    withStore(
      async ({ url }, { dataDir, vaultKey }) => {
        if (existsSync(file))
          throw new OpsError('FILE_EXISTS', `${file} exists already.`, { hint: 'Name a new file.' });
        const witness = join(dataDir, WITNESS_FILE);
        const files = existsSync(witness) ? { [WITNESS_FILE]: readFileSync(witness, 'utf8') } : {};
        const tables = await backUp(url, file, files);
        const key = vaultKey === null ? join(dataDir, VAULT_KEY_FILE) : 'SENTRY_VAULT_KEY';
        process.stdout.write(
          `${tables} tables are in ${file}.\nKeep the vault's key (${key}) in another place: without it the identities in the backup cannot be opened.\n`,
        );
      },
      { writes: 'backup' },
    ),
  );

export const restoreCommand = new Command('restore')
  .description('Put a backup in the place of the record; Sentry must not run.')
  .argument('<file>', 'what `sentry backup` has written')
  .option('--force', 'over a record that has something in it', false)
  .action((file: string, { force }: { readonly force: boolean }) =>
    withStore(async (store, { dataDir }) => {
      const { madeAt, files } = await restore(store.url, file, {
        force,
        afterwards: (tx, head) => afterRestore(tx, head.madeAt),
      });
      for (const name of [WITNESS_FILE]) putFile(join(dataDir, name), files[name]);
      const details = { madeAt, file };
      await createAuditLog(store.sql).append({ kind: 'record.restored', actor: operator(), details });
      process.stdout.write(
        `The record is as it was at ${madeAt}.\n` +
          'Nothing is approved any more, and nothing is changed until you type: sentry resume everything\n' +
          'New incidents get numbers from a thousand further on: those given since the backup are not given again.\n',
      );
    }),
  );

/** What stood there is kept beside it. */
function putFile(path: string, text: string | undefined): void {
  if (existsSync(path)) renameSync(path, `${path}.before-${new Date().toISOString().replaceAll(':', '')}`);
  if (text !== undefined) writeFileSync(path, text, { mode: 0o600 });
}
