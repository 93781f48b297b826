import { randomBytes } from 'node:crypto';
import { post } from '../posting.ts';
import type { Method, MethodCall } from '../slack-context.ts';
import { SlackError } from '../slack-error.ts';
import type { SlackFile } from '../slack-shapes.ts';
import { acceptBlocks } from '../validate/payload.ts';
import { isRecord } from '../validate/rules.ts';

/** Larger uploads are refused; journal and page are no place for them. */
export const MAX_FILE_BYTES = 5_000_000;

/** A file between `files.getUploadURLExternal` and `files.completeUploadExternal`, and after. */
export interface StoredFile {
  readonly id: string;
  readonly name: string;
  readonly length: number;
  readonly owner: string;
  readonly uploadKey: string;
  /** Base64; undefined until uploaded. */
  readonly content?: string;
}

/** Uploading in three steps, as `filesUploadV2` does it. */
export const fileMethods: Readonly<Record<string, Method>> = {
  'files.getUploadURLExternal': (call) => {
    const name = call.args.required('filename');
    const length = call.args.number('length');
    if (length === undefined || length <= 0) throw new SlackError('invalid_arguments', ['[ERROR] length']);
    if (length > MAX_FILE_BYTES) throw new SlackError('file_upload_size_restricted');
    const file: StoredFile = {
      id: `F${randomBytes(5).toString('hex').toUpperCase()}`,
      name,
      length,
      owner: call.app.botUserId,
      uploadKey: randomBytes(12).toString('hex'),
    };
    call.slack.workspace.journal.put('files', file.id, file);
    return { upload_url: `${call.slack.baseUrl()}/upload/v1/${file.id}/${file.uploadKey}`, file_id: file.id };
  },

  'files.completeUploadExternal': (call) => {
    const files = call.args.json('files');
    if (!Array.isArray(files) || files.length === 0)
      throw new SlackError('invalid_arguments', ['[ERROR] files']);
    const uploaded = files.map((each) => uploadedFile(call, each));
    if (call.args.has('channel_id')) {
      post(call.slack, {
        author: { kind: 'app', app: call.app },
        channel: call.slack.workspace.channel(call.args.required('channel_id')).id,
        text: call.args.text('initial_comment') ?? '',
        files: uploaded,
        ...(call.args.has('blocks') ? { blocks: acceptBlocks(call.args.raw('blocks')) } : {}),
        ...(call.args.has('thread_ts') ? { thread_ts: call.args.required('thread_ts') } : {}),
      });
    }
    return { files: uploaded };
  },
};

function uploadedFile(call: MethodCall, asked: unknown): SlackFile {
  if (!isRecord(asked)) throw new SlackError('invalid_arguments', ['[ERROR] files']);
  const file = call.slack.workspace.journal.get<StoredFile>('files', String(asked['id']));
  if (file === undefined || file.content === undefined) throw new SlackError('file_not_found');
  const link = `${call.slack.baseUrl()}/files/${file.id}/${encodeURIComponent(file.name)}`;
  return {
    id: file.id,
    name: file.name,
    title: typeof asked['title'] === 'string' ? asked['title'] : file.name,
    mimetype: 'text/plain',
    size: Buffer.from(file.content, 'base64').length,
    user: file.owner,
    url_private: link,
    permalink: link,
  };
}
