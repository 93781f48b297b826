import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import { OpsError } from '../../src/core/errors.ts';
import { Situation } from './situation.ts';

/** `develop`: rules are made with them. `heldOut`: they are only measured. Throws OpsError EVALS_FILE for one that cannot be read. */
export async function loadSituations(set: 'develop' | 'heldOut'): Promise<readonly Situation[]> {
  const file = set === 'develop' ? 'situations.yaml' : 'held-out.yaml';
  const read = z.array(Situation).safeParse(parse(await readFile(new URL(file, import.meta.url), 'utf8')));
  if (read.success) return read.data;
  throw new OpsError('EVALS_FILE', `evals/changes/${file}: ${z.prettifyError(read.error)}`, {
    hint: 'evals/changes/situation.ts tells what a situation may say.',
  });
}
