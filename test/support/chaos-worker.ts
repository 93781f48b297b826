import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createGate } from '../../src/actions/gate.ts';
import { messageOf } from '../../src/core/errors.ts';
import { asActionId, type IncidentId } from '../../src/core/ids.ts';
import type { Target } from '../../src/core/target.ts';
import { createTurn } from '../../src/incidents/turn.ts';
import { openDatabase } from '../../src/infra/db/client.ts';
import { createEventBus } from '../../src/infra/db/event-bus.ts';
import { createKillSwitch } from '../../src/safety/kill-switch/kill-switch.ts';
import { allTools } from '../../src/targets/all-tools.ts';
import { boxesTools } from './chaos-box.ts';
import { boxTarget, createCore } from './core.ts';
import { quiet } from './quiet.ts';
import { slackBot, socketTo } from './slack-bot.ts';
import { createPostgresTargets } from './targets.ts';
import type { Row } from './typed.ts';

/**
 * A process to be killed, paused and continued: `bot` works on incidents with the whole core; `ledger` executes approved
 * actions, whichever it finds, until none is left; `turns` works on every second incident (`--part 0|1`) without the engine,
 * holding each claim open between its look at the switch and its end; `postgres` executes one action with the real PostgreSQL tools. Says
 * `{"ready":true}` when it works. `slack` shows the record in the Slack at `--api`. `plans` works on whichever incident has an approved plan, until none has. Every process has the
 * real gate on the same record. `--clock`: a file with the milliseconds by which its wall clock is wrong.
 */
const { values } = parseArgs({
  options: {
    kind: { type: 'string' },
    url: { type: 'string' },
    api: { type: 'string' },
    target: { type: 'string' },
    before: { type: 'string', default: '0' },
    after: { type: 'string', default: '0' },
    timeout: { type: 'string', default: '1000' },
    random: { type: 'boolean', default: false },
    part: { type: 'string', default: '0' },
    hold: { type: 'string', default: '0' },
    action: { type: 'string' },
    clock: { type: 'string' },
  },
});

const { clock } = values;
if (clock !== undefined) {
  const now = Date.now;
  Date.now = () => now() + Number(readFileSync(clock, 'utf8'));
}

const url = values.url ?? '';
// Who only shows the record has no target.
const targetUrl = values.target ?? url;
const time = (text: string) => (): number => (values.random ? Math.random() : 1) * Number(text);
const target = openDatabase(targetUrl, { max: 4, name: 'box' });
const tools = boxesTools(target.sql, {
  beforeMs: time(values.before),
  afterMs: time(values.after),
  timeoutMs: Number(values.timeout),
});

process.on('disconnect', () => process.exit(0));
const ready = (): void => void process.stdout.write('{"ready":true}\n');

if (values.kind === 'bot') await bot();
else if (values.kind === 'ledger') await ledger();
else if (values.kind === 'turns') await turns();
else if (values.kind === 'plans') await plans();
else if (values.kind === 'slack') await slack();
else await postgres();

async function bot(): Promise<void> {
  const core = await createCore({ url, tools });
  await core.start();
  ready();
  process.once('SIGTERM', () => {
    void core.stop().then(() => process.exit(0));
  });
}

/** Two of these at once find the same incidents: what keeps a step from running twice is the ledger, and nothing here. */
async function plans(): Promise<void> {
  const core = await createCore({ url, tools, gate: { targets: await boxTargets() } });
  const turn = createTurn(core);
  ready();
  for (;;) {
    const rows = await core.sql<Row>`
      SELECT id FROM incident WHERE state IN ('awaiting_approval', 'remediating') ORDER BY random() LIMIT 12`;
    if (rows.length === 0) break;
    await Promise.all(
      rows.map((row) =>
        turn(String(row['id']) as IncidentId, 'test', (_, fn) => fn()).catch((error: unknown) =>
          process.stderr.write(`${row['id']}: ${messageOf(error)}\n`),
        ),
      ),
    );
  }
  process.exit(0);
}

