import { refuse } from '../../../core/errors.ts';
import type { Json } from '../../../core/tool-call.ts';
import type { LogReader, WatchedLog } from '../../../core/watched-log.ts';
import { openInside } from '../../../safety/paths/open-inside.ts';
import { isInside } from '../../../safety/paths/system-folders.ts';
import type { HostLog, HostRoot } from '../config.ts';
import { FileFollower, type LogPosition } from './follow-file.ts';
import { recordMatcher, startMatcher } from './match-records.ts';

/** A declared log file of this machine; nothing outside the host's folders is opened, whatever its name leads to. */
export function watchFile(
  path: string,
  log: HostLog,
  roots: readonly HostRoot[],
  now?: () => number,
): WatchedLog {
  return {
    name: path,
    async open(position): Promise<LogReader> {
      const matcher = recordMatcher(log);
      const follower = new FileFollower({
        path,
        starts: startMatcher(log),
        open: async (each) => {
          const root = rootOf(each, roots);
          return root === null
            ? refuse('PATH_OUTSIDE', 'The path is in none of the folders of the host.')
            : openInside(root, each);
        },
        onRecord: matcher.onRecord,
        ...(now ? { now } : {}),
      });
      await follower.begin(position as unknown as LogPosition | null);
      return {
        async step() {
          const isMore = await follower.step();
          await matcher.match();
          return isMore;
        },
        takeMatches: matcher.takeMatches,
        takeNotes: () => [...follower.takeNotes(), ...matcher.takeNotes()],
        close: () => follower.close(),
        get position() {
          return follower.position as unknown as Json;
        },
        get lines() {
          return follower.lines;
        },
        get cut() {
          return follower.cut;
        },
        get problem() {
          return follower.problem;
        },
      };
    },
  };
}

/** The deepest of the host's folders that a path lies in. */
function rootOf(path: string, roots: readonly HostRoot[]): string | null {
  const around = roots.filter((root) => isInside(root.path, path));
  const [deepest] = around.toSorted((a, b) => b.path.length - a.path.length);
  return deepest?.path ?? null;
}
