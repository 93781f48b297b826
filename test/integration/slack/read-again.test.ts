import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { USERS } from '../../../playground/slack/seed.ts';
import { refuse } from '../../../src/core/errors.ts';
import { asToolCallId, type IncidentId } from '../../../src/core/ids.ts';
import { openReads } from '../../../src/incidents/failed-reads/open-reads.ts';
import type { NamedRead, RetryRead } from '../../../src/incidents/failed-reads/retry-read.ts';
import { readNamedRead } from '../../../src/slack/inbound/actions/retry-read.ts';
import { aDiagnosis } from '../../support/incident-record.ts';
import { eventually, type SlackScene, slackScene } from '../../support/slack-scene.ts';
import { openWindow, press, whispers } from './card.ts';

let scene: SlackScene;
const asked: { readonly read: NamedRead; readonly by: string }[] = [];

/** Asks as the real one does, without the turn that follows. */
const readAgain: RetryRead = {
  async ask(read, by) {
    asked.push({ read, by });
    if (by === USERS.stranger) return refuse('MAY_NOT_ASK', 'Approvers and admins may do that.');
    await scene.append(read.incidentId, {
      type: 'read.asked',
      by,
      toolCallId: asToolCallId(read.toolCallId),
      readHash: read.hash,
      tool: 'postgres_locks',
      way: 'run',
    });
    return { ok: true, text: '' };
  },
  grant: async () => ({
    ok: true,
    tool: 'postgres_blocking_tree',
    target: 'shop-db',
    reason: '3 sessions are hidden.',
    who: 'A superuser of shop-db.',
    what: 'Run this in the database:',
    exact: 'GRANT pg_monitor TO sentry_ro;',
    note: null,
  }),
};

beforeAll(async () => {
  scene = await slackScene();
  await scene.bot({ retryRead: readAgain });
});
afterAll(() => scene.close());

let serial = 0;

/** A report that misses one read which failed so, and its message. */
async function report(code: 'TIMEOUT' | 'POSTGRES_42501') {
  serial += 1;
  const id = await scene.incident();
  const call = asToolCallId(`tc_unread${String(serial).padStart(6, '0')}`);
  await scene.sql`
    INSERT INTO tool_call (id, incident_id, role, tool, target, input, state, output, result, output_sha256, truncated,
                           code, started_at, finished_at)
    VALUES (${call}, ${id}, 'detective', 'postgres_locks', 'shop-db', ${scene.sql.json({ limit: 7 })}, 'failed',
            ${`It failed: ${code}`}, 'null', '', false, ${code}, clock_timestamp(), clock_timestamp())`;
  const way = code === 'TIMEOUT' ? 'run' : 'grant';
  await scene.append(
    id,
    {
      type: 'diagnosis.concluded',
      round: 1,
      diagnosis: aDiagnosis({
        verdict: 'cannot_tell',
        unread: [{ toolCallId: call, way, reason: `It failed: ${code}` }],
      }),
    },
    { type: 'state.changed', from: 'diagnosing', to: 'reported', reason: 'cannot tell' },
  );
  const [open] = openReads((await scene.records.load(id))!);
  return { id, read: { incidentId: id, toolCallId: call, hash: open!.hash } };
}

async function messageOf(id: IncidentId, part: string) {
  return eventually(async () => {
    const found = (await scene.messages()).find((each) => {
      const text = JSON.stringify(each);
      return text.includes('Could not be read') && text.includes(`${id}:`) && text.includes(part);
    });
    expect(found).toBeDefined();
    return found!;
  });
}

describe('what could not be read', () => {
  it('for a passing reason has Run it, which shows exactly what it runs and asks for that', async () => {
    const { id, read } = await report('TIMEOUT');
    const message = await messageOf(id, 'sentry_read_again');
    expect(JSON.stringify(message.blocks)).toContain('postgres_locks on shop-db {\\"limit\\":7}');
    await press(scene, message, 'sentry_read_again');
    await eventually(() => expect(asked.at(-1)).toEqual({ read, by: USERS.onCall }));
    // Then it says who asked, and has no button more.
    await eventually(async () => {
      const now = (await scene.messages()).find(({ ts }) => ts === message.ts);
      expect(JSON.stringify(now)).toContain('Being read again');
      expect(JSON.stringify(now)).toContain(USERS.onCall);
      expect(JSON.stringify(now)).not.toContain('sentry_read_again');
    });
  });

  it('says no to a stranger in words, and keeps its button', async () => {
    const { id } = await report('TIMEOUT');
    const message = await messageOf(id, 'sentry_read_again');
    await press(scene, message, 'sentry_read_again', USERS.stranger);
    await eventually(async () =>
      expect((await whispers(scene, USERS.stranger)).join()).toContain('Approvers and admins may do that'),
    );
    await messageOf(id, 'sentry_read_again');
  });

  it('for want of a privilege has Grant it, whose window says who does what, and checks again', async () => {
    const { id, read } = await report('POSTGRES_42501');
    const message = await messageOf(id, 'sentry_grant');
    const view = await openWindow(scene, async () => message, 'sentry_grant');
    expect(JSON.stringify(view)).toContain('GRANT pg_monitor TO sentry_ro;');
    expect(JSON.stringify(view)).toContain('A superuser of shop-db.');
    expect(JSON.stringify(view)).toContain('Check again');
    await scene.act('view.submit', { userId: USERS.onCall, viewId: view.id, form: {} });
    await eventually(() => expect(asked.at(-1)).toEqual({ read, by: USERS.onCall }));
  });

  it('is told in the thread with its button where Slack opens no windows', async () => {
    const { id } = await report('POSTGRES_42501');
    const message = await messageOf(id, 'sentry_grant');
    await scene.control('unknown-methods', { methods: ['views.open'] });
    await press(scene, message, 'sentry_grant', USERS.onCall2);
    await eventually(async () => {
      const told = (await whispers(scene, USERS.onCall2)).join();
      expect(told).toContain('GRANT pg_monitor TO sentry_ro;');
      expect(told).toContain('sentry_read_again');
    });
  });
});

describe('a button’s value', () => {
  it.each([
    '',
    'INC-7',
    'act_aaaaaaaaaaaa:' + 'a'.repeat(64),
    `INC-7:act_aaaaaaaaaaaa:${'a'.repeat(64)}`,
    `INC-7:tc_aaaaaaaaaaaa:${'a'.repeat(63)}`,
    `INC-7:tc_aaaaaaaaaaaa:${'a'.repeat(64)}:more`,
    `inc-7:tc_aaaaaaaaaaaa:${'A'.repeat(64)}`,
    `INC-7:tc_a'; DROP TABLE--:${'a'.repeat(64)}`,
    JSON.stringify({ tool: 'postgres_terminate_backend', input: { pid: 1 } }),
  ])('that is none of ours is none: %s', (value) => {
    expect(readNamedRead(value)).toBeNull();
  });
});
