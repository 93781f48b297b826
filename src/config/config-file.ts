import { existsSync, readFileSync } from 'node:fs';
import { type Document, isNode, type LineCounter } from 'yaml';
import { whyNot } from '../core/system-fault.ts';
import { readYaml } from '../safety/inputs/read-yaml.ts';
import { wrong } from './wrong.ts';

export interface ConfigPath {
  readonly path: string;
  /** Somebody named it: not to find it is a fault. */
  readonly isNamed: boolean;
}

/** `sentry.yaml` as it was read; undefined: there is none, or it is empty. */
export interface ConfigFile {
  readonly raw: unknown;
  /** It is there, and says nothing. */
  readonly isEmpty?: boolean;
  /** What errors call the part of it at a path: the file, and the line. */
  readonly placeOf: (path: readonly PropertyKey[]) => string;
}

/** Throws OpsError CONFIG where a file that was asked for is missing, and where it is no YAML. */
export function readConfigFile({ path, isNamed }: ConfigPath): ConfigFile {
  if (existsSync(path)) return parseConfigFile(textOf(path), path);
  if (isNamed) throw wrong([`${path} does not exist (SENTRY_CONFIG)`]);
  return { raw: undefined, placeOf: () => path };
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw wrong([`${path} cannot be read: ${whyNot(error)}`]);
  }
}

/** What the text of a file says. `path`: for its errors. Throws OpsError CONFIG. */
export function parseConfigFile(text: string, path: string): ConfigFile {
  const read = readYaml(text);
  if (!read.ok) {
    // One slip makes several faults, and the first is where it is.
    const [fault] = read.faults;
    throw wrong([`${path}:${fault?.line}: not valid YAML: ${fault?.message}`]);
  }
  const { value, document, lines } = read;
  return {
    raw: value,
    isEmpty: value === undefined,
    placeOf: (at) => `${path}${lineOf(document, lines, at)}`,
  };
}

/** `:7`, where the part at a path begins, or the nearest around it. */
function lineOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): string {
  for (let depth = path.length; depth > 0; depth -= 1) {
    const node = document.getIn(path.slice(0, depth), true);
    if (isNode(node) && node.range) return `:${lines.linePos(node.range[0]).line}`;
  }
  return '';
}
