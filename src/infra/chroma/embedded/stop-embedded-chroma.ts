import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../../core/log.ts';
import { withFileLock } from '../../process/file-lock.ts';
import { findChroma, shutDownChroma } from './chroma-process.ts';

/**
 * Stops whatever Chroma server runs on this data folder, whoever started or uses it. For cleaning up after killed
 * processes.
 *
 * @returns whether one was running.
 */
export async function stopEmbeddedChroma(dataDir: string, log: Log): Promise<boolean> {
  if (!existsSync(join(dataDir, 'data'))) return false;
  const real = realpathSync(dataDir);
  return withFileLock(join(real, 'lock'), 90_000, async () => {
    const found = findChroma(join(real, 'data'));
    if (found === undefined) return false;
    await shutDownChroma(log, found.process);
    return true;
  });
}
