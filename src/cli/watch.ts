import { Command } from 'commander';
import type { Config } from '../config/config.ts';
import { OpsError } from '../core/errors.ts';
import { createWatchBoard, formatBoard, type WatchBoard } from '../ingest/watch-board.ts';
import { createAuditLog } from '../safety/audit/audit-chain.ts';
import { kinds } from '../targets/kinds.ts';
import { connectSystems } from '../targets/systems.ts';
import { operator, withStore } from './with-store.ts';

export const watchCommand = new Command('watch')
  .description('List the watched logs: lines and matches a second, what cannot be read, what was lost.')
  .option('--json', 'the list as JSON', false)
  .action(({ json }: { readonly json: boolean }) =>
    withBoard(async (board) => {
      const states = await board.list();
      process.stdout.write(`${json ? JSON.stringify(states, null, 2) : formatBoard(states)}\n`);
    }),
  )
  .addCommand(setting('stop', 'Stop watching, in every process, until somebody starts it again.'))
  .addCommand(setting('start', 'Watch again, from where it was stopped.'));

function setting(verb: 'stop' | 'start', says: string): Command {
  return new Command(verb)
    .description(says)
    .argument('[target]', 'whose logs; may be left out where only one target has any')
    .argument('[log]', 'one of them, as the list names it; all without it')
    .action((target: string | undefined, log: string | undefined) =>
      withBoard(async (board) => {
        const answer = await board.set(verb, { target, log, by: operator() });
        if (!answer.ok) throw new OpsError('NOT_FOUND', answer.reason, { hint: 'sentry watch lists them.' });
        process.stdout.write(`${answer.text}\n`);
      }),
    );
}

function withBoard(use: (board: WatchBoard) => Promise<void>): Promise<void> {
  return withStore(async ({ sql }, config: Config) => {
    // Only for what is declared: nothing is opened.
    const systems = connectSystems(kinds, config.targets, { ownPorts: [] });
    try {
      await use(createWatchBoard({ sql, audit: createAuditLog(sql), watched: systems.logs }));
    } finally {
      await systems.close();
    }
  });
}