async function turns(): Promise<void> {
  const killSwitch = createKillSwitch(openDatabase(url, { max: 2 }).sql, {
    mode: 'ACTIVE',
    dataDir: '/nonexistent',
  });
  const hold = time(values.hold);
  const core = await createCore({
    url,
    tools,
    gate: {
      targets: await boxTargets(),
      killSwitch: {
        ...killSwitch,
        lockRows: async (tx, scopes) => {
          const refusal = await killSwitch.lockRows(tx, scopes);
          await sleep(hold());
          return refusal;
        },
      },
    },
  });
  const turn = createTurn(core);
  const busy = new Set<string>();
  ready();
  for (;;) {
    const rows = await core.sql<Row>`
      SELECT i.id FROM incident i WHERE abs(hashtext(i.id)) % 2 = ${Number(values.part)}
         AND (i.state IN ('open', 'triaging', 'diagnosing', 'planning', 'remediating', 'verifying')
              OR i.state = 'awaiting_approval' AND EXISTS (
                SELECT FROM action a WHERE a.incident_id = i.id AND a.state = 'approved'))
       ORDER BY random() LIMIT 8`;
    for (const row of rows) {
      const id = String(row['id']);
      if (busy.has(id) || busy.size >= 8) continue;
      busy.add(id);
      void turn(id as IncidentId, 'test', (_, fn) => fn())
        .catch((error: unknown) => process.stderr.write(`${id}: ${messageOf(error)}\n`))
        .finally(() => busy.delete(id));
    }
    await sleep(10);
  }
}

async function boxTargets(): Promise<ReadonlyMap<string, Target>> {
  const boxes = await target.sql<Row>`SELECT name FROM box`;
  return new Map(
    boxes.map((row): [string, Target] => [String(row['name']), { ...boxTarget, name: String(row['name']) }]),
  );
}

/** Takes any action that has not ended, again and again: what one process leaves, another finds. */
async function ledger(): Promise<void> {
  const core = await createCore({ url, tools, gate: { targets: await boxTargets() } });
  ready();
  const hooks = {
    claimed: async () => undefined,
    released: async () => undefined,
    ended: async () => undefined,
  };
  const never = new AbortController().signal;
  for (;;) {
    try {
      const rows = await core.sql<Row>`
        SELECT id FROM action WHERE state IN ('approved', 'started', 'unknown') ORDER BY random() LIMIT 1`;
      if (!rows[0]) return process.exit(0);
      const action = await core.records.action(asActionId(String(rows[0]['id'])));
      if (action) await core.gate.execute(action, hooks, never);
    } catch (error) {
      process.stderr.write(`${messageOf(error)}\n`);
    }
    await sleep(20);
  }
}

async function slack(): Promise<void> {
  const bus = createEventBus({ url, log: quiet });
  const over = { sql: openDatabase(url).sql, bus, log: quiet, executorId: randomUUID() };
  const bot = slackBot(over, { connection: socketTo(values.api ?? ''), speed: 100 });
  bus.start();
  await bot.start();
  ready();
}

async function postgres(): Promise<void> {
  const config = {
    name: 'shop',
    kind: 'postgres',
    environment: 'test',
    aliases: [],
    readUrl: targetUrl,
    actUrl: targetUrl,
  } as const;
  const targets = createPostgresTargets([config]);
  const core = await createCore({ url, tools: [] });
  const gate = createGate({
    ...core.gateDeps,
    registry: { get: (name) => allTools.find((tool) => tool.name === name) },
    targets: new Map([['shop', targets.describe('shop')]]),
    ports: targets.ports,
    identity: (name) => targets.identity(name),
  });
  ready();
  const hooks = {
    claimed: async () => undefined,
    released: async () => undefined,
    ended: async () => undefined,
  };
  for (;;) {
    const action = await core.records.action(asActionId(values.action ?? ''));
    if (!action || !['approved', 'started', 'unknown'].includes(action.state)) process.exit(0);
    const result = await gate.execute(action, hooks, new AbortController().signal);
    process.stdout.write(`${JSON.stringify(result)}\n`);
    await sleep(result.kind === 'later' ? Math.min(500, result.inMs) : 20);
  }
}
