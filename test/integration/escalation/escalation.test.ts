import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { IncidentId } from '../../../src/core/ids.ts';
import { acknowledgeIn } from '../../../src/escalation/acknowledge.ts';
import { countPaged, formatPaged } from '../../../src/escalation/count-paged.ts';
import { dueIncidents } from '../../../src/escalation/due-incidents.ts';
import type { Escalation } from '../../../src/escalation/escalation.ts';
import type { Delivered } from '../../../src/escalation/ports.ts';
import { readFacts } from '../../../src/escalation/read-facts.ts';
import { afterRestore } from '../../../src/incidents/after-restore.ts';
import {
  bell,
  type EscalationScene,
  escalationScene,
  oncall,
  twoLevels,
} from '../../support/escalation-scene.ts';
import { eventually } from '../../support/slack-scene.ts';

let scene: EscalationScene;
let one: Escalation & { deliver(): Promise<number> };
beforeEach(async () => {
  scene = await escalationScene();
  one = scene.process();
});
afterEach(() => scene.close());

const down: Delivered = { ok: false, retryable: true, reason: 'no answer' };
const refused: Delivered = { ok: false, retryable: false, reason: 'Invalid routing key' };
const act = async (id: IncidentId): Promise<void> => {
  await one.look(id);
  await one.deliver();
};

