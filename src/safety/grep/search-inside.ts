import type { Refusal } from '../../core/errors.ts';
import { type FileContent, readInside } from '../paths/read-inside.ts';
import { type Walk, type WalkedFile, walkInside } from '../paths/walk-inside.ts';
import type { LineMatcher } from './line-matcher.ts';

export interface Match {
  /** From the root. */
  readonly path: string;
  /** From 1; null in a file of which only the end was read. */
  readonly line: number | null;
  readonly text: string;
}

export interface SearchResult {
  readonly ok: true;
  readonly matches: readonly Match[];
  readonly filesSearched: number;
  /** Binary files, secret ones, links, devices: not looked into. */
  readonly passedOver: number;
  /** False when a limit was reached before the end: there may be more. */
  readonly complete: boolean;
}

export interface SearchOptions {
  /** At most so many matches; of each file and in all. */
  readonly maxMatches: number;
  readonly signal?: AbortSignal;
  readonly limits?: SearchLimits;
}

export interface SearchLimits {
  readonly maxFiles: number;
  /** Bytes of one file: of a longer one the end is read, where a log is newest. */
  readonly maxFileBytes: number;
  readonly maxBytes: number;
  readonly maxMs: number;
}

/** Where it is searched: in the files of this machine, or of another one. */
export interface SearchedFiles {
  readonly walk: (
    root: string,
    text: string,
    options: { readonly signal?: AbortSignal },
  ) => Promise<Walk | Refusal>;
  /** The ends of files of a walk, in their order, each of at most so many bytes. Read no further than it is asked to. */
  readonly ends: (
    root: string,
    files: readonly WalkedFile[],
    maxBytes: number,
    signal: AbortSignal | undefined,
  ) => AsyncIterable<FileContent | Refusal>;
}

const localFiles: SearchedFiles = {
  walk: walkInside,
  async *ends(root, files, maxBytes) {
    for (const { relative } of files)
      yield readInside(root, relative === '' ? '.' : relative, { maxBytes, fromEnd: true });
  },
};

const defaultLimits: SearchLimits = {
  maxFiles: 2_000,
  maxFileBytes: 8 * 1024 * 1024,
  maxBytes: 64 * 1024 * 1024,
  maxMs: 8_000,
};
/** Of a longer line the beginning is searched: the dearest pattern takes about a second for so many characters. */
const MAX_LINE = 64 * 1024;
/** A longer line is shown up to here. */
const MAX_SHOWN = 400;

/**
 * Looks for lines in the files at or below a path inside a root, the newest files first. Bounded in files, bytes, time and
 * matches, and linear in what it reads; each file is opened by the path rules.
 */
export async function searchInside(
  root: string,
  text: string,
  matches: LineMatcher,
  options: SearchOptions,
  searched: SearchedFiles = localFiles,
): Promise<SearchResult | Refusal> {
  const limits = options.limits ?? defaultLimits;
  const until = performance.now() + limits.maxMs;
  const walk = await searched.walk(root, text, options.signal ? { signal: options.signal } : {});
  if (!walk.ok) return walk;
  const found: Match[] = [];
  let { complete, withheld: passedOver } = walk;
  let bytesLeft = limits.maxBytes;
  let filesSearched = 0;
  const files = newestFirst(walk.files);
  const ends = searched.ends(walk.root, files, limits.maxFileBytes, options.signal)[Symbol.asyncIterator]();
  for (const file of files) {
    options.signal?.throwIfAborted();
    const isOver = filesSearched >= limits.maxFiles || bytesLeft <= 0 || performance.now() > until;
    const next = isOver || found.length >= options.maxMatches ? null : await ends.next();
    if (next === null || next.done) {
      complete = false;
      await ends.return?.();
      break;
    }
    const read = next.value;
    if (!read.ok || read.kind === 'binary') {
      passedOver += 1;
      continue;
    }
    bytesLeft -= Math.min(read.size, limits.maxFileBytes);
    filesSearched += 1;
    complete &&= !read.cut;
    complete &&= searchText(file, read, matches, found, { max: options.maxMatches, until });
  }
  return { ok: true, matches: found, filesSearched, passedOver, complete };
}

/** False when it stopped before the end of the text. */
function searchText(
  file: WalkedFile,
  read: { readonly text: string; readonly cut: boolean },
  matches: LineMatcher,
  found: Match[],
  limits: { readonly max: number; readonly until: number },
): boolean {
  const lines = read.text.split('\n');
  // From the end, so that of a log the newest lines are found; shown in their order.
  const here: Match[] = [];
  let whole = true;
  for (let at = lines.length - 1; at >= 0; at -= 1) {
    if (performance.now() > limits.until) {
      whole = false;
      break;
    }
    const line = lines[at] ?? '';
    if (!matches(line.slice(0, MAX_LINE))) {
      whole &&= line.length <= MAX_LINE;
      continue;
    }
    if (found.length + here.length >= limits.max) {
      whole = false;
      break;
    }
    here.push({ path: file.relative, line: read.cut ? null : at + 1, text: shown(line) });
  }
  found.push(...here.toReversed());
  return whole;
}

function shown(line: string): string {
  const text = line.replace(/\r$/, '');
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}… (+${text.length - MAX_SHOWN})`;
}

function newestFirst(files: readonly WalkedFile[]): readonly WalkedFile[] {
  return files.toSorted(
    (a, b) => b.modifiedAt.getTime() - a.modifiedAt.getTime() || (a.relative < b.relative ? -1 : 1),
  );
}
