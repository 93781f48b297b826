import type { Span } from './rule.ts';

/** The seed's number: more timestamped lines than this are a raw log, which memory does not hold. */
export const MAX_LOG_LINES = 30;

// ISO 8601 and RFC 3339, syslog (RFC 3164), common log format, klog, epoch in front, clock alone; behind a short prefix such as a
// container's name, a stream or a bracket.
const stamp =
  /^.{0,60}?(?:\d{4}[-/.]\d\d[-/.]\d\d[T _]\d\d:\d\d|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.? {1,2}\d{1,2},? (?:\d{4} )?\d\d:\d\d:\d\d|\d{1,2}\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d|\d\d?\/\d\d?\/\d{2,4} \d\d?:\d\d:\d\d|\b[IWEF]\d{4} \d\d:\d\d:\d\d|\b(?:ts|time)["']?[=:] ?["']?\d{10}|^\[?1[5-9]\d{8}(?:\.\d+|\d{3})?\b|^\[?\d\d:\d\d:\d\d)/;

/** From the first to the last timestamped line when there are more than `MAX_LOG_LINES`; null otherwise. */
export function findRawLog(text: string): Span | null {
  if (!hasManyLines(text)) return null;
  let lines = 0;
  let first = -1;
  let last = 0;
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const end = newline === -1 ? text.length : newline;
    if (stamp.test(text.slice(at, Math.min(end, at + 120)))) {
      lines++;
      if (first === -1) first = at;
      last = end;
    }
    at = end + 1;
  }
  return lines > MAX_LOG_LINES ? { start: first, end: last } : null;
}

function hasManyLines(text: string): boolean {
  let newlines = 0;
  for (let at = text.indexOf('\n'); at !== -1 && newlines < MAX_LOG_LINES; at = text.indexOf('\n', at + 1))
    newlines++;
  return newlines >= MAX_LOG_LINES;
}
