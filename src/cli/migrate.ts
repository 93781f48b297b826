import { Command } from 'commander';
import { withStore } from './with-store.ts';

export const migrateCommand = new Command('migrate')
  .description('Apply the migrations the database lacks.')
  .action(async () => {
    const applied = await withStore(async (store) => store.applied, { writes: 'migrate' });
    process.stdout.write(
      applied.length === 0
        ? 'The database is up to date.\n'
        : `Applied:\n${applied.map((name) => `  ${name}\n`).join('')}`,
    );
  });
