import { openStore, type Store } from '../app/store.ts';
import { type Config, loadConfig } from '../config.ts';
import { createLog } from '../infra/log/log.ts';

/** Runs a command against the record, whether the bot runs or not, and leaves everything as it found it. */
export async function withStore<T>(use: (store: Store, config: Config) => Promise<T>): Promise<T> {
  const config = loadConfig();
  const store = await openStore(config, createLog('error'));
  try {
    return await use(store, config);
  } finally {
    await store.stop();
  }
}
