import { readConfigFile } from '../config/config-file.ts';
import { maintenanceOf } from '../config/maintenance.ts';
import { type TargetsFile, targetsOf } from '../config/targets.ts';
import { wrong } from '../config/wrong.ts';
import type { ApiToken } from '../core/api-token.ts';
import { count } from '../core/count.ts';
import { messageOf, OpsError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { MaintenanceWindow } from '../core/maintenance-window.ts';
import { fileMark } from '../safety/paths/file-mark.ts';
import { redact } from '../safety/screen/redact.ts';
import type { TargetConfig, TargetKind } from '../targets/kind.ts';
import type { Systems } from '../targets/systems.ts';
import { checkChangesFrom } from './changes-from.ts';

interface ReloadDeps {
  readonly file: TargetsFile;
  readonly kinds: readonly TargetKind[];
  /** Those that may tell of changes are known by them. */
  readonly apiTokens: readonly ApiToken[];
  readonly systems: Pick<Systems, 'change'>;
  /** Puts them into the audit log, before anybody goes by them. */
  readonly audit: (targets: readonly TargetConfig[]) => Promise<unknown>;
  /** The windows of maintenance, as they are now. */
  readonly maintain: (windows: readonly MaintenanceWindow[]) => void;
  /** The targets are others now. */
  readonly changed: () => void;
  /** Tells the admins. */
  readonly tell: (text: string) => Promise<void>;
  readonly log: Log;
  /** Between two looks at the file. */
  readonly everyMs?: number;
}

/**
 * Takes in `sentry.yaml` when it changes. A version counts once two looks have found it, so that one that is still being
 * written is not taken for the whole; one that is wrong changes nothing, and is told.
 */
export function createTargetsReload(deps: ReloadDeps) {
  const { file, log, everyMs = 1_000 } = deps;
  /** Of the version that was dealt with, and of the one that the last look found; the file may have changed since the start. */
  let mark = '';
  let found = '';
  let problem: string | null = null;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();
  let isEnded = false;

  async function look(): Promise<void> {
    const now = fileMark(file.path);
    const isSettled = now === found;
    found = now;
    if (now === mark || !isSettled) return;
    const read = readAgain(deps);
    if ('problem' in read) refuse(read.problem);
    else {
      await take(read.targets);
      deps.maintain(read.maintenance);
    }
    // Only now: a version that could not be dealt with is read again.
    mark = now;
  }

  async function take(targets: readonly TargetConfig[]): Promise<void> {
    await deps.audit(targets);
    if (deps.systems.change(targets)) {
      deps.changed();
      const names = targets.map(({ name }) => name);
      log.info({ path: file.path, targets: names }, 'the targets are those of the file as it is now');
    }
    if (problem !== null) tell(`${file.path} is good again: ${count(targets.length, 'target')}.`);
    problem = null;
  }

  function refuse(said: string): void {
    const isNew = said !== problem;
    problem = said;
    if (!isNew) return;
    log.error({ path: file.path, problem }, 'the targets cannot be read again; those from before stay');
    tell(formatProblem(problem));
  }

  function tell(text: string): void {
    deps.tell(text).catch((error: unknown) => {
      log.warn({ error: messageOf(error) }, 'the admins could not be told of the targets');
    });
  }

  function lookAgain(): void {
    if (isEnded) return;
    timer = setTimeout(() => {
      looking = look()
        .catch((error: unknown) => {
          log.warn(
            { path: file.path, error: messageOf(error) },
            'the targets could not be looked at, trying again',
          );
        })
        .then(lookAgain);
    }, everyMs);
    timer.unref();
  }

  return {
    start: lookAgain,
    look,
    async stop(): Promise<void> {
      isEnded = true;
      clearTimeout(timer);
      await looking;
    },
    /** For App Home and `/sentry status`: what is wrong with the file as it is now; none: nothing. */
    lines: (): readonly string[] => (problem === null ? [] : [formatProblem(problem)]),
  };
}

const formatProblem = (problem: string): string =>
  `The targets and maintenance windows stay as they were: their file cannot be used. Correct it, and it is read again by itself.\n${problem}`;

/** Throws what is no fault of the file: that is tried again. */
function readAgain({
  file,
  kinds,
  apiTokens,
}: ReloadDeps):
  | { readonly targets: readonly TargetConfig[]; readonly maintenance: readonly MaintenanceWindow[] }
  | { readonly problem: string } {
  try {
    // Taken away, or empty: to begin with the playground instead is for a start, not for somebody's slip.
    const written = readConfigFile({ ...file, isNamed: true });
    const targets = targetsOf(written, file.env, kinds);
    checkChangesFrom(() => written, targets, apiTokens);
    if (targets.length === 0) throw wrong([`${file.path} names no target.`]);
    return { targets, maintenance: maintenanceOf(written) };
  } catch (error) {
    if (error instanceof OpsError && error.code === 'CONFIG')
      return { problem: redact(error.message.replace(/^.*:\n/, '')) };
    throw error;
  }
}
