import { existsSync, readFileSync } from 'node:fs';
import { parse as parseYaml } from 'yaml';
import { messageOf } from '../core/errors.ts';
import { wrong } from './wrong.ts';

/** `sentry.yaml` as it was read, and what errors call it. Undefined: there is none, or it is empty. */
export interface ConfigFile {
  readonly raw: unknown;
  readonly where: string;
}

/** Throws OpsError CONFIG where a file that was asked for is missing, and where it is no YAML. */
export function readConfigFile(path: string | undefined): ConfigFile {
  const where = path ?? 'sentry.yaml';
  if (!existsSync(where)) {
    if (path) throw wrong([`SENTRY_CONFIG: ${path} does not exist`]);
    return { raw: undefined, where };
  }
  try {
    return { raw: parseYaml(readFileSync(where, 'utf8')) ?? undefined, where };
  } catch (error) {
    throw wrong([`${where}: not valid YAML: ${messageOf(error)}`]);
  }
}
