import { severityOf } from '../../core/severity.ts';
import { trimMarks } from '../../core/trim-marks.ts';
import { isSeverityWord, namingWords, splitHeadline, wordsIn } from '../headline-words.ts';
import { plainText, withoutMarks } from './mrkdwn.ts';
import type { Reading } from './sender.ts';

/** `[FIRING:2] …`, `[FIRING:1, RESOLVED:1] …`, `[RESOLVED] …`: the default title of Alertmanager and Grafana. */
const mark = /^\W*\[(firing|resolved)(?::(\d+))?(?:,\s*resolved:(\d+))?(?:,\s*\w+:\d+)*\]\s*/i;

export function templateStatus(title: string): 'firing' | 'resolved' | null {
  const status = mark.exec(title)?.[1]?.toLowerCase();
  return status === 'firing' || status === 'resolved' ? status : null;
}

/** How many alerts a title counts, null where it does not, and what all of them do, null where some fire and some do not. */
export function countedIn(title: string): {
  readonly count: number | null;
  readonly status: 'firing' | 'resolved' | null;
} {
  const [, , firing, resolved] = mark.exec(title) ?? [];
  return {
    count: firing === undefined ? null : Number(firing) + Number(resolved ?? 0),
    status: resolved === undefined ? templateStatus(title) : null,
  };
}

/**
 * A notification's title, whole: which of its words are the name is known to the alert it tells of, so a guess is only ever
 * shown. Null: the title is not of this shape.
 */
export function readTemplate(
  title: string,
  known: Pick<Reading, 'labels' | 'annotations'> & { readonly certain: boolean; readonly whole: boolean },
): Reading | null {
  const found = mark.exec(title);
  const status = templateStatus(title);
  if (!found || status === null) return null;
  const text = title.slice(found[0].length).replace(/\s+/g, ' ').trim();
  const { labels, annotations, certain, whole } = known;
  const told = labels['alertname'];
  const guess = told ?? guessName(text);
  const shown = plainText(text).trim();
  const rest = leftOver(text, labels);
  const severity = labels['severity'] ?? labels['priority'] ?? severityIn(text);
  return {
    status,
    name: guess,
    title: withoutMarks(guess ?? shown) || 'Alert',
    severity,
    labels,
    annotations,
    values: (told === undefined ? plainWords(shown, guess) : rest).filter((word) => !isSeverity(word)),
    identity:
      told === undefined
        ? { name: '', words: [oneSeverityLess(text)] }
        : { name: told, words: rest.length === 0 ? [] : [rest.join(' ')] },
    headline: { text, alerts: status === 'resolved' ? 0 : Number(found[2] ?? 1), certain, whole },
  };
}

/** A rule's name as people write them (`HighLatency`, `pg_down`), or the only word there is; null rather than a wrong one. */
function guessName(text: string): string | null {
  const [group, others] = splitHeadline(text)[0] ?? ['', ''];
  const inGroup = wordsOf(group);
  const inOthers = wordsOf(others);
  const [first] = inGroup;
  const [other] = inOthers;
  if (first !== undefined && isRuleName(first)) return first;
  if (other !== undefined && isRuleName(other)) return other;
  if (inGroup.length === 1) return first ?? null;
  return inGroup.length === 0 && inOthers.length === 1 ? (other ?? null) : null;
}

const isRuleName = (word: string): boolean =>
  /^[A-Z]\w*[a-z0-9]\w*$/.test(word) && /[a-z0-9_][A-Z]|_/.test(word);

const wordsOf = (text: string): readonly string[] => text.split(/[\s,;]+/).filter((word) => /\w/.test(word));

/** As a person reads them, without those of a sentence and without the name. */
function plainWords(shown: string, name: string | null): readonly string[] {
  const unnamed = shown.replace(/\b\w+="[^"]*",?/g, '');
  const telling = new Set(namingWords(unnamed));
  return wordsOf(unnamed)
    .map((word) => trimMarks(word, { before: '([{"\'`*', after: ')]}"\'`*:.!' }))
    .filter((word) => word !== name && telling.has(word.toLowerCase()));
}

/** The words of a headline that no label accounts for: whole values, the longest first. */
function leftOver(text: string, labels: Readonly<Record<string, string>>): readonly string[] {
  const values = Object.values(labels)
    .map((value) => namingWords(value))
    .filter((words) => words.length > 0)
    .toSorted((a, b) => b.length - a.length);
  const words = namingWords(text);
  const left: string[] = [];
  for (let at = 0; at < words.length; ) {
    const value = values.find((each) => each.every((word, n) => words[at + n] === word));
    const word = words[at];
    if (!value && word !== undefined && !isSeverityWord(word)) left.push(word);
    at += value?.length ?? 1;
  }
  return left;
}

/** The severity is no part of what is ill. Where two words could be it, neither is left out. */
function oneSeverityLess(text: string): string {
  const [group = '', others = ''] = splitHeadline(text)[0] ?? [];
  const words = wordsIn(others);
  const severities = words.filter(isSeverityWord);
  const left = severities.length === 1 ? words.filter((word) => !isSeverityWord(word)) : words;
  return [...wordsIn(group), '(', ...left].join(' ');
}

/** The word that says how bad it is: among the other labels' values rather than the group's, and never the title's first. */
function severityIn(text: string): string | null {
  const [group = '', others = ''] = splitHeadline(text)[0] ?? [];
  const inOthers = wordsOf(others);
  const sure = inOthers.findLast(isSeverityWord);
  if (sure !== undefined) return sure;
  const inGroup = wordsOf(group).slice(1);
  const last = inGroup.findLast((word) => isSeverityWord(word) && word === word.toLowerCase());
  return (
    inOthers.findLast((word, n) => n > 0 && isSeverity(word) && word === word.toLowerCase()) ?? last ?? null
  );
}

const isSeverity = (word: string): boolean => severityOf(word) !== 'unknown';
