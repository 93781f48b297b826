import { gravityOf, isAnnouncement, isBeginning, type LineKind, lineKind } from './line-kind.ts';
import { maskedLine } from './masked-line.ts';
import { shortened } from './shortened.ts';

/** How the log of a process that runs no more ends. */
export interface LogEnd {
  /**
   * `reason`: its last words state one that is known. `ordinary`: its last lines are of kinds that it writes while it works.
   * `survived`: it ends with an error of which it says that it goes on, as it did each time before.
   * `told_to_stop`, `starting`: so its last line says. `unclear`: none of these; only the lines themselves can be told. `empty`.
   */
  readonly state: 'reason' | 'ordinary' | 'survived' | 'told_to_stop' | 'starting' | 'unclear' | 'empty';
  /**
   * Of a reason: which one, what it means, what mends it, whether one more start may do (only where it had begun to work: what ends
   * it while it starts ends the next start too); else empty.
   */
  readonly kind: string;
  readonly means: string;
  readonly advice: string;
  readonly restart: boolean;
  /** The line that states the reason, else the last one; as it stands there. */
  readonly line: string;
  /** `line` for a headline. */
  readonly shown: string;
  /** All that its last words say of trouble, line by line; empty unless there is a reason. */
  readonly words: string;
  /** These lines themselves tell of start after start. */
  readonly looping: boolean;
  /** None of these lines speaks of trouble. */
  readonly clean: boolean;
}

interface Line {
  readonly raw: string;
  readonly mask: string;
  readonly indented: boolean;
  readonly is: LineKind;
}

/** A line of the log is called ordinary when so many of its kind came before, and the service went on after each. */
const SEEN_BEFORE = 2;
/** So many last lines have to be ordinary. */
const LAST = 3;
/** So many starts, within so many minutes where the lines have times. */
const STARTS = 3;
const LOOP_MINUTES = 30;

/**
 * Judges by what the last lines say, never by what they do not say: what is not known stays `unclear`. `looping`: the service was
 * seen to be started again, so that a line may stand there once for each start.
 */
export function logEnd(text: string, looping: boolean): LogEnd {
  const lines = linesOf(text);
  const last = lines.at(-1);
  const own = isLooping(lines);
  const again = looping || own || announcesAgain(lines);
  const clean = lines.every(({ is }) => is.kind !== 'reason' && is.kind !== 'trouble');
  const end = (state: LogEnd['state'], line = last?.raw ?? ''): LogEnd => ({
    state,
    kind: '',
    means: '',
    advice: '',
    restart: false,
    line,
    shown: shortened(line),
    words: '',
    looping: own,
    clean,
  });
  if (last === undefined) return end('empty');

  // What follows a reason may only belong to it: frames, hints, words of farewell.
  let at = lines.length - 1;
  while (at >= 0 && isAfterword(lines[at])) at -= 1;
  const afterwords = lines.slice(at + 1);
  const final = lines[at];
  if (final !== undefined && (final.is.kind === 'reason' || final.is.kind === 'trouble')) {
    const from = troubleFrom(lines, at);
    // What goes wrong while it stops is not why it stops.
    const order = lines.slice(from, at).find(({ is }) => is.kind === 'stopping' && is.told);
    if (order !== undefined) return end('told_to_stop', order.raw);
    const stated = statedReason(lines, from, at, looping || own);
    if (stated === undefined) return end(isSurvived(lines, at) ? 'survived' : 'unclear', final.raw);
    if (isPassing(lines, stated, afterwords)) return end('unclear', final.raw);
    const { kind, means, advice } = stated.end;
    const restart = stated.end.restart && !again && hasWorked(lines.slice(0, stated.from));
    const words = lines.slice(stated.from).map(({ raw }) => raw);
    return { ...end('reason', stated.raw), kind, means, advice, restart, words: words.join('\n') };
  }
  if (afterwords.some(({ is }) => is.kind === 'continued')) return end('unclear');
  if (afterwords.length > 0) {
    const told = afterwords.some(({ is }) => is.kind === 'stopping' && is.told);
    return end(told || (final !== undefined && isOrdinary(lines, at)) ? 'told_to_stop' : 'unclear');
  }
  if (last.is.kind === 'starting' && !isOrdinary(lines, lines.length - 1)) return end('starting');
  // Its last line may say why in words or in a language that nobody here knows, however calm it is called.
  const isNew = lines.slice(0, -1).every(({ mask }) => mask !== last.mask);
  const tail = lines.slice(-LAST).map((_, n, all) => lines.length - all.length + n);
  return end(
    !isNew &&
      !announcesAgain(lines) &&
      tail.every((n) => isOrdinary(lines, n) || (n < lines.length - 1 && lines[n]?.is.kind === 'starting'))
      ? 'ordinary'
      : 'unclear',
  );
}

