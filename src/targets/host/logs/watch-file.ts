import { refuse } from '../../../core/errors.ts';
import type { Json } from '../../../core/tool-call.ts';
import type { LogMatch, LogReader, WatchedLog } from '../../../core/watched-log.ts';
import { openInside } from '../../../safety/paths/open-inside.ts';
import { isInside } from '../../../safety/paths/system-folders.ts';
import type { HostLog, HostRoot } from '../config.ts';
import { FileFollower, type LogPosition } from './follow-file.ts';
import { matcherOf, recordMatcher } from './match-records.ts';

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
      const matchOf = recordMatcher(log);
      const matches: LogMatch[] = [];
      const follower = new FileFollower({
        path,
        starts: log.starts === undefined ? null : matcherOf(log.starts),
        open: async (each) => {
          const root = rootOf(each, roots);
          return root === null
            ? refuse('PATH_OUTSIDE', 'The path is in none of the folders of the host.')
            : openInside(root, each);
        },
        onRecord(text) {
          const match = matchOf(text);
          if (match) matches.push(match);
        },
        ...(now ? { now } : {}),
      });
      await follower.begin(position as unknown as LogPosition | null);
      return {
        step: () => follower.step(),
        takeMatches: () => matches.splice(0),
        takeNotes: () => follower.takeNotes(),
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
