import type { Refusal } from '../../core/errors.ts';
import { type FileContent, readInside } from '../paths/read-inside.ts';
import { type Walk, type WalkedFile, walkInside } from '../paths/walk-inside.ts';
import type { LinePattern } from './line-matcher.ts';
import { matchLines } from './match-lines.ts';

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

/**
 * Looks for lines in the files at or below a path inside a root, the newest files first. Bounded in files, bytes, time and
 * matches; each file is opened by the path rules, and its lines are tried beside the main thread.
 */
export async function searchInside(
  root: string,
  text: string,
  pattern: LinePattern,
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
    const { hits, complete: whole } = await matchLines(
      {
        patterns: [pattern],
        lines: read.text,
        newestFirst: true,
        maxHits: options.maxMatches - found.length,
        maxMs: Math.max(0, until - performance.now()),
      },
      options.signal,
    );
    found.push(
      ...hits.map(({ line, text: hit }) => ({
        path: file.relative,
        line: read.cut ? null : line + 1,
        text: hit,
      })),
    );
    complete &&= whole;
  }
  return { ok: true, matches: found, filesSearched, passedOver, complete };
}

function newestFirst(files: readonly WalkedFile[]): readonly WalkedFile[] {
  return files.toSorted(
    (a, b) => b.modifiedAt.getTime() - a.modifiedAt.getTime() || (a.relative < b.relative ? -1 : 1),
  );
}
