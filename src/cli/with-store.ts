import { userInfo } from 'node:os';
import { openStore, type Store } from '../app/store.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { createLog } from '../infra/log/log.ts';
import { createAuditLog } from '../safety/audit/audit-chain.ts';

/** Who acts, for the record. */
export const operator = (): string => `${userInfo().username} (command line)`;

/**
 * Runs a command against the record, whether the bot runs or not, and leaves everything as it found it. `writes`: the name
 * of a command that changes something and leaves no entry of its own in the audit log; it gets one first.
 */
export async function withStore<T>(
  use: (store: Store, config: Config) => Promise<T>,
  options: { readonly writes?: string } = {},
): Promise<T> {
  const config = loadConfig();
  const store = await openStore(config, createLog('error'));
  try {
    if (options.writes !== undefined)
      await createAuditLog(store.sql).append({
        kind: 'cli.command',
        actor: operator(),
        details: { command: options.writes },
      });
    return await use(store, config);
  } finally {
    await store.stop();
  }
}
