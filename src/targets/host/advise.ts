import { dirname } from 'node:path';
import type { Json } from '../../core/tool-call.ts';
import { mayBeRoot } from '../../safety/paths/root-folder.ts';
import { isSecretFile } from '../../safety/paths/secret-files.ts';
import type { Advice, FailedRead, GrantSteps } from '../kind.ts';

const OPERATOR = 'Whoever runs Sentry.';
const READ_AGAIN = 'Sentry reads the file again by itself, within seconds.';
const NOT_OURS =
  'The investigation came upon this name; nobody of yours chose it. Allow it only if its content may be read here.';

export function adviseHost(read: FailedRead, reader: string | null): Advice | null {
  if (read.code === 'HOST_AWAY') return { way: 'run', isAway: true };
  if (read.code === 'PATH_CHANGED') return { way: 'run', isAway: false };
  const steps = stepsFor(read, read.target ?? '', reader);
  return steps && { way: 'grant', steps };
}

function stepsFor(read: FailedRead, target: string, reader: string | null): GrantSteps | null {
  switch (read.code ?? '') {
    case 'PATH_OUTSIDE': {
      const folder = folderOf(read);
      return folder === null
        ? null
        : {
            who: OPERATOR,
            what: `Add the folder to those of ${target} in sentry.yaml:`,
            exact: yamlTarget(target, 'roots', JSON.stringify(folder)),
            note: `${NOT_OURS} ${READ_AGAIN}`,
          };
    }
    case 'PATH_UNREADABLE': {
      const path = field(read.input, 'path');
      return path === null || isSecretFile(path)
        ? null
        : {
            who: `An administrator of ${target}.`,
            what: `Let the account ${reader === null ? 'that Sentry runs under' : `${reader}, by which Sentry logs in,`} read this file:`,
            exact: path,
            note: NOT_OURS,
          };
    }
    case 'HOST_NO_SERVICE': {
      const service = field(read.input, 'service');
      if (service === null) return null;
      const entry = `{ name: ${JSON.stringify(service)}, unit: ${JSON.stringify(`${service}.service`)} }`;
      return {
        who: OPERATOR,
        what: `Declare the service for ${target} in sentry.yaml, with its unit or its restart command. What is declared may also be proposed to be restarted.`,
        exact: yamlTarget(target, 'services', entry),
        note: `${NOT_OURS} ${READ_AGAIN}`,
      };
    }
    default:
      return null;
  }
}

/** Only a folder that an operator could name as well, and that does not hold secrets by its name. */
function folderOf({ input, output }: FailedRead): string | null {
  const path = field(input, 'path');
  // A link that leads out of a folder is refused with the same code, and naming the folder again would not help.
  if (path === null || !path.startsWith('/') || !/none of the folders/.test(output)) return null;
  const folder = dirname(path);
  return isSecretFile(path) || isSecretFile(folder) || !mayBeRoot(folder) ? null : folder;
}

function field(input: Json, name: string): string | null {
  const value = (input as { readonly [key: string]: Json | undefined } | null)?.[name];
  return typeof value === 'string' ? value : null;
}

/** `entry` is YAML as JSON writes its strings: nothing in it can begin another line. */
const yamlTarget = (target: string, list: string, entry: string): string =>
  `targets:\n  - name: ${JSON.stringify(target)}\n    ${list}:\n      - ${entry}`;
