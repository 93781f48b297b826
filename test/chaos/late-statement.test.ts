import { connect, createServer, type Server, type Socket } from 'node:net';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asActionId } from '../../src/core/ids.ts';
import { postgresTerminateBackend } from '../../src/targets/postgres/active/terminate-backend.ts';
import { approvedAction } from '../support/chaos-ledger.ts';
import { startWorker, type Worker } from '../support/chaos-process.ts';
import { type Core, createCore } from '../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../support/postgres.ts';
import { createPostgresTargets } from '../support/targets.ts';
import { waitFor } from '../support/wait-for.ts';

/**
 * The real PostgreSQL tool, its statement held up on the way to the server while its process is paused: another process
 * judges the action after its deadline, then the statement arrives. The deadline it carries is held against the server's
 * clock, so it must find itself late.
 */
const SLOW_MS = 90_000;

let databases: readonly ScratchDatabase[] = [];
let core: Core;
let proxy: Holding;
const workers: Worker[] = [];

beforeAll(async () => {
  databases = [await scratchDatabase({ migrate: true }), await scratchDatabase()];
  core = await createCore({ url: databases[0]?.url ?? '', tools: [] });
  proxy = await holdingProxy(databases[1]?.url ?? '', 'pg_terminate_backend');
});

afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.kill()));
  proxy.close();
  await core.stop();
  await Promise.all(databases.map((database) => database.drop()));
});

interface Holding {
  readonly url: string;
  /** Connections whose bytes are held back. */
  held(): number;
  letGo(): void;
  /** Bytes of answers since `letGo`. */
  answered(): number;
  close(): void;
}

/** Passes everything on, until a client has a statement with the word prepared: what that connection sends then waits. */
async function holdingProxy(url: string, word: string): Promise<Holding> {
  const to = new URL(url);
  const waiting: { readonly upstream: Socket; readonly bytes: Buffer[] }[] = [];
  let open = false;
  let answered = 0;
  const server: Server = createServer((client) => {
    const upstream = connect(Number(to.port), to.hostname);
    const quiet = (): void => undefined;
    client.on('error', quiet);
    upstream.on('error', quiet);
    upstream.on('data', (bytes) => {
      if (open) answered += bytes.length;
      client.write(bytes);
    });
    let mine: (typeof waiting)[number] | undefined;
    let parsed = false;
    let limits = false;
    client.on('data', (bytes) => {
      if (!open && parsed && !mine) {
        mine = { upstream, bytes: [] };
        waiting.push(mine);
      }
      if (mine && !open) mine.bytes.push(bytes);
      else upstream.write(limits ? withoutTimeout(bytes) : bytes);
      limits = bytes.includes("set_config('statement_timeout'");
      // The word stands in Parse; what has the effect is Bind and Execute, sent when the server has described it.
      if (bytes.includes(word)) parsed = true;
    });
    client.on('close', () => {
      if (!mine || open) upstream.end();
    });
    upstream.on('close', () => client.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const from = new URL(url);
  from.port = String((server.address() as { readonly port: number }).port);
  return {
    url: from.href,
    held: () => waiting.length,
    letGo() {
      open = true;
      for (const { upstream, bytes } of waiting) upstream.write(Buffer.concat(bytes));
    },
    answered: () => answered,
    close: () => void server.close(),
  };
}

/**
 * The server's statement_timeout, which the tools set to what is left of theirs, runs from Parse and would end the held
 * statement before its deadline does: it is raised on its way, so that the deadline alone has to hold.
 */
function withoutTimeout(bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  // A parameter's text in the Bind that follows, after its length: five digits, the 15 s of the tool in ms or a little less.
  for (let at = bytes.indexOf(fiveLong); at >= 0; at = bytes.indexOf(fiveLong, at + 1))
    if (/^1[0-5]\d{3}$/.test(bytes.toString('latin1', at + 4, at + 9))) changed.write('99999', at + 4);
  return changed;
}

const fiveLong = Buffer.from([0, 0, 0, 5]);

test('a pg_terminate_backend that arrives after it was judged not done does nothing', async () => {
  const victim = postgres(databases[1]?.url ?? '', { max: 1, connection: { application_name: 'victim' } });
  const [session] = await victim`
    SELECT pid, to_char(backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS backend_start
    FROM pg_stat_activity WHERE pid = pg_backend_pid()`;
  const input = { pid: Number(session?.['pid']), backend_start: String(session?.['backend_start']) };
  const identity = await identityAndGuard(input);
  const id = 'act_late';
  await approvedAction(
    core,
    {
      id,
      tool: 'postgres_terminate_backend',
      target: 'shop',
      input,
      command: postgresTerminateBackend.command(input),
      guard: identity.guard,
    },
    identity,
  );
  const url = databases[0]?.url ?? '';
  const first = await startWorker({ kind: 'postgres', url, target: proxy.url, action: id });
  workers.push(first);
  await waitFor('the statement to be on its way', async () => proxy.held() > 0, {
    timeoutMs: SLOW_MS,
    seen: () => first.output(),
  });
  first.pause();
  const second = await startWorker({ kind: 'postgres', url, target: databases[1]?.url ?? '', action: id });
  workers.push(second);
  await second.ended;
  const judged = await core.records.action(asActionId(id));
  expect(judged).toMatchObject({ state: 'failed', toolCallId: null });

  proxy.letGo();
  first.goOn();
  await waitFor('the server to answer the late statement', async () => proxy.answered() > 0, {
    timeoutMs: SLOW_MS,
  });
  await first.ended;
  // Still the same session, alive.
  const [still] = await victim`SELECT pg_backend_pid() AS pid`;
  expect(still?.['pid']).toBe(input.pid);
  expect(await core.records.action(asActionId(id))).toEqual(judged);
  await victim.end();
  process.stdout.write(
    '  pg_terminate_backend held up past its deadline: judged not done, and did nothing when it arrived\n',
  );
});

/** What the proposal would have read of the server. */
async function identityAndGuard(input: { readonly pid: number; readonly backend_start: string }) {
  const url = databases[1]?.url ?? '';
  const targets = createPostgresTargets([
    { name: 'shop', kind: 'postgres', environment: 'test', aliases: [], readUrl: url, actUrl: url },
  ]);
  try {
    const identity = await targets.identity('shop');
    const { guard } = await postgresTerminateBackend.preflight(targets.context('shop', 10_000), input);
    return { ...identity, guard };
  } finally {
    await targets.close();
  }
}
