import type { IncomingMessage, ServerResponse } from 'node:http';
import { multipart, readBody, sendText } from './http-io.ts';
import type { Canvas } from './methods/canvases.ts';
import { MAX_FILE_BYTES, type StoredFile } from './methods/files.ts';
import type { SlackContext } from './slack-context.ts';

/** The second step of an upload: the bytes, raw or as a form, to the URL of the first step. */
export async function receiveUpload(
  slack: SlackContext,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): Promise<void> {
  const [, , , id = '', key = ''] = path.split('/');
  const file = slack.workspace.journal.get<StoredFile>('files', id);
  if (file === undefined || file.uploadKey !== key) {
    sendText(response, 404, 'file_not_found');
    return;
  }
  const type = request.headers['content-type'] ?? '';
  const body = await readBody(request);
  const content = type.startsWith('multipart/form-data') ? firstFile(await multipart(body, type)) : body;
  if (content.length > MAX_FILE_BYTES) {
    sendText(response, 413, 'file_upload_size_restricted');
    return;
  }
  slack.workspace.journal.put('files', id, { ...file, content: content.toString('base64') });
  sendText(response, 200, `OK - ${content.length}`);
}

/** Always as a download of plain text: an uploaded page must not run here. */
export function serveFile(slack: SlackContext, response: ServerResponse, path: string): void {
  const [, , id = ''] = path.split('/');
  const file = slack.workspace.journal.get<StoredFile>('files', id);
  if (file?.content === undefined) {
    sendText(response, 404, 'file_not_found');
    return;
  }
  const name = file.name.replace(/[^\w.-]/g, '_');
  response.writeHead(200, {
    'content-type': 'text/plain; charset=utf-8',
    'content-disposition': `attachment; filename="${name}"`,
    'x-content-type-options': 'nosniff',
  });
  response.end(Buffer.from(file.content, 'base64'));
}

/** As it was written: this page draws no Markdown, and runs nothing of it. */
export function serveCanvas(slack: SlackContext, response: ServerResponse, path: string): void {
  const [, , , id = ''] = path.split('/');
  const canvas = slack.workspace.journal.get<Canvas>('canvases', id);
  if (canvas === undefined) {
    sendText(response, 404, 'canvas_not_found');
    return;
  }
  response.writeHead(200, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
  });
  response.end(`# ${canvas.title}\n\n${canvas.markdown}`);
}

function firstFile(form: Readonly<Record<string, unknown>>): Buffer {
  for (const value of Object.values(form)) {
    if (Buffer.isBuffer(value)) return value;
    if (typeof value === 'string') return Buffer.from(value);
  }
  return Buffer.alloc(0);
}
