import type { WatchedLog } from '../../../core/watched-log.ts';
import type { HostConfig } from '../config.ts';
import { watchFile } from './watch-file.ts';
import { watchUnit } from './watch-unit.ts';

/** The declared logs of this machine. `journalctl`: where it is; found when left out. */
export function watchLogs({ watch, roots }: HostConfig, journalctl?: string): readonly WatchedLog[] {
  return watch.map((log) =>
    log.from.kind === 'file'
      ? watchFile(log.from.path, log, roots)
      : watchUnit(log.from.unit, log, journalctl),
  );
}