/** Some session waits for another's lock. */
const isBlocked = (): Promise<unknown> =>
  eventually(async () => {
    const waiting = await scene.sql`
      SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    expect(waiting).not.toEqual([]);
  });

describe('who is called', () => {
  it('nobody for what is new; then the group and the pager; then the next level, once each', async () => {
    const id = await scene.incident({ minutesAgo: 1 });
    await act(id);
    expect(await scene.told(id)).toEqual([]);
    await scene.later(id, 5);
    for (let n = 0; n < 3; n += 1) await act(id);
    expect(await scene.told(id)).toEqual(['called 1 unacknowledged SONCALL']);
    await scene.later(id, 11);
    for (let n = 0; n < 3; n += 1) await act(id);
    expect(await scene.told(id)).toEqual(['called 1 unacknowledged SONCALL', 'called 2 unacknowledged UBEN']);
    expect(scene.pager.said).toEqual([`trigger ${id}`, `trigger ${id}-level-2`]);
    expect(scene.pager.pages[0]).toMatchObject({
      summary: `${id}: box: it is broken`,
      reason: 'Nobody has taken it.',
      evidence: ['seen'],
    });
  });

  it('two processes that look at the same moment make one call and one page', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => scene.incident()));
    const others = [one, scene.process(), scene.process()];
    await Promise.all(ids.flatMap((id) => others.map((each) => each.look(id))));
    await Promise.all(others.map((each) => each.deliver()));
    for (const id of ids) {
      expect(await scene.told(id)).toHaveLength(1);
      expect(scene.pager.said.filter((word) => word === `trigger ${id}`)).toHaveLength(1);
    }
  });

  it('whoever acknowledges while the call is decided: called before, or not at all, and never after', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, () => scene.incident()));
    await Promise.all(ids.flatMap((id) => [one.look(id), one.take(id, 'UANN')]));
    await one.deliver();
    for (const id of ids) {
      const told = await scene.told(id);
      expect(told.at(-1)).toBe('ack UANN taken');
      expect(
        (await scene.pages(id)).every(({ want, told: knows }) => want === 'acknowledge' && knows === want),
      ).toBe(true);
    }
  });

  it('a call that is decided while somebody acknowledges waits for them, and is not made', async () => {
    const id = await scene.incident({ minutesAgo: 1 });
    await one.look(id);
    await scene.later(id, 5);
    let looking: Promise<void> = Promise.resolve();
    await scene.sql.begin(async (tx) => {
      const read = await readFacts(tx, id);
      looking = one.look(id);
      await Promise.race([looking, isBlocked()]);
      if (read) await acknowledgeIn(tx, scene, read, { by: 'UANN', how: 'taken', at: null });
    });
    await looking;
    await one.deliver();
    expect(await scene.told(id)).toEqual(['ack UANN taken']);
    expect(scene.pager.said).toEqual([]);
  });

  it('nobody, when somebody has approved, denied or written since', async () => {
    const approved = await scene.incident();
    await scene.append(approved, { type: 'hint.given', by: 'UANN', text: 'look at the lock' });
    const written = await scene.incident();
    await one.wrote(written, 'UBEN');
    for (const id of [approved, written]) {
      await act(id);
      expect(await scene.told(id)).toEqual([]);
    }
    // What comes after is nobody's yet.
    await scene.later(approved, 5);
    await scene.move(approved, 'diagnosing', 'escalated');
    await scene.later(approved, 6);
    await act(approved);
    expect((await scene.told(approved)).at(-1)).toBe('called 1 unsolved SONCALL');
  });

  it.each([
    { what: 'flaps', state: 'reported', flapping: '1 hour' },
    { what: 'rests, as the policy asks for no more', state: 'reported', effort: 'on_demand' },
    { what: 'waits for the end of a mute', state: 'open', mute: 'M1' },
  ])('nobody for what $what', async ({ state, flapping = null, effort = null, mute = null }) => {
    const id = await scene.incident({ minutesAgo: 60 });
    await scene.sql`
      UPDATE incident SET state = ${state}, effort = ${effort}, muted_by = ${mute},
                          flapping_until = clock_timestamp() + ${flapping}::interval WHERE id = ${id}`;
    await act(id);
    expect(await scene.told(id)).toEqual([]);
    expect(scene.pager.said).toEqual([]);
  });

  it('after a mute, counted from its end', async () => {
    const id = await scene.incident({ minutesAgo: 60 });
    await scene.append(id, { type: 'incident.unmuted', mute: 'M1' });
    await act(id);
    expect(await scene.told(id)).toEqual([]);
    await scene.later(id, 6);
    await act(id);
    expect(await scene.told(id)).toEqual(['called 1 unacknowledged SONCALL']);
  });

  it.each([
    ['an alert that asks for more', null, true],
    ['a person who presses Investigate', 'UANN', false],
  ])('after its rest, which %s has ended, counted from then', async (_, by, isCalled) => {
    const id = await scene.incident({ minutesAgo: 60 });
    await scene.append(id, { type: 'effort.chosen', effort: 'on_demand', rule: 'r' });
    await scene.move(id, 'open', 'reported');
    await scene.later(id, 60);
    await scene.append(id, { type: 'effort.chosen', effort: 'full', rule: 'r', ...(by ? { by } : {}) });
    await scene.move(id, 'reported', 'triaging');
    await act(id);
    expect(await scene.told(id)).toEqual([]);
    await scene.later(id, 6);
    await act(id);
    expect(await scene.told(id)).toEqual(isCalled ? ['called 1 unacknowledged SONCALL'] : []);
  });

  it('nobody but whoever took it while it rested', async () => {
    const id = await scene.incident({ minutesAgo: 60 });
    await scene.move(id, 'open', 'reported');
    await one.take(id, 'UANN');
    await scene.later(id, 60);
    await scene.append(id, { type: 'effort.chosen', effort: 'full', rule: 'r' });
    await scene.move(id, 'reported', 'triaging');
    await scene.later(id, 60);
    await scene.move(id, 'triaging', 'reported');
    await act(id);
    expect(await scene.told(id)).toEqual(['ack UANN taken', 'called 0 unsolved UANN']);
  });

  it('whoever writes once people were called has answered, and nobody else is called', async () => {
    const id = await scene.incident();
    await act(id);
    await one.wrote(id, 'UBEN');
    await scene.append(id, { type: 'hint.given', by: 'UBEN', text: 'x' });
    await scene.later(id, 60);
    await act(id);
    expect(await scene.told(id)).toEqual(['called 1 unacknowledged SONCALL', 'ack UBEN acted']);
    expect(scene.pager.said).toEqual([`trigger ${id}`, `acknowledge ${id} UBEN`]);
  });

  it('no name of a program or a policy acknowledges', async () => {
    const id = await scene.incident();
    await scene.append(id, { type: 'hint.given', by: 'mcp:robot', text: 'x' });
    await act(id);
    expect(await scene.told(id)).toEqual(['called 1 unacknowledged SONCALL']);
  });

  it('a question acknowledges nothing: anybody may ask', async () => {
    const id = await scene.incident();
    await scene.append(id, { type: 'question.asked', by: 'UGUEST', text: 'is it down?' });
    await act(id);
    expect(await scene.told(id)).toEqual(['called 1 unacknowledged SONCALL']);
  });

  it('the group, where the schedule cannot be read, with a word of it; the page goes out all the same', async () => {
    const lost = scene.process({
      schedules: new Map([['second', { name: 'second', onCall: () => Promise.reject(new Error('down')) }]]),
      ladder: { ...twoLevels, levels: twoLevels.levels.slice(1) },
    });
    const id = await scene.incident({ minutesAgo: 20 });
    await lost.look(id);
    await lost.deliver();
    expect(await scene.told(id)).toEqual(['called 1 unacknowledged SONCALL']);
    expect(JSON.stringify(await scene.events(id))).toContain(
      'could not tell who is on call by the schedule second',
    );
    expect(scene.pager.said).toEqual([`trigger ${id}`]);
  });

  it('the group also while Slack is away: the mention waits with its message', async () => {
    const away = () => Promise.reject(new Error('Slack is away'));
    const alone = scene.process({ slack: { groupId: away, userByEmail: away, name: async (id) => id } });
    const id = await scene.incident();
    await alone.look(id);
    await alone.deliver();
    expect(await scene.events(id)).toContainEqual(
      expect.objectContaining({ type: 'person.called', groups: ['oncall'] }),
    );
    expect(scene.pager.said).toEqual([`trigger ${id}`]);
  });

  it('whoever is on call at the moment of the call: a shift that changed counts', async () => {
    let shift = 'Ann';
    const changing = scene.process({
      schedules: new Map([
        ['second', { name: 'second', onCall: async () => [{ name: shift, email: null, slackUser: null }] }],
      ]),
    });
    const id = await scene.incident();
    await changing.look(id);
    shift = 'Carla';
    await scene.later(id, 11);
    await changing.look(id);
    await changing.deliver();
    expect(await scene.told(id)).toEqual([
      'called 1 unacknowledged SONCALL',
      'called 2 unacknowledged SONCALL,Carla',
    ]);
    expect(scene.pager.open).toEqual(new Set([id, `${id}-level-2`]));
  });

  it('nobody at night for a warning, with a word of when; for something critical at once', async () => {
    const always = { days: [0, 1, 2, 3, 4, 5, 6], timezone: 'UTC' };
    const hours = [
      { ...always, from: 0, to: 12 * 60, severities: ['warning'] as const },
      { ...always, from: 12 * 60, to: 24 * 60 - 1, severities: ['warning'] as const },
      { ...always, from: 24 * 60 - 1, to: 24 * 60, severities: ['warning'] as const },
    ];
    const quiet = scene.process({ ladder: { ...twoLevels, quietHours: hours.slice(0, 2) } });
    const silent = scene.process({ ladder: { ...twoLevels, quietHours: hours } });
    const [warning, critical] = [await scene.incident({ severity: 'warning' }), await scene.incident()];
    await quiet.look(critical);
    await silent.look(warning);
    expect(await scene.told(critical)).toEqual(['called 1 unacknowledged SONCALL']);
    expect(await scene.told(warning)).toEqual([]);
    const [row] = await scene.sql<{
      readonly minute: string;
    }>`SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'HH24:MI') AS minute`;
    if (row?.minute === '23:59') return;
    await quiet.look(warning);
    await quiet.look(warning);
    expect(await scene.told(warning)).toEqual(['waits']);
    await scene.sql`UPDATE incident SET severity = 'critical' WHERE id = ${warning}`;
    await quiet.look(warning);
    expect((await scene.told(warning)).at(-1)).toBe('called 1 unacknowledged SONCALL');
  });

  it('what was there before an upgrade or a restore calls nobody', async () => {
    const id = await scene.incident({ minutesAgo: 600 });
    await scene.sql`INSERT INTO escalation (incident_id, since) VALUES (${id}, clock_timestamp())`;
    await scene.move(id, 'diagnosing', 'reported');
    await scene.sql`UPDATE event SET at = at - interval '1 hour' WHERE incident_id = ${id}`;
    for (const minutes of [0, 16, 44]) {
      await scene.later(id, minutes);
      await act(id);
    }
    expect(await scene.told(id)).toEqual([]);
    await one.take(id, 'UANN');
    await one.release(id, 'UANN');
    await scene.later(id, 6);
    await act(id);
    expect((await scene.told(id)).at(-1)).toBe('called 1 unacknowledged SONCALL');
  });

  it('after a restore nobody but whoever had it, for what comes then', async () => {
    const [open, held] = [await scene.incident(), await scene.incident()];
    await act(open);
    await one.take(held, 'UANN');
    await scene.sql.begin((tx) => afterRestore(tx, new Date().toISOString()));
    for (const minutes of [0, 16, 44])
      for (const id of [open, held]) {
        await scene.later(id, minutes);
        await act(id);
      }
    await scene.move(held, 'diagnosing', 'reported');
    await act(held);
    expect(await scene.told(open)).toEqual(['called 1 unacknowledged SONCALL']);
    expect(await scene.told(held)).toEqual(['ack UANN taken', 'called 0 unsolved UANN']);
  });
});

describe('pages', () => {
  const calledNow = async (): Promise<IncidentId> => {
    const id = await scene.incident();
    await one.look(id);
    return id;
  };

  it('a receiver that is down for ten minutes: told in the thread once, the next level is called, and each has one page in the end', async () => {
    scene.pager.fault = { answer: down, deaf: true };
    const id = await calledNow();
    await one.deliver();
    for (let minute = 0; minute < 10; minute += 1) {
      await scene.later(id, 1);
      await act(id);
    }
    expect(await scene.told(id)).toEqual([
      'called 1 unacknowledged SONCALL',
      'failed 1',
      'called 2 unacknowledged UBEN',
      'failed 2',
    ]);
    scene.pager.fault = null;
    await scene.later(id, 10);
    await one.deliver();
    await one.deliver();
    expect(scene.pager.said.toSorted()).toEqual([`trigger ${id}`, `trigger ${id}-level-2`]);
    expect(scene.pager.open).toEqual(new Set([id, `${id}-level-2`]));
  });

  it('what a service refuses calls the next level at once', async () => {
    scene.pager.fault = { answer: refused, deaf: true };
    const id = await calledNow();
    await one.deliver();
    await one.look(id);
    expect(await scene.told(id)).toEqual([
      'called 1 unacknowledged SONCALL',
      'failed 1',
      'called 2 unacknowledged UBEN',
    ]);
  });

  it('an answer that was lost: the same key again, so one page is open', async () => {
    scene.pager.fault = { answer: down, deaf: false };
    const id = await calledNow();
    await one.deliver();
    scene.pager.fault = null;
    await scene.later(id, 1);
    await one.deliver();
    expect(scene.pager.said).toEqual([`trigger ${id}`, `trigger ${id}`]);
    expect(scene.pager.open.size).toBe(1);
  });

  it('a service that does not answer holds up no other, and whoever is to be called comes first', async () => {
    const other = bell('og');
    const both = scene.process({
      pagers: new Map([
        ['pd', scene.pager],
        ['og', other],
      ]),
      ladder: { ...twoLevels, levels: [{ afterMs: 0, mention: oncall, page: ['pd', 'og'] }] },
    });
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    scene.pager.before = () => answered;
    const ids = await Promise.all(Array.from({ length: 10 }, () => scene.incident()));
    for (const id of ids) await both.look(id);
    const delivering = both.deliver();
    await eventually(() => expect(other.open.size).toBe(10));
    expect(scene.pager.open.size).toBe(0);
    answer();
    await delivering;
    expect(scene.pager.open.size).toBe(10);
    for (const id of ids.slice(1)) await both.take(id, 'UANN');
    const late = await scene.incident();
    await both.look(late);
    await both.deliver();
    expect(other.said.slice(10, 14)).toContain(`trigger ${late}`);
  });

  it('429 with Retry-After waits as long', async () => {
    scene.pager.fault = { answer: { ...down, retryAfterMs: 120_000 } as Delivered, deaf: true };
    const id = await calledNow();
    await one.deliver();
    scene.pager.fault = null;
    await scene.later(id, 1);
    expect(await one.deliver()).toBe(0);
    await scene.later(id, 2);
    expect(await one.deliver()).toBe(1);
  });

  it('killed between the send and the record: said again after the lease, once there', async () => {
    const id = await calledNow();
    const killed = scene.process({
      sql: scene.sql,
      counted: () => {
        throw new Error('killed');
      },
    });
    await expect(killed.deliver()).rejects.toThrow('killed');
    expect(scene.pager.said).toEqual([`trigger ${id}`]);
    expect(await one.deliver()).toBe(0);
    await scene.later(id, 2);
    expect(await one.deliver()).toBe(1);
    expect(scene.pager.open).toEqual(new Set([id]));
    expect(await one.deliver()).toBe(0);
  });

  it('killed between the decision and the send: another process sends it', async () => {
    const id = await calledNow();
    expect(await scene.process().deliver()).toBe(1);
    expect(scene.pager.open).toEqual(new Set([id]));
  });

  it('over while the page is under way: closed there afterwards', async () => {
    const id = await calledNow();
    scene.pager.before = async (word) => {
      if (!word.startsWith('trigger')) return;
      await scene.move(id, 'diagnosing', 'resolved');
      await scene.process().look(id);
    };
    await one.deliver();
    await one.deliver();
    expect(scene.pager.said).toEqual([`trigger ${id}`, `resolve ${id}`]);
    expect(scene.pager.open.size).toBe(0);
  });

  it('a process that was asleep with its page, and says it after the end: closed all the same', async () => {
    const id = await calledNow();
    scene.pager.before = async (word) => {
      if (!word.startsWith('trigger')) return;
      scene.pager.before = async () => undefined;
      await scene.move(id, 'diagnosing', 'resolved');
      await scene.process().look(id);
      await scene.later(id, 2);
      await scene.process().deliver();
    };
    await one.deliver();
    await one.deliver();
    expect(scene.pager.open.size).toBe(0);
    expect(scene.pager.said.at(-1)).toBe(`resolve ${id}`);
  });

  it('over or taken before it was ever sent: the service hears nothing', async () => {
    const [over, taken] = [await calledNow(), await calledNow()];
    await scene.move(over, 'diagnosing', 'resolved');
    await one.look(over);
    await one.take(taken, 'UANN');
    await one.deliver();
    expect(scene.pager.said).toEqual([]);
  });

  it.each([
    ['resolved', 'resolve'],
    ['ignored', 'resolve'],
    ['stopped', 'resolve'],
  ] as const)('%s here closes it there', async (state, word) => {
    const id = await calledNow();
    await one.deliver();
    await scene.move(id, 'diagnosing', state);
    await one.look(id);
    await one.deliver();
    expect(scene.pager.said).toEqual([`trigger ${id}`, `${word} ${id}`]);
  });

  it('a sweep finds what is over and has an open page, and what is due, without being told', async () => {
    const over = await calledNow();
    await one.deliver();
    await scene.sql`UPDATE incident SET state = 'resolved', updated_at = clock_timestamp() - interval '1 hour' WHERE id = ${over}`;
    const open = await scene.incident();
    await scene.sql`UPDATE incident SET updated_at = clock_timestamp() - interval '1 hour' WHERE id = ${open}`;
    const sweeping = scene.process({ everyMs: 20 });
    const sweeps: (() => Promise<void>)[] = [];
    sweeping.start({
      subscribe: ({ sweep }) => {
        sweeps.push(sweep);
        return async () => undefined;
      },
    });
    for (const sweep of sweeps) await sweep();
    await sweeping.stop();
    expect(scene.pager.open).toEqual(new Set([open]));
  });

  it('taken here is acknowledged there with the name; given back, it rings anew', async () => {
    const id = await calledNow();
    await one.deliver();
    expect(await one.take(id, 'UANN')).toMatchObject({ ok: true });
    await one.deliver();
    expect(await one.release(id, 'UANN')).toMatchObject({ ok: true });
    await scene.later(id, 6);
    await act(id);
    expect(scene.pager.said).toEqual([
      `trigger ${id}`,
      `acknowledge ${id} Ann`,
      `resolve ${id}`,
      `trigger ${id}`,
    ]);
    expect(await scene.told(id)).toEqual([
      'called 1 unacknowledged SONCALL',
      'ack UANN taken',
      'released UANN',
      'called 1 unacknowledged SONCALL',
    ]);
  });

  it('taken over by another: the service is told of them', async () => {
    const id = await calledNow();
    await one.deliver();
    for (const by of ['UANN', 'UBEN']) {
      await one.take(id, by);
      await one.deliver();
    }
    expect(scene.pager.said.slice(1)).toEqual([`acknowledge ${id} Ann`, `acknowledge ${id} UBEN`]);
  });

  it('page now: the next level that pages, whatever the hour, once', async () => {
    const id = await scene.incident({ minutesAgo: 6, severity: 'warning' });
    await one.look(id);
    expect(await one.pageNow(id)).toMatchObject({ ok: true });
    expect(await one.pageNow(id)).toMatchObject({ ok: false, code: 'NOBODY_LEFT' });
    await one.deliver();
    expect(scene.pager.open).toEqual(new Set([id, `${id}-level-2`]));
  });

  it('a pager that sentry.yaml has no more is told of in the thread', async () => {
    const id = await calledNow();
    await scene.process({ pagers: new Map() }).deliver();
    expect(await scene.told(id)).toContain('failed 1');
  });
});

describe('what a paging service tells', () => {
  const pd = ['pd'];
  const paged = async (): Promise<IncidentId> => {
    const id = await scene.incident();
    await act(id);
    return id;
  };
  const news = (
    id: string,
    kind: 'acknowledged' | 'resolved' | 'reassigned' | 'released' | 'echo',
    by: string | null = 'Carla',
  ) =>
    ({
      dedupKey: id,
      kind,
      by,
      to: kind === 'reassigned' ? 'Dora' : null,
      at: new Date(Date.now() + 1_000).toISOString(),
    }) as const;

  it('acknowledged there is acknowledged here, and nobody else is called', async () => {
    const id = await paged();
    const told = news(id, 'acknowledged');
    for (let n = 0; n < 2; n += 1) expect(await one.hear(told, pd)).toBe(true);
    await scene.later(id, 60);
    await act(id);
    expect(await scene.told(id)).toEqual(['called 1 unacknowledged SONCALL', 'ack Carla there']);
    expect(scene.pager.said).toEqual([`trigger ${id}`]);
  });

  it('resolved there is acknowledged here; the problem is Sentry’s to judge', async () => {
    const id = await paged();
    await one.hear(news(id, 'resolved'), pd);
    expect(await scene.told(id)).toContain('ack Carla there');
    await scene.move(id, 'diagnosing', 'resolved');
    await act(id);
    expect(scene.pager.said).toEqual([`trigger ${id}`]);
  });

  it('acknowledged at level 2 there: level 1 is acknowledged, too', async () => {
    const id = await paged();
    await scene.later(id, 11);
    await act(id);
    await one.hear(news(`${id}-level-2`, 'acknowledged'), pd);
    await one.deliver();
    expect(scene.pager.said.slice(2)).toEqual([`acknowledge ${id} Carla`]);
  });

  it('reassigned there shows whose it is, and given back there calls again', async () => {
    const id = await paged();
    await one.hear(news(id, 'acknowledged'), pd);
    await one.hear({ ...news(id, 'reassigned'), at: new Date(Date.now() + 2_000).toISOString() }, pd);
    expect((await scene.told(id)).slice(1)).toEqual(['ack Carla there', 'reassigned Dora', 'ack Dora there']);
    await one.hear({ ...news(id, 'released'), at: new Date(Date.now() + 3_000).toISOString() }, pd);
    expect((await scene.told(id)).at(-1)).toBe('released Dora');
  });

  it('a time in the future keeps no later news out', async () => {
    const id = await paged();
    const ahead = {
      ...news(id, 'acknowledged', 'Mallory'),
      at: new Date(Date.now() + 3_600_000).toISOString(),
    };
    for (let n = 0; n < 2; n += 1) await one.hear(ahead, pd);
    await one.hear({ ...news(id, 'reassigned'), at: new Date(Date.now() + 5).toISOString() }, pd);
    expect((await scene.told(id)).slice(1)).toEqual([
      'ack Mallory there',
      'reassigned Dora',
      'ack Dora there',
    ]);
    await one.hear({ ...news(id, 'released'), at: '9999-12-31T23:59:59.000Z' }, pd);
    await one.hear({ ...news(id, 'acknowledged'), at: new Date(Date.now() + 5).toISOString() }, pd);
    expect((await scene.told(id)).slice(-2)).toEqual(['released Dora', 'ack Carla there']);
  });

  it('what comes late, or again, does not take what was given back since', async () => {
    const id = await paged();
    const told = { ...news(id, 'acknowledged'), at: new Date(Date.now() - 1_000).toISOString() };
    await one.hear(told, pd);
    await one.release(id, 'UANN');
    await one.hear(told, pd);
    expect((await scene.told(id)).at(-1)).toBe('released UANN');
    await one.hear({ ...told, at: new Date(Date.now() + 1_000).toISOString() }, pd);
    expect((await scene.told(id)).at(-1)).toBe('ack Carla there');
  });

  it('what Sentry itself did there comes back, and changes nothing', async () => {
    const id = await paged();
    for (const kind of ['acknowledged', 'resolved', 'echo'] as const)
      expect(await one.hear(news(id, kind, null), pd)).toBe(true);
    expect(await scene.told(id)).toEqual(['called 1 unacknowledged SONCALL']);
  });

  it('a key like ours that we never sent is somebody else’s: not heard', async () => {
    const id = await scene.incident({ minutesAgo: 0 });
    for (const key of [id, `${id}-level-2`, 'INC-999999', 'nonsense'])
      expect(await one.hear(news(key, 'acknowledged'), pd)).toBe(false);
    const other = await paged();
    expect(await one.hear(news(other, 'acknowledged'), ['opsgenie'])).toBe(false);
    expect(await scene.told(other)).toEqual(['called 1 unacknowledged SONCALL']);
  });

  it('news of an earlier page with the same key is old', async () => {
    const id = await paged();
    await one.hear({ ...news(id, 'acknowledged'), at: new Date(Date.now() - 3_600_000).toISOString() }, pd);
    expect(await scene.told(id)).toEqual(['called 1 unacknowledged SONCALL']);
  });
});

it('what only says more of an incident is looked at now and then, what becomes of it at once', async () => {
  const id = await scene.incident({ minutesAgo: 1 });
  await one.look(id);
  await scene.records.setWords(id, 'I look at the lock');
  expect(await dueIncidents(scene.sql, true)).toEqual([]);
  await scene.sql`UPDATE escalation SET looked_at = looked_at - interval '1 minute'`;
  expect(await dueIncidents(scene.sql, false)).toEqual([id]);
  await one.look(id);
  await scene.move(id, 'diagnosing', 'reported');
  expect(await dueIncidents(scene.sql, false)).toEqual([id]);
});

it('an incident that comes back is called for anew, with a page of its own again', async () => {
  const id = await scene.incident();
  await act(id);
  await one.take(id, 'UANN');
  await scene.move(id, 'diagnosing', 'resolved');
  await act(id);
  await scene.later(id, 30);
  await scene.move(id, 'resolved', 'diagnosing');
  await scene.later(id, 6);
  await act(id);
  expect(scene.pager.said.at(-1)).toBe(`trigger ${id}`);
  expect(scene.pager.open).toEqual(new Set([id]));
  expect((await scene.told(id)).at(-1)).toBe('called 1 unacknowledged SONCALL');
});

it('in a big group, what people did and where its run began stays known', async () => {
  const repeat = (id: IncidentId) => scene.sql`
    INSERT INTO event (incident_id, type, body)
    SELECT ${id}, 'alert.repeated', '{"source":"test","occurrences":2}'::jsonb FROM generate_series(1, 600)`;
  const asked = await scene.incident();
  await scene.append(asked, { type: 'hint.given', by: 'UANN', text: 'x' });
  const again = await scene.incident({ minutesAgo: 90 });
  await one.take(again, 'UANN');
  await scene.move(again, 'diagnosing', 'resolved');
  await scene.later(again, 30);
  await scene.move(again, 'resolved', 'diagnosing');
  await scene.later(again, 6);
  for (const id of [asked, again]) {
    await repeat(id);
    await act(id);
  }
  expect(await scene.told(asked)).toEqual([]);
  expect(await scene.told(again)).toEqual(['ack UANN taken', 'called 1 unacknowledged SONCALL']);
});

describe('what was said of an incident before it came back', () => {
  const comesBack = async (id: IncidentId): Promise<void> => {
    await scene.move(id, 'diagnosing', 'resolved');
    await act(id);
    await scene.later(id, 30);
    await scene.move(id, 'resolved', 'diagnosing');
  };

  it('“Page now” hurries nobody any more', async () => {
    const id = await scene.incident();
    await act(id);
    await one.pageNow(id);
    await comesBack(id);
    await scene.later(id, 1);
    await act(id);
    expect(scene.pager.open).toEqual(new Set());
    await scene.later(id, 5);
    await act(id);
    expect(scene.pager.open).toEqual(new Set([id]));
  });

  it('whoever had it is at it again only once they do something, and what they did then does not count', async () => {
    const [written, hinted] = [await scene.incident(), await scene.incident()];
    for (const id of [written, hinted]) {
      await one.take(id, 'UANN');
      await scene.append(id, { type: 'hint.given', by: 'UANN', text: 'x' });
      await comesBack(id);
      await scene.later(id, 6);
      await act(id);
      await act(id);
      expect((await scene.told(id)).at(-1)).toBe('called 1 unacknowledged SONCALL');
    }
    await one.wrote(written, 'UANN');
    await scene.append(hinted, { type: 'hint.given', by: 'UANN', text: 'x' });
    for (const id of [written, hinted]) {
      await act(id);
      expect((await scene.told(id)).at(-1)).toBe('ack UANN acted');
    }
  });

  it('a service that gives it back gives back nothing of now', async () => {
    const id = await scene.incident();
    await act(id);
    const at = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();
    await one.hear({ dedupKey: id, kind: 'acknowledged', by: 'Carla', to: null, at: at(0) }, ['pd']);
    await comesBack(id);
    await scene.later(id, 6);
    await act(id);
    await one.hear({ dedupKey: id, kind: 'released', by: 'Carla', to: null, at: at(2) }, ['pd']);
    expect((await scene.told(id)).at(-1)).toBe('called 1 unacknowledged SONCALL');
  });
});

it('who is on call is asked once for many incidents, and one that waits for it holds up no other; the worst go first', async () => {
  let asked = 0;
  const away = () => {
    asked += 1;
    return Promise.reject(new Error('away'));
  };
  const info = await scene.incident({ minutesAgo: 90, severity: 'info' });
  const ids = await Promise.all(Array.from({ length: 6 }, () => scene.incident()));
  await scene.move(info, 'diagnosing', 'reported');
  expect((await dueIncidents(scene.sql, true)).at(-1)).toBe(info);
  const sweeping = scene.process({ slack: { groupId: away, userByEmail: away, name: async (id) => id } });
  const sweeps: (() => Promise<void>)[] = [];
  sweeping.start({
    subscribe: ({ sweep }) => {
      sweeps.push(sweep);
      return async () => undefined;
    },
  });
  await sweeps[0]?.();
  await sweeping.stop();
  expect(asked).toBe(1);
  for (const id of ids) expect(await scene.told(id)).toEqual(['called 1 unacknowledged ']);
});

it('counts what ended without a page, and says it where a level pages', async () => {
  const [paged, quiet, open] = await Promise.all([
    scene.incident(),
    scene.incident({ minutesAgo: 1 }),
    scene.incident({ minutesAgo: 1 }),
  ]);
  expect(formatPaged(await countPaged(scene.sql))).toBeNull();
  for (const id of [paged, quiet, open]) await act(id);
  for (const id of [paged, quiet]) await scene.move(id, 'diagnosing', 'resolved');
  expect(await countPaged(scene.sql)).toEqual({ ended: 2, unpaged: 1 });
  await act(paged);
  expect(await one.lines()).toEqual([
    '1 of 2 incidents that ended in the last 7 days needed no page (50 %).',
  ]);
});
