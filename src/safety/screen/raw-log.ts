import type { Span } from '../secrets/rule.ts';

/** The seed's number: more timestamped lines than this are a raw log, which memory does not hold. */
const MAX_LOG_LINES = 30;

const month = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const clock = String.raw`\d\d?:\d\d:\d\d`;
/** Behind a short prefix, such as a container's name, a stream or a bracket. */
const stamps = [
  // ISO 8601, RFC 3339 and their relatives
  String.raw`\d{4}[-/.]\d\d[-/.]\d\d[T _]\d\d:\d\d`,
  // Syslog (RFC 3164), ctime; Redis and RFC 5322; common log format
  String.raw`\b${month}[a-z]{0,6}\.? {1,2}\d{1,2},? (?:\d{4} )?${clock}`,
  String.raw`\b\d{1,2} ${month}[a-z]{0,6} \d{4} ${clock}`,
  String.raw`\d{1,2}\/[A-Z][a-z]{2}\/\d{4}:${clock}`,
  // Day first or month first, as a region has it
  String.raw`\b\d\d?[/.-]\d\d?[/.-]\d{2,4},? ${clock}`,
  // klog
  String.raw`\b[IWEF]\d{4} ${clock}`,
  // A field of its own with seconds since 1970
  String.raw`\b(?:ts|time)["']?[=:] ?["']?\d{10}`,
];
/** At the very beginning: seconds since 1970, seconds since the kernel started, the clock alone. */
const first = [
  String.raw`\[?1[5-9]\d{8}(?:\.\d+|\d{3})?\b`,
  String.raw`\[ {0,6}\d{1,7}\.\d{6}\]`,
  String.raw`\[?${clock}`,
];
const stamp = new RegExp(`^(?:.{0,60}?(?:${stamps.join('|')})|${first.join('|')})`);
/** A line of JSON may say it last; fields as the loggers of Go, Java, Python, Node, Elastic and Google name them. */
const stampInJson =
  /"(?:@?timestamp|time|ts|t|date|datetime|asctime|eventTime)" ?: ?"\d{4}-\d\d-\d\d[T ]\d\d:\d\d/;

/** How far into a line is looked. */
const REACH = 120;
const REACH_IN_JSON = 600;

/** From the first to the last timestamped line when there are more than `MAX_LOG_LINES`; null otherwise. */
export function findRawLog(text: string): Span | null {
  if (!hasManyLines(text)) return null;
  let lines = 0;
  let first = -1;
  let last = 0;
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const end = newline === -1 ? text.length : newline;
    if (isStamped(text, at, end)) {
      lines++;
      if (first === -1) first = at;
      last = end;
    }
    at = end + 1;
  }
  return lines > MAX_LOG_LINES ? { start: first, end: last } : null;
}

function isStamped(text: string, at: number, end: number): boolean {
  if (stamp.test(text.slice(at, Math.min(end, at + REACH)))) return true;
  return text[at] === '{' && stampInJson.test(text.slice(at, Math.min(end, at + REACH_IN_JSON)));
}

function hasManyLines(text: string): boolean {
  let newlines = 0;
  for (let at = text.indexOf('\n'); at !== -1 && newlines < MAX_LOG_LINES; at = text.indexOf('\n', at + 1))
    newlines++;
  return newlines >= MAX_LOG_LINES;
}
