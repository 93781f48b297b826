import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import type { IncidentId } from '../../src/core/ids.ts';
import { createEventBus } from '../../src/infra/db/event-bus.ts';
import { startWorker, type Worker } from '../support/chaos-process.ts';
import { wholeIncident } from '../support/incident-record.ts';
import { scratchDatabase } from '../support/postgres.ts';
import { quiet } from '../support/quiet.ts';
import { eventually, type SlackScene, slackScene } from '../support/slack-scene.ts';
import { waitFor } from '../support/wait-for.ts';

/** A storm of incidents while notices of the event bus are lost: afterwards Slack shows all of it, and nothing twice. */
const STORM = 40;
const NEVER_MS = 3_600_000;
const SLOTS = ['root', 'live:1', 'escalation:1'];

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (let end = ends.pop(); end; end = ends.pop()) await end();
});

async function scene(): Promise<SlackScene> {
  const made = await slackScene();
  ends.push(() => made.close());
  return made;
}

/** Each incident is opened, worked on and given up in transactions of its own, `everyMs` between two of them. */
async function storm(of: SlackScene, everyMs: number): Promise<readonly IncidentId[]> {
  const under: Promise<IncidentId>[] = [];
  for (let n = 0; n < STORM; n += 1) {
    under.push(
      of.incident(wholeIncident.slice(1, 9)).then(async (id) => {
        await delay(10 * everyMs);
        await of.append(id, { type: 'incident.escalated', reason: 'nobody knows' });
        return id;
      }),
    );
    await delay(everyMs);
  }
  return Promise.all(under);
}

/** All of each incident, in its order, by as many posts as there are messages. */
async function expectWhole(of: SlackScene, ids: readonly IncidentId[]): Promise<void> {
  await eventually(async () => {
    const blocks = (await of.messages()).map((message) => message.blocks?.[0]?.block_id ?? '');
    for (const id of ids) {
      const prefix = `sentry:${id}:`;
      const slots = blocks
        .filter((block) => block.startsWith(prefix))
        .map((block) => block.slice(prefix.length));
      expect(slots.map((slot) => slot.replace(/:[0-9a-f]{8}$/, ''))).toEqual(SLOTS);
    }
  }, 60_000);
  // Where many wait at once they are told of in a digest, too.
  const posted = (await of.messages()).filter(
    (message) => message.blocks?.[0]?.block_id?.startsWith('sentry:burst') !== true,
  );
  expect(posted).toHaveLength(ids.length * SLOTS.length);
  expect((await of.counters()).duplicates).toEqual([]);
}

it('a line that was cut is made up for when it stands again', async () => {
  const of = await scene();
  const line = await cuttable(of.url);
  // No sweep but the one at the start and those when the line is lost and stands again.
  const bus = createEventBus({ url: line.url, log: quiet, sweepMs: NEVER_MS, deafSweepMs: NEVER_MS });
  ends.push(line.close, () => bus.stop());
  bus.start();
  await of.bot({ bus, speed: 100 });
  const begun = storm(of, 50);
  await waitFor('the storm to be seen', async () => (await of.messages()).length > 0);
  line.cut();
  const ids = await begun;
  expect((await of.messages()).length).toBeLessThan(ids.length * SLOTS.length);
  line.mend();
  await expectWhole(of, ids);
});

it('what is lost while the line seems to stand is found by the next sweep', async () => {
  const of = await scene();
  // It listens, and hears nothing: that is another database.
  const elsewhere = await scratchDatabase();
  const bus = createEventBus({ url: elsewhere.url, log: quiet, sweepMs: 1_000, deafSweepMs: NEVER_MS });
  ends.push(elsewhere.drop, () => bus.stop());
  bus.start();
  await of.bot({ bus, speed: 100 });
  await expectWhole(of, await storm(of, 20));
});

it('processes killed between a commit and its delivery lose nothing', async () => {
  const of = await scene();
  const options = { kind: 'slack', url: of.url, api: of.slack.apiUrl };
  let worker: Worker = await startWorker(options);
  ends.push(() => worker.kill());
  let isOver = false;
  const begun = storm(of, 100).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await delay(700);
    await worker.kill();
    worker = await startWorker(options);
  }
  await expectWhole(of, await begun);
});

/** Passes everything on to PostgreSQL; cut, it hangs up and takes nobody. */
async function cuttable(url: string) {
  const to = new URL(url);
  const open = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    if (isCut) return client.destroy();
    const behind = connect(Number(to.port || 5432), to.hostname);
    for (const each of [client, behind]) open.add(each.on('error', () => undefined));
    client.pipe(behind).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const at = new URL(url);
  at.hostname = '127.0.0.1';
  at.port = String((server.address() as { readonly port: number }).port);
  const hangUp = (): void => {
    for (const each of open) each.destroy();
    open.clear();
  };
  return {
    url: at.href,
    cut() {
      isCut = true;
      hangUp();
    },
    mend() {
      isCut = false;
    },
    async close() {
      hangUp();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
