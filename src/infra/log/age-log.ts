import { closeSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs';

const DAY_MS = 86_400_000;

/**
 * Before a log file is opened: one that begins so many days ago is put aside as `….1`, in the place of the one before it, and that
 * one goes when its end is as old. So nothing older than twice the time stays.
 */
export function ageLog(file: string, days: number, now = Date.now()): void {
  const before = now - days * DAY_MS;
  const aside = `${file}.1`;
  const ended = statSync(aside, { throwIfNoEntry: false });
  if (ended && ended.mtimeMs < before) rmSync(aside);
  const begun = firstTime(file);
  if (begun !== null && begun < before) renameSync(file, aside);
}

/** When its first line was written; null when there is none that says. */
function firstTime(file: string): number | null {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return null;
  const head = Buffer.alloc(200);
  const open = openSync(file, 'r');
  try {
    readSync(open, head);
  } finally {
    closeSync(open);
  }
  const [, time = ''] = /"time":"([^"]+)"/.exec(head.toString()) ?? [];
  const at = Date.parse(time);
  return Number.isNaN(at) ? null : at;
}
