import { afterEach, expect, it } from 'vitest';
import { CHANNELS, USERS } from '../../../playground/slack/seed.ts';
import type { Message } from '../../../playground/slack/slack-shapes.ts';
import { createHandOver } from '../../../src/app/hand-over.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import { createHandoff } from '../../../src/incidents/reports/handoff-of.ts';
import { createReportClaims } from '../../../src/incidents/reports/report-claims.ts';
import { wholeIncident } from '../../support/incident-record.ts';
import { textOf } from '../../support/local-slack.ts';
import { quiet } from '../../support/quiet.ts';
import { eventually, type SlackScene, slackScene } from '../../support/slack-scene.ts';
import { press, whispers } from './card.ts';

let scene: SlackScene;
afterEach(() => scene.close());

const CLOSED = wholeIncident.slice(1);

const handoffOf = () =>
  createHandoff({
    sql: scene.sql,
    records: scene.records,
    read: () => null,
    mutedLines: async () => ['M3 every alert of shop-db'],
    stoppedLines: async () => [],
  });
const bot = () => scene.bot({ reports: createReportClaims(scene.sql, scene.records), handoff: handoffOf() });
const run = (text: string, userId: string = USERS.onCall) =>
  scene.act('command.run', { userId, channel: CHANNELS.alerts, text: `/sentry ${text}` });
const answered = (userId: string, says: string | RegExp) =>
  eventually(async () => {
    const last = (await whispers(scene, userId)).at(-1) ?? '';
    expect(last).toMatch(says);
    return last;
  });
const ended = async (id: IncidentId): Promise<void> => {
  await scene.sql`UPDATE incident SET state = 'resolved', resolved_by = 'confirmed', ended_at = clock_timestamp() WHERE id = ${id}`;
  await scene.append(id, { type: 'incident.summary', text: 'It was terminated.' });
};
const closing = (): Promise<Message> =>
  eventually(async () => {
    const found = (await scene.messages()).find((each) =>
      JSON.stringify(each.blocks ?? []).includes('"sentry_report"'),
    );
    expect(found).toBeDefined();
    return found as Message;
  });
/** A closed incident with its closing in the thread. */
const closed = async (): Promise<{ readonly id: IncidentId; readonly message: Message }> => {
  const id = await scene.incident(CLOSED);
  await ended(id);
  return { id, message: await closing() };
};
const calls = async (method: string): Promise<unknown> => (await scene.counters()).calls[method]?.total;
const events = async (id: IncidentId) =>
  (await scene.records.load(id))?.events
    .filter(({ type }) => type.startsWith('report.'))
    .map((event) => ('place' in event ? `${event.type} ${event.place}` : event.type));
const pressReport = async (message: Message, userId: string = USERS.onCall) =>
  expect(await press(scene, message, 'sentry_report', userId)).toMatchObject({ ok: true });

it('a post-mortem is one canvas, however often and by whomever it is asked for, and its thread links it', async () => {
  scene = await slackScene();
  await Promise.all([bot(), bot()]);
  const { id, message } = await closed();
  await Promise.all([pressReport(message), pressReport(message), pressReport(message, USERS.onCall2)]);
  const link = await eventually(async () => {
    const found = (await scene.messages()).find((each) => textOf(each).includes(`Post-mortem of ${id}`));
    expect(found).toBeDefined();
    return JSON.stringify(found);
  });
  const url = /http[^"\\]+\/docs\/[^"\\]+/.exec(link)?.[0] ?? '';
  const canvas = await (await fetch(url)).text();
  expect(canvas).toContain('## Timeline');
  expect(canvas).toContain('## Follow-ups');
  await run(`report ${id}`);
  await answered(USERS.onCall, /stands in a canvas of its channel, made at/);
  expect(await calls('canvases.create')).toBe(1);
  expect(await events(id)).toEqual(['report.asked', 'report.made canvas']);
});

it.each([
  ['file', ['canvases.create'], /in a file in its thread/],
  ['thread', ['canvases.create', 'files.getUploadURLExternal'], /in its thread/],
] as const)('without the scope it is a %s', async (place, missing, says) => {
  scene = await slackScene();
  await bot();
  const { id, message } = await closed();
  for (const method of missing)
    await scene.control('fail', { method, kind: 'error', error: 'missing_scope' });
  await pressReport(message);
  await answered(USERS.onCall, says);
  expect(await events(id)).toEqual(['report.asked', `report.made ${place}`]);
  const texts = (await scene.messages()).map((each) => `${textOf(each)} ${JSON.stringify(each)}`);
  expect(
    texts.filter((text) => text.includes(place === 'file' ? `post-mortem-${id}.md` : 'Follow-ups')),
  ).toHaveLength(1);
});

