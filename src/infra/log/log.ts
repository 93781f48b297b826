import { pino } from 'pino';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Json } from '../../core/tool-call.ts';
import { outwardJson, outwardText } from '../../safety/screen/boundary.ts';

/** JSON lines on stderr, so that stdout stays for what a command answers. What a line says is screened for secrets. */
export function createLog(level: string, destination: 'stderr' | { readonly file: string } = 'stderr'): Log {
  const stream =
    destination === 'stderr'
      ? pino.destination({ fd: 2, sync: true })
      : pino.destination({ dest: destination.file, sync: true, mkdir: true, mode: 0o600 });
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);
  const at =
    (severity: 'debug' | 'info' | 'warn' | 'error') =>
    (fields: object, message: string): void => {
      if (log.isLevelEnabled(severity)) log[severity](screened(fields), outwardText(message));
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** Fields as plain JSON, an error as its message; what is none is left out and said. */
function screened(fields: object): object {
  try {
    const plain = JSON.parse(
      JSON.stringify(fields, (_, value: unknown) => (value instanceof Error ? messageOf(value) : value)),
    ) as Json;
    return outwardJson(plain) as object;
  } catch {
    return { fields: 'cannot be written as JSON' };
  }
}
