import type { IncomingMessage } from 'node:http';

/** The whole body, or why not. Reading stops at the first byte over the limit. */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer | 'too_large' | 'aborted'> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limit) return Promise.resolve('too_large');
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) {
        request.pause();
        resolve('too_large');
        return;
      }
      chunks.push(chunk);
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('aborted', () => resolve('aborted'));
    request.on('error', () => resolve('aborted'));
  });
}
