import { existsSync } from 'node:fs';
import { FILE_SCOPE } from '../../core/switch-scope.ts';
import { LIVE_MS } from '../../safety/kill-switch/kill-switch.ts';
import {
  auditFile,
  byFile,
  fileScope,
  isModeScope,
  type StopFile,
  stopFile,
} from '../../safety/kill-switch/stop-files.ts';
import { announceCleared, announceSet, settingKey } from './announce.ts';
import type { KillSwitchServiceDeps } from './kill-switch-service.ts';

/** The data folder of this process, whose files hold for all processes on the record. */
export interface OwnFolder {
  /** Which folder it is, whatever process has it. */
  readonly id: string;
  readonly dataDir: string;
  readonly executorId: string;
}

/** Asks for the stops of files whose processes have ended. */
export const ENDED_FILES = FILE_SCOPE;

/**
 * Brings the switch into line with the files of this folder. A row stays when its process ends, however it ends: whoever has
 * the folder next, or a person, lifts it. A folder that is gone lifts nothing.
 */
export async function shareFiles(deps: KillSwitchServiceDeps, folder: OwnFolder): Promise<void> {
  const files = [
    { name: 'STOP_SENTRY', found: stopFile(folder.dataDir) },
    { name: 'SENTRY_MODE', found: auditFile(folder.dataDir) },
  ] as const;
  for (const { name, found } of files) {
    const scope = fileScope(name, folder.id);
    // Whoever writes to the switch waits for the claims under way: only where something is to be changed.
    const [row] = await deps.sql<{ stopped: boolean; reason: string; process: string | null }>`
      SELECT stopped, reason, process FROM switch WHERE scope = ${scope}`;
    if (found) {
      const isNew = row?.stopped !== true || row.reason !== found.reason;
      if (isNew || row.process !== folder.executorId) await hold(deps, folder, scope, found, isNew);
    } else if (row?.stopped === true && existsSync(folder.dataDir)) await lift(deps, folder, scope);
  }
}

async function hold(
  { sql, audit, targets }: KillSwitchServiceDeps,
  { executorId }: OwnFolder,
  scope: string,
  { name, reason }: StopFile,
  isNew: boolean,
): Promise<void> {
  const by = byFile(name);
  await sql.begin(async (tx) => {
    const [row] = await tx<{ at: string }>`
      INSERT INTO switch AS s (scope, stopped, by, reason, process) VALUES (${scope}, true, ${by}, ${reason}, ${executorId})
      ON CONFLICT (scope) DO UPDATE SET stopped = true, by = excluded.by, reason = excluded.reason, until = NULL,
         process = excluded.process, at = CASE WHEN ${isNew} THEN clock_timestamp() ELSE s.at END
      RETURNING at`;
    // A change of mode has its own notice.
    if (!isNew || name === 'SENTRY_MODE') return;
    await announceSet(tx, targets, scope, { by, reason, until: null }, settingKey(scope, String(row?.at)));
    await audit.appendIn(tx, { kind: 'switch.set', actor: 'system', details: { scope: name, reason } });
  });
}

/** Not while another process says that the file is there: of two folders one may be a copy of the other, its id included. */
async function lift(deps: KillSwitchServiceDeps, { executorId }: OwnFolder, scope: string): Promise<void> {
  await clear(deps, 'system', 'the file is gone', { scope, executorId });
}

/** Lifts the stops of files whose processes have ended: nobody looks any more whether they are there. False: there is none. */
export function liftEnded(deps: KillSwitchServiceDeps, by: string, reason: string): Promise<boolean> {
  return clear(deps, by, reason, { scope: null, executorId: null });
}

async function clear(
  deps: KillSwitchServiceDeps,
  by: string,
  reason: string,
  { scope, executorId }: { readonly scope: string | null; readonly executorId: string | null },
): Promise<boolean> {
  return deps.sql.begin(async (tx) => {
    const rows = await tx<{ scope: string }>`
      UPDATE switch s SET stopped = false, by = ${by}, reason = ${reason}, process = NULL, at = clock_timestamp()
       WHERE scope LIKE ${`${FILE_SCOPE}%`} AND stopped AND scope = coalesce(${scope}::text, scope)
         AND (process = ${executorId}
              OR NOT EXISTS (SELECT FROM process p WHERE p.executor_id = s.process
                               AND p.beat_at > clock_timestamp() - ${LIVE_MS} * interval '1 millisecond'))
      RETURNING scope`;
    // A file that goes tells of its mode by another way.
    for (const row of rows)
      if (executorId === null || !isModeScope(row.scope))
        await announceCleared(tx, deps, row.scope, by, reason);
    return rows.length > 0;
  });
}
