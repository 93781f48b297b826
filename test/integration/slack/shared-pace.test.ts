import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/infra/db/client.ts';
import { RateLimiters } from '../../../src/slack/outbound/pacing.ts';
import { sharedPace } from '../../../src/slack/outbound/shared-pace.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { type SlackScene, slackScene } from '../../support/slack-scene.ts';
import { waitFor } from '../../support/wait-for.ts';

/** What three processes have of one bucket. */
let scratch: ScratchDatabase;
let databases: readonly Database[];

beforeAll(async () => {
  scratch = await scratchDatabase({ migrate: true });
  databases = [1, 2, 3].map(() => openDatabase(scratch.url, { max: 2 }));
});

afterAll(async () => {
  await Promise.all(databases.map((database) => database.close()));
  await scratch.drop();
});

/** A token in 20 s. */
const FAST = { perSecond: 1 / 20, burst: 4 };

it('three processes at once take no more than one bucket holds [C10]', async () => {
  const buckets = databases.map(({ sql }) => sharedPace(sql)('posts:C1', FAST));
  const taken = await Promise.all(Array.from({ length: 30 }, async (_, n) => await buckets[n % 3]?.take(0)));
  const most = FAST.burst + 1;
  expect(taken.filter((each) => each?.isTaken).length).toBeGreaterThanOrEqual(FAST.burst);
  expect(taken.filter((each) => each?.isTaken).length).toBeLessThanOrEqual(most);
});

it('channels and edits have buckets of their own [C10]', async () => {
  const [{ sql }] = databases as readonly [Database];
  for (const key of ['posts:C2', 'posts:C3', 'other'])
    expect(await sharedPace(sql)(key, FAST).take(0)).toMatchObject({ isTaken: true });
});

it('what matters less leaves tokens to what matters more, whichever process asks [C10]', async () => {
  const [one, other] = databases.map(({ sql }) => sharedPace(sql)('leave', FAST));
  expect(await one?.take(2)).toMatchObject({ isTaken: true });
  expect(await one?.take(2)).toMatchObject({ isTaken: true });
  expect(await other?.take(2)).toMatchObject({ isTaken: false });
  expect(await other?.take(0)).toMatchObject({ isTaken: true });
});

it('a wait that Slack asked of one process holds for all [C10]', async () => {
  const [one, other] = databases.map(({ sql }) => new RateLimiters(1, sharedPace(sql)));
  expect(await other?.edits.claim()).toBe(true);
  await one?.edits.block(60_000);
  expect(await other?.edits.claim()).toBe(false);
  // Known now, it is not asked for again and again.
  expect(other?.edits.available()).toBe(0);
});

it('a bucket filled by a clock that was set back an hour holds nobody up [C10]', async () => {
  const [{ sql }] = databases as readonly [Database];
  const bucket = sharedPace(sql)('clock', FAST);
  await bucket.take(0);
  await sql`UPDATE slack_pace SET full_at = full_at + interval '1 hour' WHERE key = 'clock'`;
  expect(await bucket.take(0)).toMatchObject({ isTaken: true });
});

it('three bots draw what there is without asking Slack for more than it allows [C10]', async () => {
  const scene: SlackScene = await slackScene({ slack: { rateLimits: { speed: 1 } } });
  try {
    await Promise.all([scene.bot(), scene.bot(), scene.bot()]);
    const ids = await Promise.all(Array.from({ length: 15 }, () => scene.incident()));
    await waitFor(
      'a first message of each',
      async () => {
        const drawn = await scene.sql`SELECT 1 FROM incident WHERE thread_ts IS NOT NULL`;
        return drawn.length === ids.length;
      },
      { timeoutMs: 150_000 },
    );
    const { calls } = await scene.counters();
    const limited = (method: string): number => calls[method]?.rateLimited ?? 0;
    // A call that comes late on a busy machine may meet the next one.
    expect(limited('chat.postMessage') + limited('chat.update')).toBeLessThanOrEqual(1);
  } finally {
    await scene.close();
  }
}, 240_000);
