import { lstatSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../core/errors.ts';
import { FILE_SCOPE } from '../../core/switch-scope.ts';

type FileName = 'STOP_SENTRY' | 'SENTRY_MODE';

/** A file in the data folder that holds up all changes. */
export interface StopFile {
  readonly name: FileName;
  /** For people: where it is, and what of it. The same words in every process. */
  readonly reason: string;
}

/** By whom a file's stop is, as the switch and the incidents have it. */
export const byFile = (name: FileName): string => `the file ${name}`;

/** The scope under which the file of one folder stands in the switch. */
export const fileScope = (name: FileName, folder: string): string => `${FILE_SCOPE}${name}:${folder}`;

export const isModeScope = (scope: string): boolean => scope.startsWith(`${FILE_SCOPE}SENTRY_MODE:`);

/** Only a file that is certainly not there is none: a folder that cannot be looked into may hold one. */
export function stopFile(dataDir: string): StopFile | undefined {
  const where = whereIs(dataDir);
  try {
    lstatSync(join(dataDir, 'STOP_SENTRY'));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return undefined;
    return {
      name: 'STOP_SENTRY',
      reason: `it cannot be seen whether it is in ${where} (${code ?? messageOf(error)})`,
    };
  }
  return { name: 'STOP_SENTRY', reason: `it is in ${where}` };
}

/** Of a mode; longer is none. */
const MODE_BYTES = 64;

/** The file when it makes the mode AUDIT: what cannot be read does. Undefined: it is not there, or says ACTIVE. */
export function auditFile(dataDir: string): StopFile | undefined {
  const path = join(dataDir, 'SENTRY_MODE');
  const audit = (says: string): StopFile => ({
    name: 'SENTRY_MODE',
    reason: `The file SENTRY_MODE in ${whereIs(dataDir)} ${says}`,
  });
  try {
    const found = lstatSync(path);
    const said = found.isFile() && found.size <= MODE_BYTES ? readFileSync(path, 'utf8').trim() : null;
    if (said === 'ACTIVE') return undefined;
    return audit(said === 'AUDIT' ? 'says AUDIT' : 'says neither AUDIT nor ACTIVE, which counts as AUDIT');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return code === 'ENOENT'
      ? undefined
      : audit(`cannot be read (${code ?? messageOf(error)}), which counts as AUDIT`);
  }
}

const whereIs = (dataDir: string): string => `${dataDir} on ${hostname()}`;
