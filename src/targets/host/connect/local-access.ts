import { statfs } from 'node:fs/promises';
import { runCommand } from '../../../safety/commands/run-command.ts';
import { applyPlan } from '../../../safety/diffs/apply-plan.ts';
import { planPatch } from '../../../safety/diffs/plan-patch.ts';
import { undoPatch } from '../../../safety/diffs/undo-patch.ts';
import { searchInside } from '../../../safety/grep/search-inside.ts';
import { checkPath } from '../../../safety/paths/check-path.ts';
import { readInside } from '../../../safety/paths/read-inside.ts';
import { walkInside } from '../../../safety/paths/walk-inside.ts';
import type { HostAccess } from '../system.ts';

/** This machine, by the guards of `src/safety`. */
export const localAccess: HostAccess = {
  check: checkPath,
  read: readInside,
  walk: walkInside,
  search: searchInside,
  run: runCommand,
  plan: planPatch,
  apply: applyPlan,
  undo: undoPatch,
  async space(path) {
    const { bsize, blocks, bavail } = await statfs(path);
    return { size: blocks * bsize, free: bavail * bsize };
  },
};
