import { parentPort } from 'node:worker_threads';
import { orThrow } from '../../core/errors.ts';
import { type LinePattern, lineMatcher } from './line-matcher.ts';

/** Lines to try patterns on; a text is cut into its lines here. */
export interface MatchTask {
  readonly patterns: readonly LinePattern[];
  readonly lines: string | readonly string[];
  /** From the end, so that of a log the newest lines are found. */
  readonly newestFirst: boolean;
  readonly maxHits: number;
  readonly maxMs: number;
}

export interface Hit {
  /** Of the lines given, from 0. */
  readonly line: number;
  /** The first pattern that fits, from 0. */
  readonly pattern: number;
  /** As it may be shown. */
  readonly text: string;
}

export interface Matched {
  /** In the order of the lines. */
  readonly hits: readonly Hit[];
  /** Lines that were tried; from the other end with `newestFirst`. */
  readonly tried: number;
  /** Every line was tried, to its end. */
  readonly complete: boolean;
}

/** Of a longer line the beginning is searched: the dearest pattern takes some seconds for so many characters. */
export const MAX_LINE = 64 * 1024;
/** A longer line is shown up to here. */
const MAX_SHOWN = 400;

function matchAll({ patterns, lines: given, newestFirst, maxHits, maxMs }: MatchTask): Matched {
  const until = performance.now() + maxMs;
  const lines = typeof given === 'string' ? given.split('\n') : given;
  const matchers = patterns.map((pattern) => orThrow(lineMatcher(pattern)).matches);
  const hits: Hit[] = [];
  let tried = 0;
  let complete = true;
  for (; tried < lines.length; tried += 1) {
    if (performance.now() > until) break;
    const at = newestFirst ? lines.length - 1 - tried : tried;
    const line = lines[at] ?? '';
    const part = line.slice(0, MAX_LINE);
    const pattern = matchers.findIndex((matches) => matches(part));
    if (pattern === -1) complete &&= part.length === line.length;
    else if (hits.length === maxHits) break;
    else hits.push({ line: at, pattern, text: shown(line) });
  }
  if (newestFirst) hits.reverse();
  return { hits, tried, complete: complete && tried === lines.length };
}

function shown(line: string): string {
  const text = line.replace(/\r$/, '');
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}… (+${text.length - MAX_SHOWN})`;
}

parentPort?.on('message', (task: MatchTask) => parentPort?.postMessage(matchAll(task)));
