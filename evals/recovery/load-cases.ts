import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { messageOf, OpsError } from '../../src/core/errors.ts';
import { RecoveryCase } from './recovery-case.ts';

/** The cases of a folder, by the names of their files. Throws OpsError EVALS_FILE for one that cannot be read. */
export async function loadRecoveryCases(folder: string): Promise<readonly RecoveryCase[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    throw new OpsError('NOT_FOUND', `There is no folder of recovery cases at ${folder}.`, {
      hint: 'They come with the source; name a folder of your own with --cases.',
      cause: error,
    });
  });
  return Promise.all(
    names
      .filter((name) => name.endsWith('.yaml'))
      .toSorted()
      .map(async (name) => caseIn(name, await readFile(join(folder, name), 'utf8'))),
  );
}

export function caseIn(name: string, text: string): RecoveryCase {
  const read = RecoveryCase.safeParse(parsed(name, text));
  if (!read.success)
    throw new OpsError('EVALS_FILE', `${name} is no recovery case: ${z.prettifyError(read.error)}`, {
      hint: 'docs/evals.md describes each field.',
    });
  if (basename(name, '.yaml') !== read.data.id)
    throw new OpsError('EVALS_FILE', `${name} calls itself ${read.data.id}.`, {
      hint: 'A case is named as its file is.',
    });
  return read.data;
}

function parsed(name: string, text: string): unknown {
  try {
    return parse(text, { merge: true });
  } catch (error) {
    throw new OpsError('EVALS_FILE', `${name} is no YAML: ${messageOf(error)}`, { hint: 'Mend the file.' });
  }
}
