import { WebClient } from '@slack/web-api';
import { afterEach, expect, it } from 'vitest';
import { CHANNELS, SENTRY_APP } from '../../../playground/slack/seed.ts';
import type { Message } from '../../../playground/slack/slack-shapes.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import { ACTION, wholeIncident } from '../../support/incident-record.ts';
import { eventually, type SlackScene, slackScene } from '../../support/slack-scene.ts';
import type { Row } from '../../support/typed.ts';

let scene: SlackScene;
afterEach(() => scene.close());

const slotsOf = (messages: readonly Message[], id: IncidentId): readonly string[] =>
  messages
    .map((message) => message.blocks?.[0]?.block_id ?? '')
    .filter((block) => block.startsWith(`sentry:${id}:`))
    .map((block) => block.slice(`sentry:${id}:`.length).replace(/:[0-9a-f]{8}$/, ''));

const WHOLE = ['root', 'live:1', `action:${ACTION}`, 'summary:1'];

it('draws a whole incident into one thread, in order, and edits the root in place', async () => {
  scene = await slackScene();
  await scene.bot();
  const id = await scene.incident();
  const root = await eventually(async () => {
    const [first] = await scene.messages();
    expect(first).toBeDefined();
    return first!;
  });
  for (const event of wholeIncident.slice(1)) {
    if (event.type === 'action.proposed') await scene.propose(id);
    else await scene.append(id, event);
  }
  const messages = await eventually(async () => {
    const found = await scene.messages();
    expect(slotsOf(found, id)).toEqual(WHOLE);
    expect(JSON.stringify(found[0])).toContain('#2eb67d');
    return found;
  });
  expect(messages[0]?.ts).toBe(root.ts);
  expect(messages.slice(1).every((message) => message.thread_ts === root.ts)).toBe(true);
  const [row] = await scene.sql<Row>`SELECT channel, thread_ts FROM incident WHERE id = ${id}`;
  expect(row).toMatchObject({ channel: root.channel, thread_ts: root.ts });
  expect((await scene.counters()).duplicates).toEqual([]);
});

it('opens the thread in the channel in which its alert was posted', async () => {
  scene = await slackScene();
  await scene.bot({ alertChannels: ['alerts', 'sentry-admin'], approvers: [] });
  const posted = async (channel: string): Promise<unknown> => {
    const id = await scene.incident([], channel);
    return eventually(async () => {
      const [row] = await scene.sql<Row>`SELECT channel FROM incident WHERE id = ${id}`;
      expect(row?.['channel']).toEqual(expect.any(String));
      return row?.['channel'];
    });
  };
  expect(await posted(CHANNELS.admin)).toBe(CHANNELS.admin);
  // Posted where nobody listens for alerts any more.
  expect(await posted(CHANNELS.general)).toBe(CHANNELS.alerts);
});

it.each([
  ['before anything stood below it', false],
  ['with all of its thread', true],
])(
  'begins another thread where its first message was deleted %s, and loses no approval [V7]',
  async (_, whole) => {
    scene = await slackScene();
    await scene.bot();
    const id = await scene.incident(whole ? wholeIncident.slice(1, 9) : []);
    const before = await eventually(async () => {
      const found = await scene.messages();
      expect(slotsOf(found, id)).toEqual(whole ? ['root', 'live:1'] : ['root']);
      return found;
    });
    const web = new WebClient(SENTRY_APP.botToken, { slackApiUrl: scene.slack.apiUrl });
    for (const { channel, ts } of before.toReversed()) await web.chat.delete({ channel, ts });
    const action = await scene.propose(id);
    await eventually(async () => {
      const [root, ...below] = await scene.messages();
      expect(slotsOf([root!, ...below], id)).toEqual([
        'root',
        ...(whole ? ['live:1'] : []),
        `action:${action.id}`,
      ]);
      expect(below.every(({ thread_ts }) => thread_ts === root?.ts)).toBe(true);
      const [row] = await scene.sql<Row>`SELECT thread_ts FROM incident WHERE id = ${id}`;
      expect(row).toEqual({ thread_ts: root?.ts });
    });
  },
);