function linesOf(text: string): readonly Line[] {
  const rows = text.split('\n').filter((raw) => raw.trim() !== '');
  const lines: Line[] = [];
  for (const [n, raw] of rows.entries()) {
    const is = lineKind(raw);
    const before = lines.at(-1);
    const belongs = isSource(rows, n) || (is.kind !== 'reason' && is.kind !== 'stopping' && opens(before));
    lines.push({
      raw: raw.trim(),
      mask: maskedLine(raw),
      indented: /^\s/.test(raw),
      is: belongs ? { kind: 'continued' } : is,
    });
  }
  return lines;
}

/** A line of the program itself, which a runtime shows beside its error: what it would do, not what happened. */
const isSource = (rows: readonly string[], n: number): boolean =>
  /^[\s~^]*\^[\s~^]*$/.test(rows[n + 1] ?? '') ||
  (/^\s/.test(rows[n] ?? '') && /^\s+File ".*", line \d+/.test(rows[n - 1] ?? ''));

/** An error that ends with a colon goes on in the next line. */
const opens = (line: Line | undefined): boolean =>
  (line?.is.kind === 'reason' || line?.is.kind === 'trouble') && line.raw.endsWith(':');

const isAfterword = (line: Line | undefined): boolean =>
  line?.is.kind === 'continued' || line?.is.kind === 'stopping';

/** Where the trouble begins that ends at a line. */
function troubleFrom(lines: readonly Line[], at: number): number {
  let from = at;
  while (from > 0 && at - from < 40 && isTroubled(lines[from - 1])) from -= 1;
  return from;
}

/** Of the trouble at the end, the gravest that is known; undefined when it is none, more than one, or was survived before. */
function statedReason(lines: readonly Line[], from: number, at: number, looping: boolean) {
  const reasons = lines
    .slice(from, at + 1)
    .flatMap(({ raw, mask, indented, is }, n) =>
      is.kind === 'reason'
        ? [{ raw, mask, indented, at: from + n, end: is.end, grave: gravity(raw, is.fatal) }]
        : [],
    );
  // Who is killed from outside is not killed by the error before; but the kernel says first what it kills for.
  const killed =
    reasons.at(-1)?.end.kind === 'killed' && reasons.every(({ end }) => end.kind !== 'out_of_memory');
  const exact = killed
    ? reasons.slice(-1)
    : reasons.filter(({ end }) => !end.generic && end.kind !== 'killed');
  const candidates = exact.length > 0 ? exact : reasons;
  const gravest = Math.max(...candidates.map(({ grave }) => grave));
  const stated = candidates.filter(({ grave }) => grave === gravest);
  // A runtime also shows the line of its source that threw.
  const chosen = stated.find(({ indented }) => !indented) ?? stated[0];
  if (chosen === undefined || new Set(stated.map(({ end }) => end.kind)).size > 1) return undefined;
  return wasSurvived(lines, chosen, looping) ? undefined : { ...chosen, from };
}

const isTroubled = (line: Line | undefined): boolean =>
  line !== undefined && line.is.kind !== 'plain' && line.is.kind !== 'starting' && line.is.kind !== 'unclear';

