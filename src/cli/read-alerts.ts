import { readFileSync } from 'node:fs';
import { Option } from 'commander';
import type { Alert } from '../core/alert.ts';
import { messageOf, OpsError } from '../core/errors.ts';
import { alertSource, alertSources, defaultSource } from '../sources/registry.ts';

/** Whose payload the file is. */
export const sourceOption = new Option(
  '--source <name>',
  `who sends such a payload: ${alertSources.map(({ name }) => name).join(' or ')}`,
).default(defaultSource.name);

/** The alerts of a payload in a JSON file (`-`: standard input), as its source reads them. */
export function readAlerts(file: string, sourceName: string): readonly Alert[] {
  const source = alertSource(sourceName);
  const read = source.read(readJson(file), { receivedAt: new Date() });
  if (read.ok) return read.alerts;
  throw new OpsError('BAD_ALERT', `${read.field || 'payload'}: ${read.reason}`, {
    hint: `It must be ${source.payload}.`,
  });
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8'));
  } catch (error) {
    throw new OpsError('BAD_ALERT', `${file}: ${messageOf(error)}`, {
      hint: 'Give a readable JSON file, or - for standard input.',
    });
  }
}
