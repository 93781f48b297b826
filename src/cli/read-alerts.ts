import { readFileSync } from 'node:fs';
import { Option } from 'commander';
import { loadConfig } from '../config/config.ts';
import type { Alert } from '../core/alert.ts';
import { OpsError } from '../core/errors.ts';
import { whyNot } from '../core/system-fault.ts';
import type { AlertSource } from '../sources/ports.ts';
import { addMappings, alertSource, defaultSource } from '../sources/registry.ts';

/** Whose payload the file is. */
export const sourceOption = new Option(
  '--source <name>',
  'who sends such a payload (docs/alert-sources.md lists them)',
).default(defaultSource.name);

/** The source of that name, also of those that the operator added. */
export function sourceNamed(name: string): AlertSource {
  addMappings(loadConfig().sourcesDir);
  return alertSource(name);
}

/** The alerts of a payload in a JSON file (`-`: standard input), as its source reads them. */
export async function readAlerts(file: string, source: string): Promise<readonly Alert[]> {
  return parseAlerts(readText(file), file, source);
}

/** The same of what `readText` gave of that file. */
export async function parseAlerts(text: string, file: string, sourceName: string): Promise<readonly Alert[]> {
  const source = sourceNamed(sourceName);
  const read = await source.read(parse(text, file), { receivedAt: new Date() });
  if (!read.ok)
    throw new OpsError('BAD_ALERT', `${read.field || 'payload'}: ${read.reason}`, {
      hint: `It must be ${source.payload}${source.docs ? ` (${source.docs})` : ''}.`,
    });
  for (const { field, reason } of read.refused ?? []) process.stderr.write(`${field}: ${reason}\n`);
  return read.alerts;
}

export function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw notReadable(file, error);
  }
}

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw notReadable(file, error);
  }
}

function notReadable(file: string, error: unknown): OpsError {
  return new OpsError('BAD_ALERT', `${file}: ${whyNot(error)}`, {
    hint: 'Give a readable JSON file, or - for standard input.',
  });
}
