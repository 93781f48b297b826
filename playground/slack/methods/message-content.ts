import type { Arguments } from '../arguments.ts';
import { LIMITS } from '../limits.ts';
import { SlackError } from '../slack-error.ts';
import type { Attachment, Block, MessageMetadata } from '../slack-shapes.ts';
import { acceptAttachments, acceptBlocks, acceptMetadata } from '../validate/payload.ts';

/** What a message says, checked. */
export interface Content {
  readonly text: string;
  readonly blocks?: readonly Block[];
  readonly attachments?: readonly Attachment[];
  readonly metadata?: MessageMetadata;
}

/**
 * Reads `text` or `markdown_text`, `blocks`, `attachments`, `metadata`. Throws `no_text` when there is nothing to
 * show, `markdown_text_conflict`, `msg_too_long`, and what the parts throw.
 */
export function contentOf(args: Arguments): Content {
  const text = args.text('text') ?? '';
  const blocks = args.has('blocks') ? acceptBlocks(args.raw('blocks')) : undefined;
  const attachments = args.has('attachments') ? acceptAttachments(args.raw('attachments')) : undefined;
  const metadata = args.has('metadata') ? acceptMetadata(args.raw('metadata')) : undefined;
  const meta = metadata === undefined ? {} : { metadata };
  if (args.has('markdown_text')) {
    if (text !== '' || blocks !== undefined) throw new SlackError('markdown_text_conflict');
    return { ...markdownContent(args.required('markdown_text')), ...meta };
  }
  const empty = text.trim() === '' && (blocks ?? []).length === 0 && (attachments ?? []).length === 0;
  if (empty) throw new SlackError('no_text');
  return {
    text: text.slice(0, LIMITS.message.textTruncated),
    ...(blocks === undefined ? {} : { blocks }),
    ...(attachments === undefined ? {} : { attachments }),
    ...meta,
  };
}

function markdownContent(markdown: string): Content {
  if (markdown.length > LIMITS.message.markdownText) throw new SlackError('msg_too_long');
  return { text: markdown, blocks: acceptBlocks([{ type: 'markdown', text: markdown }]) };
}