const gravity = (raw: string, fatal: boolean): number => (fatal || gravityOf(raw) === 'fatal' ? 2 : 1);

/** It said the same before and went on: then it is not why it ended. */
function wasSurvived(
  lines: readonly Line[],
  { mask, at, grave }: { mask: string; at: number; grave: number },
  looping: boolean,
): boolean {
  const before = lines.slice(0, at).map((line, n) => ({ line, next: lines[n + 1] }));
  const same = before.filter(({ line }) => line.mask === mask);
  if (same.some(({ next }) => next?.is.kind === 'plain' && !isBeginning(next.raw))) return true;
  return same.length >= 2 && !looping && grave < 2;
}

/** One error of many that a service at work reports: that it ended for it, neither it nor its runtime says. */
function isPassing(
  lines: readonly Line[],
  { raw, from, grave }: { raw: string; from: number; grave: number },
  afterwords: readonly Line[],
): boolean {
  return (
    grave < 2 && gravityOf(raw) === 'error' && afterwords.length === 0 && hasWorked(lines.slice(0, from))
  );
}

/** Since its last start it wrote lines of one kind more than once, as work does and a start does not. */
function hasWorked(lines: readonly Line[]): boolean {
  const start = lines.findLastIndex(({ raw }) => isBeginning(raw));
  const work = lines.slice(start + 1).filter(({ is }) => is.kind === 'plain');
  return new Set(work.map(({ mask }) => mask)).size < work.length;
}

function isSurvived(lines: readonly Line[], at: number): boolean {
  const line = lines[at];
  if (line?.is.kind !== 'trouble' || !line.is.goesOn) return false;
  return lines.slice(0, at).filter(({ mask }) => mask === line.mask).length >= SEEN_BEFORE;
}

/** Of a kind that it writes while it works: it calls the line calm itself, or wrote such lines before and went on. */
function isOrdinary(lines: readonly Line[], at: number): boolean {
  const line = lines[at];
  if (line === undefined || (line.is.kind !== 'plain' && line.is.kind !== 'stopping')) return false;
  if (line.is.kind === 'stopping' && line.is.told) return false;
  if (line.is.kind === 'plain' && line.is.calm) return true;
  const start = lines.findLastIndex((one, n) => n < at && isBeginning(one.raw));
  return lines.slice(start + 1, at).filter((one) => one.mask === line.mask).length >= SEEN_BEFORE;
}

/** Start after start, and none of the runs between them ended in its work. */
function isLooping(lines: readonly Line[]): boolean {
  const kinds = new Map<string, number[]>();
  for (const [n, { raw, mask }] of lines.entries())
    if (isBeginning(raw)) kinds.set(mask, [...(kinds.get(mask) ?? []), n]);
  return [...kinds.values()].some((starts) => {
    const latest = starts.slice(-STARTS);
    if (latest.length < STARTS) return false;
    const broken = latest.slice(1).every((start) => {
      const before = lines[start - 1];
      return (
        before === undefined || isBeginning(before.raw) || !(before.is.kind === 'plain' && before.is.calm)
      );
    });
    return broken && within(lines[latest[0] ?? 0]?.raw ?? '', lines[latest.at(-1) ?? 0]?.raw ?? '');
  });
}

/** It says again and again what is said at a start; whether it was one, it does not say. */
function announcesAgain(lines: readonly Line[]): boolean {
  const masks = lines.map(({ mask }) => mask);
  return masks.some(
    (mask, n) =>
      isAnnouncement(mask) &&
      mask !== masks[n + 1] &&
      masks.filter((other) => other === mask).length >= STARTS,
  );
}

/** Lines without a time that can be read are taken for close together: nothing is started on their account. */
function within(first: string, last: string): boolean {
  const [from, to] = [first, last].map((line) =>
    Date.parse((/\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}/.exec(line)?.[0] ?? '').replace(' ', 'T')),
  );
  if (from === undefined || to === undefined || Number.isNaN(from) || Number.isNaN(to)) return true;
  return to - from <= LOOP_MINUTES * 60_000;
}
