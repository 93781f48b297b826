import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RenderedEvent } from './render.ts';
import type { ScriptedReply } from './scenario.ts';

/** A gate that a stalled or held stream waits at. */
export interface HoldPoint {
  /** Resolves when released, or when the client has gone. */
  wait(response: ServerResponse): Promise<void>;
}

/**
 * Writes the events of one answer as scripted: torn into small writes, held half-way, cut, stalled or spoilt.
 * Returns true when the client was sent everything.
 */
export async function sendEvents(
  response: ServerResponse,
  events: readonly RenderedEvent[],
  reply: ScriptedReply,
  hold: HoldPoint,
  errorEvent: (type: string) => string | Buffer,
): Promise<boolean> {
  const fault = reply.fault;
  const holdAt = holdPosition(events, reply.holdBefore);
  const faultAt = fault !== undefined && 'afterBytes' in fault ? fault.afterBytes : Number.POSITIVE_INFINITY;
  let sent = 0;
  for (const [index, event] of events.entries()) {
    if (index === holdAt) await hold.wait(response);
    if (reply.eventDelayMs !== undefined) await sleep(reply.eventDelayMs);
    const room = faultAt - sent;
    if (fault?.kind === 'error_event' && room <= 0)
      return endWithError(response, errorEvent(fault.type ?? OVERLOADED));
    if (room >= event.bytes.length || fault?.kind === 'error_event') {
      await write(response, event.bytes, reply.writeBytes);
      sent += event.bytes.length;
      continue;
    }
    await write(response, event.bytes.subarray(0, room), reply.writeBytes);
    if (fault?.kind !== 'stall') return spoil(response, fault?.kind ?? 'cut');
    await hold.wait(response);
    await write(response, event.bytes.subarray(room), reply.writeBytes);
    sent = Number.NEGATIVE_INFINITY;
  }
  if (fault?.kind === 'error_event') return endWithError(response, errorEvent(fault.type ?? OVERLOADED));
  response.end();
  return true;
}

/** The event whose delta completes the text to hold before. */
function holdPosition(events: readonly RenderedEvent[], before: string | undefined): number {
  if (before === undefined) return -1;
  let text = '';
  return events.findIndex((event) => {
    text += event.text;
    return text.includes(before);
  });
}

async function write(response: ServerResponse, bytes: Buffer, size: number | undefined): Promise<void> {
  if (size === undefined) {
    response.write(bytes);
    return;
  }
  for (let at = 0; at < bytes.length; at += size) {
    response.write(bytes.subarray(at, at + size));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function spoil(response: ServerResponse, kind: string): Promise<false> {
  if (kind === 'garbage')
    response.end(Buffer.from('\n\n\u0000\u0007event: nonsense\ndata: {"type": <<<\n\n', 'latin1'));
  else if (kind === 'eof') response.end();
  else {
    // Let what was written reach the client first, so that "cut after n bytes" means that.
    await sleep(5);
    response.destroy();
  }
  return false;
}

const OVERLOADED = 'overloaded_error';

export function messagesErrorEvent(type: string): string {
  const body = {
    type: 'error',
    error: { type, message: type.replace('_error', '') },
    request_id: 'req_scripted',
  };
  return `event: error\ndata: ${JSON.stringify(body)}\n\n`;
}

function endWithError(response: ServerResponse, event: string | Buffer): false {
  response.end(event);
  return false;
}
