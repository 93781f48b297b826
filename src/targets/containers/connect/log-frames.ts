import type { LogLine, LogStream } from '../engine.ts';

const HEADER = 8;

/**
 * The lines of an answer to `GET /containers/{id}/logs?timestamps=1`. Without a terminal the engine sends frames: a byte for
 * the stream (1 stdout, 2 stderr), three zero bytes, the length as 32 bits big-endian, the bytes; with one, the bytes alone.
 * https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Container/operation/ContainerAttach
 */
export function readLog(answer: Buffer, hasTerminal: boolean): readonly LogLine[] {
  const texts: Record<LogStream, string> = { stdout: '', stderr: '' };
  const lines: LogLine[] = [];
  const push = (stream: LogStream, text: string): void => {
    // A frame may end in mid-line, and the rest comes with the stream's next one.
    const parts = (texts[stream] + text).split('\n');
    texts[stream] = parts.pop() ?? '';
    lines.push(...parts.map((part) => lineOf(stream, part)));
  };
  if (hasTerminal) push('stdout', answer.toString('utf8'));
  else for (const { stream, bytes } of framesOf(answer)) push(stream, bytes.toString('utf8'));
  for (const stream of ['stdout', 'stderr'] as const)
    if (texts[stream] !== '') lines.push(lineOf(stream, texts[stream]));
  return lines;
}

function* framesOf(answer: Buffer): Generator<{ readonly stream: LogStream; readonly bytes: Buffer }> {
  let at = 0;
  while (at + HEADER <= answer.length) {
    const length = answer.readUInt32BE(at + 4);
    const bytes = answer.subarray(at + HEADER, at + HEADER + length);
    yield { stream: answer[at] === 2 ? 'stderr' : 'stdout', bytes };
    at += HEADER + length;
  }
}

/** `2026-11-23T05:54:54Z what was written`. */
function lineOf(stream: LogStream, line: string): LogLine {
  const [, at = '', text = line] =
    /^(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)) ?(.*?)\r?$/s.exec(line) ?? [];
  return { stream, at, text };
}
