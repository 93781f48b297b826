import { pino } from 'pino';
import type { Log } from '../../domain/log.ts';

/** JSON lines on stderr, so that stdout stays for what a command answers. */
export function createLog(level: string, destination: 'stderr' | { readonly file: string } = 'stderr'): Log {
  const stream =
    destination === 'stderr'
      ? pino.destination({ fd: 2, sync: true })
      : pino.destination({ dest: destination.file, sync: true, mkdir: true });
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);
}
