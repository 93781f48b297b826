import { orThrow } from '../../../core/errors.ts';
import type { LogMatch } from '../../../core/watched-log.ts';
import { type LineMatcher, lineMatcher } from '../../../safety/grep/line-matcher.ts';
import { matchLines } from '../../../safety/grep/match-lines.ts';
import type { HostLog } from '../config.ts';

/** One round of matching; what is left is tried in the next. */
const ROUND_MS = 2_000;
/** Of a line: where a record begins is told by a time or a level at its beginning. */
const TELLING = 512;

/** Records of a log that wait to be tried, and those that a pattern fits. */
export interface RecordMatcher {
  readonly onRecord: (text: string) => void;
  /** Tries all that came since: before the position behind them may be kept. */
  match(): Promise<void>;
  takeMatches(): readonly LogMatch[];
  takeNotes(): readonly string[];
}

export function recordMatcher({ patterns }: HostLog): RecordMatcher {
  const compiled = patterns.map(({ match }) => asPattern(match));
  const records: string[] = [];
  const matches: LogMatch[] = [];
  const notes: string[] = [];

  return {
    onRecord: (text) => void records.push(text),
    async match() {
      while (records.length > 0) {
        const task = { patterns: compiled, lines: records, newestFirst: false, maxMs: ROUND_MS };
        const { hits, tried } = await matchLines({ ...task, maxHits: records.length });
        for (const { line, pattern: at } of hits) {
          const pattern = patterns[at];
          const text = records[line];
          if (pattern && text !== undefined)
            matches.push({ pattern: pattern.name, severity: pattern.severity, text });
        }
        if (tried === 0)
          notes.push('A record took too long to be compared with the patterns, and was passed over.');
        records.splice(0, Math.max(1, tried));
      }
    },
    takeMatches: () => matches.splice(0),
    takeNotes: () => notes.splice(0),
  };
}

/** Fits the first line of a record. Tried on the main thread, so only on the beginning of the line. */
export function startMatcher({ starts }: HostLog): LineMatcher | null {
  if (starts === undefined) return null;
  const { matches } = orThrow(lineMatcher(asPattern(starts)));
  return (line) => matches(line.slice(0, TELLING));
}

const asPattern = (pattern: string) => ({ pattern, ignoreCase: false, literal: false });
