import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { SENTRY_APP } from './seed.ts';
import { SlackError } from './slack-error.ts';
import type { Ack, Envelope, Transport } from './transport.ts';

const MAX_CONNECTIONS = 10;
const TICKET_MS = 30_000;
/** The client closes a connection it has had no ping on for 30 s. */
const PING_MS = 10_000;
/** After a polite `disconnect` the client is given this long to close by itself. */
const CLOSE_GRACE_MS = 10_000;
/** When this server ends, its clients get this long to answer the close frame. */
const GOODBYE_MS = 100;
const MAX_FRAME_BYTES = 5_000_000;
const TYPES = { event: 'events_api', interactive: 'interactive', command: 'slash_commands' } as const;

interface Waiting {
  readonly socket: WebSocket;
  readonly settle: (ack: Ack) => void;
}

interface SocketParts {
  readonly ackMs: () => number;
  readonly whenThawed: () => Promise<void>;
  /** Called when a connection opens or closes. */
  readonly changed: () => void;
}

/**
 * Slack's side of Socket Mode: `apps.connections.open` hands out a one-time URL, each connection gets a `hello`,
 * each envelope goes to exactly one open connection (any one) and waits for its acknowledgement.
 */
export class SocketMode implements Transport {
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MAX_FRAME_BYTES });
  readonly #tickets = new Map<string, number>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #parts: SocketParts;
  readonly #pings: NodeJS.Timeout;
  #open: WebSocket[] = [];
  #leaving = new Set<WebSocket>();

  constructor(parts: SocketParts) {
    this.#parts = parts;
    this.#pings = setInterval(() => {
      for (const socket of this.#open) socket.ping();
    }, PING_MS);
    this.#pings.unref();
  }

  connections(): number {
    return this.#open.length;
  }

  /** The URL for one connection. Throws `too_many_websockets`. */
  ticketUrl(baseUrl: string): string {
    if (this.#open.length >= MAX_CONNECTIONS) throw new SlackError('too_many_websockets');
    const ticket = randomBytes(12).toString('hex');
    this.#tickets.set(ticket, Date.now() + TICKET_MS);
    return `${baseUrl.replace(/^http/, 'ws')}/link/?ticket=${ticket}&app_id=${SENTRY_APP.id}`;
  }

  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const ticket = new URL(request.url ?? '/', 'http://localhost').searchParams.get('ticket') ?? '';
    const expires = this.#tickets.get(ticket) ?? 0;
    this.#tickets.delete(ticket);
    if (expires < Date.now()) {
      socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n');
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (opened) => this.#welcome(opened));
  }

  async send(envelope: Envelope): Promise<Ack> {
    await this.#parts.whenThawed();
    const candidates = this.#open.filter((each) => !this.#leaving.has(each));
    // Any one, as in Slack: taking turns would send every second event of a pair to the same connection.
    const socket = candidates[Math.floor(Math.random() * candidates.length)];
    if (socket === undefined) return { acked: false, reason: 'no_connection', noRetry: false };
    const id = randomUUID();
    return new Promise<Ack>((resolve) => {
      const settle = (ack: Ack) => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(ack);
      };
      const timer = setTimeout(
        () => settle({ acked: false, reason: 'timeout', noRetry: false }),
        this.#parts.ackMs(),
      );
      this.#waiting.set(id, { socket, settle });
      socket.send(JSON.stringify(frameOf(id, envelope)));
    });
  }

  disconnect(how: 'refresh' | 'abrupt'): void {
    for (const socket of this.#open) {
      if (how === 'abrupt') {
        socket.terminate();
        continue;
      }
      this.#leaving.add(socket);
      const host = { debug_info: { host: 'local-slack' } };
      socket.send(JSON.stringify({ type: 'disconnect', reason: 'refresh_requested', ...host }));
      setTimeout(() => socket.terminate(), CLOSE_GRACE_MS).unref();
    }
  }

  close(): void {
    clearInterval(this.#pings);
    for (const socket of this.#open) {
      socket.close(1001);
      setTimeout(() => socket.terminate(), GOODBYE_MS).unref();
    }
    this.#server.close();
  }

  #welcome(socket: WebSocket): void {
    this.#open.push(socket);
    socket.on('message', (data) => this.#receive(data));
    socket.on('error', () => socket.terminate());
    socket.on('close', () => this.#forget(socket));
    socket.send(
      JSON.stringify({
        type: 'hello',
        num_connections: this.#open.length,
        connection_info: { app_id: SENTRY_APP.id },
        debug_info: { host: 'local-slack', approximate_connection_time: 3600 },
      }),
    );
    this.#parts.changed();
  }

  #forget(socket: WebSocket): void {
    this.#open = this.#open.filter((each) => each !== socket);
    this.#leaving.delete(socket);
    for (const waiting of this.#waiting.values()) {
      if (waiting.socket === socket)
        waiting.settle({ acked: false, reason: 'connection_failed', noRetry: false });
    }
    this.#parts.changed();
  }

  #receive(data: RawData): void {
    let frame: unknown;
    try {
      frame = JSON.parse(textOf(data));
    } catch {
      // Slack ignores what it cannot read, and so the envelope stays unacknowledged.
      return;
    }
    if (typeof frame !== 'object' || frame === null || !('envelope_id' in frame)) return;
    const body: unknown = 'payload' in frame ? frame.payload : undefined;
    void this.#parts
      .whenThawed()
      .then(() => this.#waiting.get(String(frame.envelope_id))?.settle({ acked: true, body }));
  }
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return Buffer.isBuffer(data) ? data.toString('utf8') : Buffer.from(data).toString('utf8');
}

function frameOf(id: string, envelope: Envelope): Record<string, unknown> {
  return {
    envelope_id: id,
    type: TYPES[envelope.kind],
    payload: envelope.payload,
    accepts_response_payload: envelope.acceptsResponse,
    ...(envelope.kind === 'event'
      ? { retry_attempt: envelope.attempt, retry_reason: envelope.retryReason }
      : {}),
  };
}
