import type { Subject } from '../../tools/define.ts';

/** What stands between the words and identifiers of a text; a full stop at the end of a sentence is taken off later. */
const BETWEEN = /[\s"'“”‘’«»`(){}[\]<>,;=|*…]+/u;
/** How people and outputs say that a number is a session or process: `pid 42`, `"pid": 42`, `Session 42`, `blocked by 42`. */
const PID_ROLE =
  /(?:\b(?:pid|pids|process id)["'`]?\s*[:=#]?|\b(?:sessions?|backends?|process(?:es)?|blockers?|holders?|waiters?|transactions? of|(?:blocked|held|owned|caused) by))\s*["'`(#]*$/iu;
/** Others of a list: `pids 41, 42 and 43`. */
const LIST_BEFORE = /\d+(?:\s*,\s*(?:and\s+)?|\s+and\s+)$/u;
/** A number of something, which identifies nothing: `42 s`, `42 %`, `42 sessions`. */
const COUNTED =
  /^\s?-?(?:%|(?:ms|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|weeks?|[kmgt]?i?b|bytes?|percent|per cent|times|sessions|connections|backends|processes|waiters|clients|others|rows|locks|queries|statements|transactions|of)(?![\p{L}\p{N}_]))/iu;

/** Whether a text names a thing: as a whole identifier, and in the role of one. */
export function isNamed(text: string, subject: Subject): boolean {
  switch (subject.kind) {
    case 'pid':
      return namesPid(text, subject.pid);
    case 'table':
      return identifiersOf(text.replace(/["`]\s*\.\s*["`]/gu, '.')).some((each) => isTable(each, subject));
    case 'file':
      return identifiersOf(text).some((each) => isPathOf(each.replace(/:\d+(?::\d+)?$/u, ''), subject.path));
    case 'name': {
      const name = subject.name.toLowerCase();
      return identifiersOf(text).some((each) => [name, `${name}.service`].includes(each.toLowerCase()));
    }
  }
}

/** For a refusal. */
export function formatSubject(subject: Subject): string {
  switch (subject.kind) {
    case 'pid':
      return `pid ${subject.pid}`;
    case 'table':
      return `${subject.schema}.${subject.table}`;
    case 'file':
      return subject.path;
    case 'name':
      return subject.name;
  }
}

function identifiersOf(text: string): readonly string[] {
  return text
    .split(BETWEEN)
    .map((each) => each.replace(/^[:.!?]+(?=\w)|[:.!?]+$/gu, ''))
    .filter((each) => each !== '');
}

/** Bare, or under its own schema and not another's. */
function isTable(identifier: string, { schema, table }: Extract<Subject, { kind: 'table' }>): boolean {
  const parts = identifier.toLowerCase().split('.');
  if (parts.length > 3 || parts.at(-1) !== table.toLowerCase()) return false;
  return parts.length === 1 || parts.at(-2) === schema.toLowerCase();
}

/** The path, or its end from the beginning of a name on: `conf/app.yaml` of `/srv/conf/app.yaml`. */
function isPathOf(identifier: string, path: string): boolean {
  return path === identifier || (!identifier.startsWith('/') && path.endsWith(`/${identifier}`));
}

function namesPid(text: string, pid: number): boolean {
  const number = new RegExp(`(?<![\\p{L}\\p{N}_./-])${pid}(?![\\p{L}\\p{N}_]|[.,:]\\d|-\\d)`, 'gu');
  return [...text.matchAll(number)].some(({ index }) => {
    if (COUNTED.test(text.slice(index + String(pid).length))) return false;
    let before = text.slice(Math.max(0, index - 200), index);
    for (
      let shorter = before.replace(LIST_BEFORE, '');
      shorter !== before;
      shorter = before.replace(LIST_BEFORE, '')
    )
      before = shorter;
    return PID_ROLE.test(before) || isInAnApplication(before, text.slice(index + String(pid).length));
  });
}

/** `shop-backoffice (42)`, and `42 (shop-backoffice)`. */
function isInAnApplication(before: string, after: string): boolean {
  return (/[\p{L}\p{N}_-]\s\($/u.test(before) && after.startsWith(')')) || /^`?\s\(\p{L}/u.test(after);
}
