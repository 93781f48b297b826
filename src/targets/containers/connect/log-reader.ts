import { StringDecoder } from 'node:string_decoder';
import { OpsError } from '../../../core/errors.ts';
import type { LogLine, LogStream } from '../engine.ts';

const HEADER = 8;
/** What is kept of a line; of what is beyond it, how much there was. */
const LINE = 2_000;
/** A record with a time in front is not this long before its line break comes: it is read in pieces. */
const PIECE = 32 * 1024;
/** What an engine writes as one frame; one that says it has more is not of this format. */
const FRAME = 4 * 1024 * 1024;

interface OpenLine {
  readonly stream: LogStream;
  readonly at: string;
  text: string;
  beyond: number;
}

/**
 * Reads an answer to `GET /containers/{id}/logs?timestamps=1` as it comes, and keeps its newest lines. Without a terminal
 * the engine sends frames: a byte for the stream (1 stdout, 2 stderr), three zero bytes, the length as 32 bits big-endian,
 * the bytes; with one, the bytes alone. A frame is a record with its time in front; a line that was written in pieces, or
 * is a long one, is several records, of which only the last ends with a line break.
 * https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Container/operation/ContainerAttach
 */
export class LogReader {
  readonly #hasTerminal: boolean;
  readonly #most: number;
  readonly #decoder = new StringDecoder('utf8');
  #rest: Buffer = Buffer.alloc(0);
  #text = '';
  #lines: OpenLine[] = [];
  readonly #open = new Map<LogStream, OpenLine>();

  constructor(hasTerminal: boolean, most: number) {
    this.#hasTerminal = hasTerminal;
    this.#most = most;
  }

  push(chunk: Buffer): void {
    if (this.#hasTerminal) {
      for (const part of this.#decoder.write(chunk).split(/(?<=\n)/)) {
        this.#text += part;
        if (!part.endsWith('\n') && this.#text.length < PIECE) continue;
        this.#record('stdout', this.#text);
        this.#text = '';
      }
      return;
    }
    let rest = Buffer.concat([this.#rest, chunk]);
    while (rest.length >= HEADER) {
      const length = rest.readUInt32BE(4);
      if (length > FRAME)
        throw new OpsError('ENGINE_NO_API', 'What the engine answered is not a log.', {
          hint: 'Look at the log on the machine itself.',
        });
      const end = HEADER + length;
      if (rest.length < end) break;
      this.#record(rest[0] === 2 ? 'stderr' : 'stdout', rest.subarray(HEADER, end).toString('utf8'));
      rest = rest.subarray(end);
    }
    this.#rest = rest;
  }

  /** Oldest first. */
  lines(): readonly LogLine[] {
    if (this.#text !== '') this.#record('stdout', this.#text);
    this.#text = '';
    return this.#lines.slice(-this.#most).map(({ stream, at, text, beyond }) => ({
      stream,
      at,
      text: beyond === 0 ? text : `${text}… (+${beyond} characters)`,
    }));
  }

  #record(stream: LogStream, record: string): void {
    const ends = record.endsWith('\n');
    const [, at = '', text = record] =
      /^(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)) ?(.*)$/s.exec(record.replace(/\r?\n$/, '')) ?? [];
    let line = this.#open.get(stream);
    if (!line) {
      line = { stream, at, text: '', beyond: 0 };
      this.#lines.push(line);
      if (this.#lines.length >= 2 * this.#most) this.#lines = this.#lines.slice(-this.#most);
    }
    const room = LINE - line.text.length;
    line.text += text.slice(0, room);
    line.beyond += Math.max(0, text.length - room);
    if (ends) this.#open.delete(stream);
    else this.#open.set(stream, line);
  }
}