it('sees a change of another process, also one committed late', async () => {
  scene = await slackScene();
  await scene.bot();
  let commit: () => void = () => undefined;
  const committed = new Promise<void>((resolve) => {
    commit = resolve;
  });
  const id = await scene.incident();
  await eventually(async () => expect(await scene.messages()).toHaveLength(1));
  // Numbered before the next event, visible after it.
  const late = scene.sql.begin(async (tx) => {
    await scene.records.append(tx, id, { type: 'incident.escalated', reason: 'a late word' });
    await committed;
  });
  const other = await scene.incident();
  await eventually(async () => expect(slotsOf(await scene.messages(), other)).toEqual(['root']));
  commit();
  await late;
  await eventually(async () => expect(slotsOf(await scene.messages(), id)).toEqual(['root', 'escalation:1']));
});

it('waits as long as Slack says, and loses nothing', async () => {
  scene = await slackScene();
  await scene.bot();
  await scene.control('fail', {
    kind: 'rate_limited',
    method: 'chat.postMessage',
    times: 2,
    retry_after_s: 1,
  });
  const id = await scene.incident(wholeIncident.slice(1, 9));
  await eventually(async () => expect(slotsOf(await scene.messages(), id)).toEqual(['root', 'live:1']));
  expect((await scene.counters()).calls['chat.postMessage']).toMatchObject({ rateLimited: 2, early: 0 });
});

it.each(['server_error_after', 'hang_up_after'] as const)(
  'does not post again when Slack answers %s a post that took effect',
  async (kind) => {
    scene = await slackScene();
    await scene.bot();
    await scene.control('fail', { kind, method: 'chat.postMessage', times: 1 });
    const id = await scene.incident(wholeIncident.slice(1, 9));
    await eventually(async () => expect(slotsOf(await scene.messages(), id)).toEqual(['root', 'live:1']));
    expect((await scene.counters()).duplicates).toEqual([]);
  },
);

it('posts again when Slack answered 500 without having posted', async () => {
  scene = await slackScene();
  await scene.bot();
  await scene.control('fail', { kind: 'server_error', method: 'chat.postMessage', times: 1 });
  const id = await scene.incident();
  await eventually(async () => expect(slotsOf(await scene.messages(), id)).toEqual(['root']));
});

it.each([[[]], [['metadata']]])(
  'finds what a dead process had posted but not recorded (dropped: %j)',
  async (fields) => {
    scene = await slackScene();
    await scene.control('drop-fields', { fields });
    const first = await scene.bot();
    const id = await scene.incident(wholeIncident.slice(1, 9));
    await eventually(async () => expect(await scene.messages()).toHaveLength(2));
    await first.stop();
    // As if killed between Slack's answer and the record of it: once for the root, once in the thread.
    await scene.sql`UPDATE slack_post SET ts = NULL, sent_hash = NULL, posting_since = clock_timestamp() WHERE slot IN ('root', 'live:1')`;
    await scene.sql`UPDATE slack_lease SET drawn_mark = ''`;
    await scene.append(id, { type: 'incident.escalated', reason: 'help' });
    await scene.bot();
    await eventually(async () =>
      expect(slotsOf(await scene.messages(), id)).toEqual(['root', 'live:1', 'escalation:1']),
    );
    expect((await scene.counters()).duplicates).toEqual([]);
  },
);

it('two processes draw the same incidents without doubling a message', async () => {
  scene = await slackScene();
  await Promise.all([scene.bot(), scene.bot()]);
  const ids = await Promise.all(Array.from({ length: 5 }, () => scene.incident(wholeIncident.slice(1, 9))));
  await eventually(async () => {
    const messages = await scene.messages();
    for (const id of ids) expect(slotsOf(messages, id)).toEqual(['root', 'live:1']);
  }, 30_000);
  const posts = (await scene.counters()).calls['chat.postMessage'];
  expect(posts?.ok).toBe(10);
});

