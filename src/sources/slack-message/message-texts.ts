import { clip } from '../../core/clip.ts';
import { blockText } from './block-text.ts';
import { firstLink, plainText } from './mrkdwn.ts';
import type { Attachment, Content } from './schema.ts';

export interface Texts {
  readonly titleLine: string | null;
  readonly lines: readonly string[];
  /** The same with those that are there again: each alert of a group tells its own labels. */
  readonly everyLine: readonly string[];
  /** All texts as they were written, in reading order. */
  readonly raw: readonly string[];
  /** Of its buttons and links. */
  readonly links: readonly string[];
  readonly url: string | null;
}

/** The content sits in `text`, in attachments, in their blocks or in blocks; often in one of them only. */
export function textsOf(message: Content): Texts {
  const attachments = message.attachments ?? [];
  const blocks = blockText([
    ...(message.blocks ?? []),
    ...attachments.flatMap((attachment) => attachment.blocks ?? []),
  ]);
  const titles = [...attachments.map(({ title }) => title), ...blocks.headers];
  const bodies = [...attachments.flatMap(({ pretext, text }) => [pretext, text]), ...blocks.lines];
  const shown = [...titles, ...bodies].filter(isWritten);
  // Beside blocks `text` is only the notification's wording of the same, and `fallback` always is.
  const spare = [message.text, ...(shown.length === 0 ? attachments.map(({ fallback }) => fallback) : [])];
  const raw = withinBounds(
    message.blocks?.length && shown.length > 0 ? shown : [...shown, ...spare.filter(isWritten)],
  );
  const fields = attachments.flatMap((attachment) =>
    (attachment.fields ?? []).map(({ title, value }) =>
      // A field called like a label is one, whatever its value looks like.
      /^[a-z_][a-z0-9_]*$/.test(title ?? '') ? `${title} = ${value ?? ''}` : `${title ?? ''}: ${value ?? ''}`,
    ),
  );
  const [first, ...rest] = raw;
  const [titleLine = null, ...more] = first === undefined ? [] : linesOf(first);
  const lines = [...more, ...fields.flatMap(linesOf), ...rest.flatMap(linesOf)];
  const link = attachments.find((attachment) => attachment.title_link)?.title_link;
  return {
    titleLine,
    lines: [...new Set(lines)],
    everyLine: lines,
    raw,
    links: blocks.links,
    url: link ?? blocks.links[0] ?? (first ? firstLink(first) : null) ?? linkBeside(attachments, rest),
  };
}

/** In what stands below the title, or in a field that is called a link. */
function linkBeside(attachments: readonly Attachment[], texts: readonly string[]): string | null {
  const inTexts = texts.map(firstLink).find((link) => link !== null);
  const fields = attachments.flatMap(({ fields: each }) => each ?? []);
  const named = fields.find(({ title }) => /\b(?:link|url)\b/i.test(title ?? ''));
  return inTexts ?? /https?:[^\s<>|`]+/.exec(String(named?.value ?? ''))?.[0] ?? null;
}

/** As much as Slack takes of one message's text; an attachment has no such limit, and may be anybody's words. */
const TOGETHER = 40_000;
const TEXT = 8_000;

function withinBounds(texts: readonly string[]): readonly string[] {
  const kept: string[] = [];
  let left = TOGETHER;
  for (const text of texts) {
    if (left <= 0) break;
    const part = clip(text, Math.min(TEXT, left));
    kept.push(part);
    left -= part.length;
  }
  return kept;
}

function isWritten(text: string | null | undefined): text is string {
  return !!text?.trim();
}

function linesOf(mrkdwn: string): readonly string[] {
  return plainText(mrkdwn)
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line.trim() !== '');
}
