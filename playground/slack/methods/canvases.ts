import { randomBytes } from 'node:crypto';
import { channelOf, type Method } from '../slack-context.ts';
import { SlackError } from '../slack-error.ts';
import { isRecord } from '../validate/rules.ts';

/** Slack takes no longer one (docs.slack.dev/reference/methods/canvases.create: 1 MiB). */
const MAX_MARKDOWN = 1_048_576;

/** A canvas as it was made; what people write into it later is theirs. */
export interface Canvas {
  readonly id: string;
  readonly title: string;
  readonly markdown: string;
  /** The channel in which it is a tab. */
  readonly channel: string | null;
  readonly owner: string;
}

export const canvasMethods: Readonly<Record<string, Method>> = {
  'canvases.create': (call) => {
    const content = call.args.json('document_content');
    if (content !== undefined && (!isRecord(content) || content['type'] !== 'markdown'))
      throw new SlackError('invalid_arguments', ['[ERROR] document_content']);
    const markdown = isRecord(content) ? String(content['markdown'] ?? '') : '';
    if (markdown.length > MAX_MARKDOWN) throw new SlackError('canvas_creation_failed');
    const canvas: Canvas = {
      id: `F${randomBytes(5).toString('hex').toUpperCase()}`,
      title: call.args.text('title') ?? '',
      markdown,
      channel: call.args.has('channel_id') ? channelOf(call, 'channel_id').id : null,
      owner: call.app.botUserId,
    };
    call.slack.workspace.journal.put('canvases', canvas.id, canvas);
    return { canvas_id: canvas.id };
  },
};
