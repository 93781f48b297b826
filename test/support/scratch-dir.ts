import { chmodSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';

/** A new empty folder that every user can enter; removed with the test run. */
export function scratchDir(): string {
  const dir = mkdtempSync(join(inject('scratchRoot'), 'dir-'));
  chmodSync(dir, 0o755);
  return dir;
}