it('where Slack does not tell whether it was made, it is not made again, and whoever asks has it for themselves', async () => {
  scene = await slackScene();
  await bot();
  const { id, message } = await closed();
  await scene.control('fail', { method: 'canvases.create', kind: 'server_error_after' });
  await pressReport(message);
  await answered(USERS.onCall, /cannot tell whether it arrived.*Follow-ups/);
  await scene.sql`UPDATE event SET at = at - interval '2 minutes' WHERE incident_id = ${id} AND type = 'report.asked'`;
  await pressReport(message, USERS.onCall2);
  await answered(USERS.onCall2, /cannot tell whether it arrived.*Follow-ups/);
  expect(await calls('canvases.create')).toBe(1);
  expect(await events(id)).toEqual(['report.asked']);
});

it('an incident that is not over has its report so far, for whoever asks alone; a stranger has none', async () => {
  scene = await slackScene();
  await bot();
  const id = await scene.incident(wholeIncident.slice(1, 8));
  await run(`report ${id}`);
  await answered(USERS.onCall, /is not over.*Detection and response/);
  expect(await events(id)).toEqual([]);
  await run('report INC-999');
  await answered(USERS.onCall, /There is no INC-999 that you may see/);
});

it('an update is of the one that is open, of several a line each with the worst first, and of none of a private channel', async () => {
  scene = await slackScene();
  await bot();
  const first = await scene.incident(wholeIncident.slice(1, 8));
  await run('update');
  await answered(USERS.onCall, /Better or worse: nothing was measured\..*Next: no time is set/);
  const second = await scene.incident(wholeIncident.slice(1, 8));
  await scene.sql`UPDATE incident SET severity = 'warning' WHERE id = ${first}`;
  await scene.sql`UPDATE incident SET severity = 'critical' WHERE id = ${second}`;
  await run('update');
  const said = await answered(USERS.onCall, /More of one/);
  expect(said.indexOf(second)).toBeLessThan(said.indexOf(first));
  await scene.sql`UPDATE incident SET channel = 'C0NOWHERE' WHERE id = ${second}`;
  await run('update');
  const left = await answered(USERS.onCall, new RegExp(`^${first}`));
  expect(left).not.toContain(second);
  await run(`update ${second}`);
  await answered(USERS.onCall, `There is no ${second} that you may see`);
});

it('an update says whom the open card mentioned, and that nobody was paged', async () => {
  scene = await slackScene();
  await bot();
  const id = await scene.incident(wholeIncident.slice(1, 9));
  await scene.propose(id);
  await run(`update ${id}`);
  await answered(USERS.onCall, /Its card mentioned the group on call; nobody was paged\./);
});

it('a handoff tells what is open, muted and over since, and nothing of a private channel', async () => {
  scene = await slackScene();
  await bot();
  const open = await scene.incident(wholeIncident.slice(1, 8));
  const { id: over } = await closed();
  const secret = await scene.incident(wholeIncident.slice(1, 8));
  await scene.sql`UPDATE incident SET channel = 'C0NOWHERE' WHERE id = ${secret}`;
  await run('handoff');
  const said = await answered(USERS.onCall, /1 open incident:/);
  for (const words of [`• ${open}`, 'Muted:', 'M3 every alert', 'Closed since', `• ${over}`])
    expect(said).toContain(words);
  expect(said).not.toContain(secret);
});

it('a shift is handed over in a direct message, with what its reader may see; not while Slack is away', async () => {
  scene = await slackScene();
  const { workspace } = await bot();
  const open = await scene.incident(wholeIncident.slice(1, 8));
  const secret = await scene.incident(wholeIncident.slice(1, 8));
  // Its root, when it comes to stand, says where the incident is.
  await eventually(async () => {
    const [row] = await scene.sql<{
      thread_ts: string | null;
    }>`SELECT thread_ts FROM incident WHERE id = ${secret}`;
    expect(row?.thread_ts).toMatch(/./);
  });
  await scene.sql`UPDATE incident SET channel = 'C0NOWHERE' WHERE id = ${secret}`;
  const handOver = createHandOver({ slackWorkspace: workspace, log: quiet }, handoffOf());
  const change = { userId: USERS.onCall2, schedules: ['primary'], since: '2026-11-21T09:00:00.000Z' };
  await scene.control('fail', { method: 'conversations.open', kind: 'hang_up' });
  expect(await handOver(change)).toBe('not_now');
  expect(await handOver(change)).toBe('told');
  const { snapshot } = (await scene.control('snapshot', {})) as {
    readonly snapshot: { readonly messages: Readonly<Record<string, readonly Message[]>> };
  };
  const direct = Object.values(snapshot.messages)
    .flat()
    .map(textOf)
    .filter((text) => text.includes('You are on call now (primary).'));
  expect(direct).toHaveLength(1);
  expect(direct[0]).toContain(open);
  expect(direct[0]).not.toContain(secret);
});
