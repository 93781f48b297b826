import { namesIn } from '../../core/claims/names.ts';
import { isGeneric, wordsOf } from '../../core/claims/word-forms.ts';
import type { Incident } from '../../core/incident.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { OWN_LOOK, type RelatedChange } from '../../core/what-changed.ts';

/** So far apart a look and a sender tell of one and the same act, and two senders of one version. */
const SAME_ACT_MS = 60_000;
const SAME_VERSION_MS = 600_000;
/** A file's name that is shorter says nothing. */
const MIN_NAME = 4;

/** By what a change is known again in what was read, in lower case; never by what the alert itself is called. */
export interface ChangeMarks {
  /** What it put there: the version or value, the setting, file or flag, and what its commits touched. */
  readonly made: readonly string[];
  /** Of these only the version or value itself: a whole number is none, since it may count anything. */
  readonly put: readonly string[];
  /** What else it touched, by name. */
  readonly names: readonly string[];
  /** What is called by plain words only: “password of the database user loans rotated”. Two of them name it. */
  readonly words: readonly string[];
}

/**
 * The names of the alert and of its own system are left out: they stand in whatever is read of it, so that they would make a
 * cause of every change that is near enough.
 */
export function marksOf(change: RelatedChange, incident: Incident): ChangeMarks {
  const own = new Set(
    [incident.target, incident.alertName, change.through, ...Object.values(incident.labels)].map((name) =>
      (name ?? '').toLowerCase(),
    ),
  );
  const isTelling = (mark: string): boolean => mark.length >= MIN_NAME && !own.has(mark);
  const title = withoutWhatWas(change.title, change.from);
  const called = [...identifiersIn(title), ...change.where]
    .map((name) => name.toLowerCase())
    .filter(isTelling);
  // A deploy is called by its service, anything else by the very thing that is another one now.
  const isDeploy = change.kind === 'deployment' || change.kind === 'rollback';
  const made = [
    // A sender may tell a revision, and the version in its title.
    ...[change.to, ...(title.match(VERSION) ?? [])].flatMap((version) => versionOf(version) ?? []),
    ...settingIn(change.to),
    ...(isDeploy ? [] : called),
    ...change.commits.flatMap(marksOfCommit).filter(isTelling),
  ];
  const said = new Set([...own].flatMap(wordsOf));
  return {
    made: [...new Set(made)],
    put: [versionOf(change.to) ?? ''].filter((mark) => mark !== '' && !/^\d+$/.test(mark)),
    names: [...new Set(called)].filter((name) => !made.includes(name)),
    words: isDeploy
      ? []
      : [...new Set(wordsOf(title))].filter(
          (word) => word.length >= MIN_NAME && !isGeneric(word) && !said.has(word) && !ACTS.has(word),
        ),
  };
}

const VERSION = /(?<![\p{L}\p{N}.])v?\d+(?:\.\d+)+(?:[-+][\p{L}\p{N}.]+)?/gu;

/** They say that something was changed, or of which kind it is, and not what. */
const ACTS: ReadonlySet<string> = new Set(
  (
    'package ' +
    'change changed set unset turned switched rotated replaced renamed removed deleted dropped added created recreated altered edited ' +
    'updated upgraded lowered raised moved started finished applied reverted restarted enabled disabled deployed'
  ).split(' '),
);

/** Whether a text and a read both name what is called by plain words: two of them, or the only one there is. */
export function namesWords(
  text: string,
  { output }: Pick<ToolCall, 'output'>,
  words: readonly string[],
): boolean {
  const [said, shown] = [new Set(wordsOf(text)), new Set(wordsOf(output))];
  const both = words.filter((word) => said.has(word) && shown.has(word)).length;
  return words.length > 0 && both >= Math.min(2, words.length);
}

/** What one commit of several is known by: its revision, its files, the identifiers of its title. */
export function marksOfCommit({ sha, title, files }: RelatedChange['commits'][number]): readonly string[] {
  const revision = versionOf(sha);
  return [
    ...(revision === null ? [] : [revision]),
    ...files
      .flatMap((path) => [path, path.slice(path.lastIndexOf('/') + 1)])
      // `server` of `cmd/server` may stand anywhere.
      .filter((name) => /[./]/.test(name)),
    ...identifiersIn(title ?? ''),
  ].map((mark) => mark.toLowerCase());
}

/** Whether a read shows what a change put there. */
export function showsMark({ output, result }: Pick<ToolCall, 'output' | 'result'>, mark: string): boolean {
  return hasWord([output, ...textsIn(result)].join('\n'), mark, isBareNumber(mark));
}

/** A number of a result counts something, and a key is there whatever it holds. */
function textsIn(value: unknown, key = ''): readonly string[] {
  if (typeof value === 'string') return [key === 'version' ? `version: ${value}` : value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => textsIn(each, name));
}