it('coalesces words that are being spoken into a few edits, and the last state stands', async () => {
  scene = await slackScene();
  await scene.bot();
  const id = await scene.incident(wholeIncident.slice(1, 7));
  await eventually(async () => expect(slotsOf(await scene.messages(), id)).toEqual(['root', 'live:1']));
  for (let word = 1; word <= 60; word += 1) {
    await scene.records.setWords(id, `word ${word} of 60.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await eventually(async () => expect(JSON.stringify(await scene.messages())).toContain('word 60 of 60.'));
  const edits = (await scene.counters()).calls['chat.update']?.ok ?? 0;
  // Once in three seconds, and the last.
  expect(edits).toBeGreaterThanOrEqual(1);
  expect(edits).toBeLessThanOrEqual(5);
});

it('catches up after an outage of Slack, in order, with the newest state', async () => {
  scene = await slackScene();
  await scene.bot();
  await scene.control('fail', { kind: 'hang_up', times: 30 });
  const id = await scene.incident(wholeIncident.slice(1, 9));
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await scene.messages()).toEqual([]);
  await scene.control('reset', {});
  await eventually(async () => expect(slotsOf(await scene.messages(), id)).toEqual(['root', 'live:1']));
  expect((await scene.counters()).duplicates).toEqual([]);
});

it('sends the text alone when Slack refuses the shape of a message', async () => {
  scene = await slackScene();
  await scene.bot();
  await scene.control('fail', {
    kind: 'error',
    error: 'invalid_blocks',
    method: 'chat.postMessage',
    times: 1,
  });
  await scene.incident();
  await eventually(async () => expect((await scene.messages())[0]?.text).toContain('sessions are blocked'));
});

it('an edit that was overtaken is sent again', async () => {
  scene = await slackScene();
  await scene.bot();
  const id = await scene.incident();
  await eventually(async () => expect(slotsOf(await scene.messages(), id)).toEqual(['root']));
  // Slower than the next change: the newest state must stand at the end.
  await scene.control('delay', { ms: 300, method: 'chat.update' });
  for (const to of ['triaging', 'diagnosing', 'reported'] as const) {
    await scene.append(id, { type: 'state.changed', from: 'open', to, reason: 'x' });
  }
  await eventually(async () => expect(JSON.stringify((await scene.messages())[0])).toMatch(/over to you/i));
});

it('a process taken for dead while its post is on its way does not make it double', async () => {
  scene = await slackScene();
  await scene.bot();
  const id = await scene.incident();
  await eventually(async () => expect(await scene.messages()).toHaveLength(1));
  // Until it is let through, below.
  await scene.control('delay', { ms: 60_000, method: 'chat.postMessage' });
  await scene.append(id, { type: 'incident.escalated', reason: 'slowly' });
  await eventually(async () =>
    expect(await scene.sql`SELECT 1 FROM slack_post WHERE posting_since IS NOT NULL`).toHaveLength(1),
  );
  // As if it had been paused for longer than its lease.
  await scene.sql`UPDATE slack_lease SET until = '-infinity'`;
  await scene.bot();
  const lease = async () =>
    (
      await scene.sql`SELECT holder, until::text AS until, drawn_mark <> '' AS drawn FROM slack_lease WHERE incident_id = ${id}`
    )[0];
  // The other has looked for it, could not tell, and lets go until it may look again.
  await eventually(async () =>
    expect(await lease()).toEqual({ holder: 'test-1', until: '-infinity', drawn: false }),
  );
  await scene.control('reset', {});
  // Which of the two finds that nothing is left to do is open.
  await eventually(async () => {
    expect(await lease()).toMatchObject({ drawn: true });
    expect(slotsOf(await scene.messages(), id)).toEqual(['root', 'escalation:1']);
  });
  expect((await scene.counters()).calls['chat.postMessage']?.ok).toBe(2);
});
