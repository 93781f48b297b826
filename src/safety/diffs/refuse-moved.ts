import { type Refusal, refuse } from '../../core/errors.ts';
import { sha256 } from '../sha256.ts';
import { type HeldFolder, readHeld } from './folder.ts';
import { defaultDiffLimits } from './patch-types.ts';

/** Refused when a file is not (any more) what it should be; `expected` null: there should be none. */
export async function refuseMoved(
  folder: HeldFolder,
  name: string,
  expected: string | null,
): Promise<Refusal | undefined> {
  const now = await readHeld(folder, name, defaultDiffLimits.maxFileBytes * 16);
  if (now !== null && !Buffer.isBuffer(now)) return now;
  const same = (now === null ? null : sha256(now)) === expected;
  return same
    ? undefined
    : refuse('PATCH_CHANGED', `${name} is not what it was any more; nothing is overwritten.`);
}
