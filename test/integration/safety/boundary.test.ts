import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/infra/db/client.ts';
import { createLog } from '../../../src/infra/log/log.ts';
import { incidentDocument } from '../../../src/memory/past/incident-document.ts';
import { createAuditLog } from '../../../src/safety/audit/audit-chain.ts';
import { outwardJson, outwardText } from '../../../src/safety/screen/boundary.ts';
import { messageOf } from '../../../src/slack/outbound/message.ts';
import { tell } from '../../../src/slack/outbound/tell.ts';
import { webClient } from '../../../src/slack/outbound/web-client.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
import { anAction, aRecord, eventsOf, wholeIncident } from '../../support/incident-record.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { quiet } from '../../support/quiet.ts';
import type { Row } from '../../support/typed.ts';

/** Every way out gets a secret as if nobody had looked before, and must not let it through. */
const SECRET = ['xoxb', '1234567890', 'abcdefghijklmnop'].join('-');
const HASH = 'a3f1c2d4'.repeat(8);

let scratch: ScratchDatabase;
let database: Database;
beforeAll(async () => {
  scratch = await scratchDatabase({ migrate: true });
  database = openDatabase(scratch.url, { max: 2 });
  // The types of arrays are asked for by the first statement.
  await database.sql`SELECT 1`;
});
afterAll(async () => {
  await database.close();
  await scratch.drop();
});

/** A Slack that takes everything and remembers it. */
async function withSlack(use: (url: string, seen: string[]) => Promise<void>): Promise<void> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      seen.push(decodeURIComponent(body.replaceAll('+', ' ')));
      response.setHeader('content-type', 'application/json');
      response.end('{"ok":true,"ts":"1.1"}');
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/`, seen);
  } finally {
    await new Promise((done) => server.close(done));
  }
}

const connection = (apiUrl: string) =>
  ({ kind: 'socket', botToken: SECRET, appToken: 'xapp-1', apiUrl }) as const;

test('Slack gets no secret in any message, view or answer, and what names things arrives as it is', async () => {
  await withSlack(async (url, seen) => {
    const client = webClient(connection(url), quiet);
    const block = { type: 'section', text: { type: 'plain_text', text: `token ${SECRET}` } };
    const place = { channel: 'C0ALERTS', thread_ts: '1712345678.123456' };
    await client.chat.postMessage({ ...place, text: `is ${SECRET}`, blocks: [block] } as never);
    await client.views.open({
      trigger_id: '1234567890.0987654321.abcdef0123456789abcdef0123456789',
      view: { type: 'modal', title: { type: 'plain_text', text: SECRET }, blocks: [block] },
    } as never);
    await tell(
      client,
      quiet,
      { userId: 'U1', channel: 'C0ALERTS', threadTs: null },
      { text: `for you: ${SECRET}` },
    );
    expect(seen.join('\n').split(SECRET).length - 1).toBe(0);
    expect(seen.join('\n')).toContain('[redacted:');
    expect(seen[0]).toContain('C0ALERTS');
    expect(seen[0]).toContain('1712345678.123456');
    expect(seen[1]).toContain('1234567890.0987654321.abcdef0123456789abcdef0123456789');
  });
});

test('an incident’s messages pass unchanged: their marks, hashes and buttons are no secrets', () => {
  const record = aRecord({ events: eventsOf(...wholeIncident), actions: [anAction()] });
  const slots = draw(record, { threadUrl: () => null, approvers: 'Mara', oncall: null } as never);
  expect(slots.length).toBeGreaterThan(1);
  for (const slot of slots) {
    const message = JSON.parse(JSON.stringify(messageOf(record.incident.id, slot)));
    expect(outwardJson(message)).toEqual(message);
  }
});

test('the log hides it in fields, errors and words', () => {
  const folder = mkdtempSync(join(tmpdir(), 'boundary-'));
  try {
    const file = join(folder, 'log');
    const log = createLog('debug', { file });
    log.error({ error: new Error(`refused ${SECRET}`), deep: { list: [SECRET] } }, `could not use ${SECRET}`);
    const circle: Record<string, unknown> = { secret: SECRET };
    circle['self'] = circle;
    log.warn(circle, 'odd');
    const text = readFileSync(file, 'utf8');
    expect(text).toContain('could not use [redacted:');
    expect(text).toContain('cannot be written as JSON');
    expect(text).not.toContain(SECRET);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the audit log hides it, and keeps the hashes and signatures that entries are checked by', async () => {
  const audit = createAuditLog(database.sql);
  const signature = Buffer.from(HASH.repeat(1), 'utf8').toString('base64');
  await audit.append({
    kind: 'test',
    actor: 'system',
    details: { reason: `it was ${SECRET}`, planHash: HASH, signature },
  });
  const [row] = await database.sql<Row>`SELECT body FROM audit_entry ORDER BY seq DESC LIMIT 1`;
  expect(String(row?.['body'])).not.toContain(SECRET);
  expect(String(row?.['body'])).toContain(HASH);
  expect(String(row?.['body'])).toContain(signature);
});

test('memory of an incident does not hold it', () => {
  const record = aRecord();
  const leaky = { ...record, incident: { ...record.incident, title: `down: ${SECRET}`, cause: SECRET } };
  expect(JSON.stringify(incidentDocument(leaky, new Date(), null))).not.toContain(SECRET);
});

test('what cannot be screened is withheld', () => {
  const hostile = { toString: () => SECRET, indexOf: 1 } as unknown as string;
  expect(String(outwardText(hostile))).not.toContain(SECRET);
  const trap = Object.defineProperty({}, 'a', {
    enumerable: true,
    get: () => {
      throw new Error(SECRET);
    },
  });
  expect(outwardJson(trap as never)).toBe('[withheld: it could not be screened for secrets]');
});
