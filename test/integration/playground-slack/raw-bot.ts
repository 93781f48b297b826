import { WebClient } from '@slack/web-api';
import { type RawData, WebSocket } from 'ws';
import { SENTRY_APP } from '../../../playground/slack/seed.ts';

/** A Socket Mode envelope, as it comes over the wire. */
export interface RawEnvelope {
  readonly type: string;
  readonly envelope_id: string;
  readonly payload: Readonly<Record<string, unknown>> & { readonly event?: { readonly type: string } };
}

/** A Socket Mode connection without an SDK: shows what is sent, and acknowledges all of it. */
export async function rawBot(slackUrl: string, heard: (envelope: RawEnvelope) => void): Promise<WebSocket> {
  const client = new WebClient(SENTRY_APP.appToken, { slackApiUrl: `${slackUrl}/api/` });
  const { url } = await client.apps.connections.open();
  const socket = new WebSocket(String(url));
  socket.on('message', (data) => {
    const frame = parseFrame(data) as RawEnvelope;
    if (frame.envelope_id === undefined) return;
    socket.send(JSON.stringify({ envelope_id: frame.envelope_id, payload: {} }));
    heard(frame);
  });
  return socket;
}

export function parseFrame(data: RawData): unknown {
  const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer);
  return JSON.parse(bytes.toString('utf8'));
}
