import { trimMarks } from '../core/trim-marks.ts';
import { unescapeMrkdwn } from '../core/unescape-mrkdwn.ts';

/** Words of a sentence: people's own templates put them between label values. */
const filler = new Set(['for', 'on', 'in', 'at', 'of', 'is', 'the', 'and']);

/** What rules and people call a severity, and hardly anything else. `sentry_headline_is` knows the same. */
const severity =
  /^(?:critical|crit|warning|warn|info|error|err|fatal|emergency|page|notice|p[0-5]|sev[0-5])$/;

/**
 * The words of a text as both sides of a comparison write them: what Slack does to a text on its way (entities, links,
 * `:emoji:` for an emoji) is taken back, and case does not count.
 */
export function wordsIn(text: string): readonly string[] {
  const unlinked = text
    .normalize('NFC')
    .replace(/<(?:https?|mailto):[^<|>]+\|([^<>]*)>/g, '$1')
    .replace(/<((?:https?|mailto):[^<>]+)>/g, '$1');
  return unescapeMrkdwn(unlinked)
    .replace(/(^|[\s[(]):[a-z][a-z0-9_+-]+:(?=$|[\s\])])/g, '$1')
    .replace(/[\p{Extended_Pictographic}\uFE0F\u200D]/gu, '')
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
}

/** Those of them that name something: without the words of a sentence, and without the marks around a word. */
export function namingWords(text: string): readonly string[] {
  return wordsIn(text.replace(/\b\w+="[^"]*",?/g, ''))
    .map((word) => trimMarks(word, { before: '([{"\'`*', after: ')]}"\'`*,;:.!' }))
    .filter((word) => /[\p{L}\p{N}]/u.test(word) && !filler.has(word));
}

/** Whether a bare word of a title is a severity rather than the name of a thing. */
export function isSeverityWord(word: string): boolean {
  return severity.test(word.toLowerCase());
}

/**
 * The ways in which a headline may be “<values of the group's labels> (<values of the other common labels>)”: a value may
 * hold brackets of its own, and the second part may be missing.
 */
export function splitHeadline(text: string): readonly (readonly [group: string, others: string])[] {
  const trimmed = text.trim();
  if (!trimmed.endsWith(')')) return [[trimmed, '']];
  const inner = trimmed.slice(0, -1);
  const opened = [...inner.matchAll(/(?:^|\s)\(/g)].slice(0, MAX_SPLITS);
  return [
    ...opened.map(({ index, 0: mark }): readonly [string, string] => [
      inner.slice(0, index),
      inner.slice(index + mark.length),
    ]),
    [trimmed, ''],
  ];
}

/** More brackets than this are no headline that anybody reads. */
const MAX_SPLITS = 8;