/** Whether a text of somebody names it. */
export function namesMark(text: string, mark: string): boolean {
  return hasWord(text, mark, false);
}

/**
 * Two tell of one act: the same version of the same thing, or what Sentry saw by itself of what a sender tells. That two
 * were at one time in one system says nothing.
 */
export function isSameAct(one: RelatedChange, other: RelatedChange, { target }: Incident): boolean {
  const isOfBoth = one.where.some(
    (name) => other.where.includes(name) && isThingOf(name, one, target) && isThingOf(name, other, target),
  );
  if (!isOfBoth || (one.kind === 'rollback') !== (other.kind === 'rollback')) return false;
  const [a, b] = [versionOf(one.to), versionOf(other.to)];
  const isOneVersion =
    (a !== null && (a === b || namesMark(withoutWhatWas(other.title, other.from), a))) ||
    (b !== null && namesMark(withoutWhatWas(one.title, one.from), b));
  if (isOneVersion) return areWithin(SAME_VERSION_MS, one, other);
  if ((one.source === OWN_LOOK) === (other.source === OWN_LOOK)) return false;
  const look = one.source === OWN_LOOK ? one : other;
  // Of a look that says what is another one now, that has to be what was told.
  return look.to === null && !PARTS_OF_IT.has(look.kind) && areWithin(SAME_ACT_MS, one, other);
}

/** What is changed in a thing; anything else is done to the whole of it. */
const PARTS_OF_IT: ReadonlySet<string> = new Set(['config', 'migration', 'feature_flag']);

/** All changes of a system share its name: that is of the thing only where the title is. */
const isThingOf = (name: string, { through, title }: RelatedChange, target: string | null): boolean =>
  name !== target?.toLowerCase() && (name !== through.toLowerCase() || namesMark(title, name));

const areWithin = (ms: number, one: RelatedChange, other: RelatedChange): boolean =>
  beginOf(one) <= Date.parse(other.at) + ms && beginOf(other) <= Date.parse(one.at) + ms;

/** The earliest that it can have had an effect. */
export const beginOf = ({ startedAt, at }: RelatedChange): number => Date.parse(startedAt ?? at);

/** `v1.4.2` is `1.4.2`, and a revision is known by its first seven digits; what may stand anywhere (`on`, `5`) is none. */
function versionOf(to: string | null): string | null {
  const text = (to ?? '').trim().toLowerCase();
  if (/^[0-9a-f]{7,64}$/.test(text) && isRevision(text.slice(0, 7))) return text.slice(0, 7);
  const plain = text.replace(/^v(?=\d)/, '');
  return plain.length >= 3 && /\d/.test(plain) ? plain : null;
}

/** `app=thread` says what it is a value of; `thread` alone may stand anywhere. */
const settingIn = (to: string | null): readonly string[] =>
  /^(?=.{6,}$)[\p{L}\p{N}_./-]+=[\p{L}\p{N}_./:-]+$/u.exec(to?.trim().toLowerCase() ?? '') ?? [];

/** “4MB → 64kB”: what was there before is no mark of what came. */
function withoutWhatWas(title: string, from: string | null): string {
  const came = title.replace(/\S+(?=\s*(?:→|->))/gu, ' ');
  return from === null || from === '' ? came : came.replaceAll(from, ' ');
}

/** A cause that tells what was there before (“2.4.0 → 2.5.0”, “from 2.4.0 to 2.5.0”) does not name that as what is wrong now. */
export const withoutWhatWasThere = (text: string): string =>
  withoutWhatWas(text, null).replace(/\bfrom\s+\S+(?=\s+to\b)/giu, ' ');

/** Hyphened words as well: services are called so. */
const identifiersIn = (text: string): readonly string[] => namesIn(text, { has: () => true });

const isBareNumber = (mark: string): boolean => /^\d+(?:\.\d+)?$/.test(mark);

/** A bare number is a version only where it hangs on a name: `shop-api:1.3`, not “1.3 s”. */
function hasWord(text: string, mark: string, isVersionOnly: boolean): boolean {
  const plain = mark.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const isNumber = /^\d/.test(mark);
  const before = isVersionOnly
    ? '(?<=[:@/=_-]v?|version[": ]+v?)'
    : isNumber
      ? '(?<![\\p{L}\\p{N}.])v?'
      : '(?<![\\p{L}\\p{N}_])';
  const after = isRevision(mark)
    ? ''
    : isNumber
      ? '(?!\\.?[\\p{L}\\p{N}])'
      : // A value goes on where a name would end: pods of a workload are called by it, and a dash.
        mark.includes('=')
        ? '(?![./:-]?[\\p{L}\\p{N}_])'
        : '(?![\\p{L}\\p{N}_])';
  return new RegExp(`${before}${plain}${after}`, 'iu').test(text);
}

const isRevision = (mark: string): boolean => /^(?=.*\d)(?=.*[a-f])[0-9a-f]{7}$/.test(mark);
