import { defined } from '../../../src/core/defined.ts';
import type { Arguments } from '../arguments.ts';
import { LIMITS } from '../limits.ts';
import type { Content } from '../posting.ts';
import { SlackError } from '../slack-error.ts';
import { acceptAttachments, acceptBlocks, acceptMetadata } from '../validate/payload.ts';

/**
 * Reads `text` or `markdown_text`, `blocks`, `attachments`, `metadata`. Throws `no_text` when there is nothing to
 * show, `markdown_text_conflict`, `msg_too_long`, and what the parts throw.
 */
export function contentOf(args: Arguments): Content {
  const text = args.text('text') ?? '';
  const blocks = args.has('blocks') ? acceptBlocks(args.raw('blocks')) : undefined;
  const attachments = args.has('attachments') ? acceptAttachments(args.raw('attachments')) : undefined;
  const metadata = args.has('metadata') ? acceptMetadata(args.raw('metadata')) : undefined;
  if (args.has('markdown_text')) {
    if (text !== '' || blocks !== undefined) throw new SlackError('markdown_text_conflict');
    return { ...markdownContent(args.required('markdown_text')), ...defined({ metadata }) };
  }
  const empty = text.trim() === '' && (blocks ?? []).length === 0 && (attachments ?? []).length === 0;
  if (empty) throw new SlackError('no_text');
  return { text: text.slice(0, LIMITS.message.textTruncated), ...defined({ blocks, attachments, metadata }) };
}

function markdownContent(markdown: string): Content {
  if (markdown.length > LIMITS.message.markdownText) throw new SlackError('msg_too_long');
  return { text: markdown, blocks: acceptBlocks([{ type: 'markdown', text: markdown }]) };
}
