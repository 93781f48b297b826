import { clip } from '../../core/clip.ts';
import { unescapeMrkdwn } from '../../core/unescape-mrkdwn.ts';

/** Slack's mrkdwn as plain text: links by their label, entities decoded, `:emoji:` and mentions of channels dropped. */
export function plainText(mrkdwn: string): string {
  const unlinked = mrkdwn
    .replace(/<!(?:here|channel|everyone|subteam\^[^<>]*)>/g, '')
    .replace(/<([^<|>]+)\|([^<>]*)>/g, '$2')
    .replace(/<((?:https?|mailto):[^<>]+)>/g, '$1');
  return unescapeMrkdwn(unlinked).replace(/(^|[\s[(])(?::[a-z0-9_+-]{2,}:)(?=$|[\s\])*]|[A-Z])/g, '$1');
}

/** The first URL of a mrkdwn text, or null. */
export function firstLink(mrkdwn: string): string | null {
  return /<(https?:[^<|>]+)/.exec(mrkdwn)?.[1] ?? null;
}

/** Longer than any title; the patterns of marks take quadratic time. */
const TITLE = 2_000;

/** A text without the marks by which Slack draws `*bold*`, `_italic_`, `~struck~` and code: a title is drawn plain. */
export function withoutMarks(whole: string): string {
  return clip(whole, TITLE)
    .replace(/`+([^`\n]+)`+/g, '$1')
    .replace(/(^|[\s("'[<>|:–-])([*_~])(?=\S)([^\n]*?\S)\2(?=$|[\s)"'\].,;:!?<>|–-])/g, '$1$3')
    .replace(/(^|[\s("'[<>|:–-])([*_~])(?=\S)([^\n]*?\S)\2(?=$|[\s)"'\].,;:!?<>|–-])/g, '$1$3')
    .replace(/\s+/g, ' ')
    .trim();
}
