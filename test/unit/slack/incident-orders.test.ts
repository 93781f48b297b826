import { describe, expect, it } from 'vitest';
import { asIncidentId, type IncidentId } from '../../../src/core/ids.ts';
import type { SlackContext } from '../../../src/slack/context.ts';
import { chooseMore, stopIt } from '../../../src/slack/inbound/actions/orders.ts';
import { NOT_YOURS } from '../../../src/slack/inbound/actions/show.ts';
import {
  carryOut,
  incidentCommand,
  type Order,
  readIncidentOrder,
} from '../../../src/slack/inbound/commands/incident-orders.ts';
import { anIncident } from '../../support/incident-record.ts';

describe('what is said', () => {
  it.each([
    ['close', { id: null, order: { verb: 'close', reason: '' } }],
    ['Close it.', { id: null, order: { verb: 'close', reason: '' } }],
    ['close: fixed by hand', { id: null, order: { verb: 'close', reason: 'fixed by hand' } }],
    ['close because it was a drill', { id: null, order: { verb: 'close', reason: 'it was a drill' } }],
    ['close INC-7: fixed by hand', { id: 'INC-7', order: { verb: 'close', reason: 'fixed by hand' } }],
    ['assign <@U0NOAH>', { id: null, order: { verb: 'assign', to: 'U0NOAH' } }],
    ['assign this to <@U0NOAH|noah>.', { id: null, order: { verb: 'assign', to: 'U0NOAH' } }],
    ['assign INC-7 to me', { id: 'INC-7', order: { verb: 'assign', to: 'me' } }],
    ['assign inc-7 @olivia', { id: 'INC-7', order: { verb: 'assign', to: '@olivia' } }],
    ['assign INC-7 @Olivia Park', { id: 'INC-7', order: { verb: 'assign', to: '@Olivia Park' } }],
    ['severity warning', { id: null, order: { verb: 'severity', to: 'warning' } }],
    ['Set severity of INC-7 to ERROR!', { id: 'INC-7', order: { verb: 'severity', to: 'error' } }],
  ])('%s', (text, said) => expect(readIncidentOrder(text)).toEqual(said));

  it.each([
    'close the connections to the database first',
    'close?',
    'Close, but not quite: it is the replica',
    'close, what about the other one',
    'close: what is holding the lock',
    'close it; do not',
    'Close since 10:10',
    'close INC-7’s connections',
    'close INC-7 connections on shop-db',
    'close INC-7 only if Olivia agrees',
    'close INC-7 and INC-8',
    'close INC-7: only if Olivia agrees',
    'closed',
    'close INC-7?',
    'can you close it',
    'assign',
    'assign the pods to another node',
    'assign <!channel>',
    'severity',
    'severity of this is wrong',
    'severity unknown',
    'the severity is warning',
    'closely look at it',
  ])('%s is none', (text) => expect(readIncidentOrder(text)).toBeNull());
});

const ID = asIncidentId('INC-7');
const ORDERS: readonly Order[] = [
  { verb: 'stop' },
  { verb: 'resume' },
  { verb: 'close', reason: '' },
  { verb: 'assign', to: 'U0NOAH' },
  { verb: 'severity', to: 'warning' },
  { verb: 'merge', into: asIncidentId('INC-3') },
];
const ok = { ok: true, text: 'done' } as const;

/** What was done, and what was said. `guests`: who is one; `blind`: who may read of nothing. */
function scene({ guests = [], blind = [] }: { guests?: readonly string[]; blind?: readonly string[] } = {}) {
  const done: string[] = [];
  const told: string[] = [];
  const opened: unknown[] = [];
  const does =
    (name: string) =>
    async (...args: readonly unknown[]) => {
      done.push([name, ...args].join(' '));
      return ok;
    };
  const known = new Map<IncidentId, object>(
    [ID, asIncidentId('INC-3')].map((id) => [id, anIncident({ id })]),
  );
  const context = {
    deps: {
      records: { incident: async (id: IncidentId) => known.get(id) ?? null, findByThread: async () => null },
      steer: {
        stop: does('stop'),
        resume: does('resume'),
        close: does('close'),
        setSeverity: does('severity'),
      },
      escalation: { take: does('take'), assign: does('assign') },
      correlation: { merge: does('merge') },
      questions: { stop: async () => false },
      log: { warn: () => undefined, error: () => undefined },
    },
    directory: {
      mayAct: async (user: string) =>
        guests.includes(user)
          ? { ok: false, code: 'IS_GUEST', reason: 'Guests cannot do that; members can.' }
          : ok,
      channelMembers: async () => ['U0NOAH', 'U0SAM', 'U0SAM2'],
      name: async (id: string) => ({ U0NOAH: 'Noah' })[id] ?? 'sam',
    },
    access: {
      mayRead: async (user: string) => !blind.includes(user),
      channelOf: async () => 'C0ALERTS',
    },
    client: {
      views: {
        open: async (view: unknown) => (opened.push(view), { view: { id: 'V1' } }),
        update: async (view: unknown) => opened.push(view),
      },
    },
    outbound: { pressed: () => undefined },
    tell: async (_to: unknown, { text }: { text: string }) => void told.push(text),
    withNames: async (text: string) => text,
  } as unknown as SlackContext;
  return { context, done, told, opened };
}
const ann = { userId: 'U0ANN', teamId: null, channel: 'C0ALERTS', threadTs: '1.0' };
const pressed = (value: string, userId = 'U0ANN') => ({
  value,
  userId,
  teamId: null,
  triggerId: 'T',
  viewId: null,
  audience: { userId, channel: 'C0ALERTS', threadTs: '1.0' },
});

describe('who may', () => {
  it.each(ORDERS)('members who may read of it: $verb', async (order) => {
    const { context, done } = scene();
    expect(await carryOut(context, ID, order, ann)).toEqual(ok);
    expect(done).toHaveLength(1);
  });

  it.each(ORDERS)('neither a guest nor who may not read of it: $verb', async (order) => {
    const guest = scene({ guests: ['U0ANN'] });
    expect(await carryOut(guest.context, ID, order, ann)).toMatchObject({
      reason: expect.stringContaining('members can'),
    });
    const blind = scene({ blind: ['U0ANN'] });
    const no = await carryOut(blind.context, ID, order, ann);
    expect(no).toMatchObject({
      ok: false,
      reason: expect.stringContaining('There is no INC-7 that you may see'),
    });
    // The same of one that is not there: nobody learns of one by trying.
    const absent = await carryOut(scene().context, asIncidentId('INC-9'), order, ann);
    expect(absent).toEqual(JSON.parse(JSON.stringify(no).replaceAll('INC-7', 'INC-9')));
    expect([...guest.done, ...blind.done]).toEqual([]);
  });

  it('it is assigned to members who may read of it alone, and to oneself by taking it', async () => {
    const to = async (named: string, as: Parameters<typeof scene>[0] = {}) => {
      const { context, done } = scene(as);
      const said = await carryOut(context, ID, { verb: 'assign', to: named }, ann);
      return said.ok ? done : said.reason;
    };
    expect(await to('U0NOAH')).toEqual(['assign INC-7 U0NOAH U0ANN']);
    expect(await to('me')).toEqual(['take INC-7 U0ANN']);
    expect(await to('@noah')).toEqual(['assign INC-7 U0NOAH U0ANN']);
    expect(await to('@sam')).toContain('I cannot tell who @sam is');
    expect(await to('@nobody')).toContain('I cannot tell who @nobody is');
    expect(await to('U0NOAH', { guests: ['U0NOAH'] })).toContain('only people who are members');
    expect(await to('U0NOAH', { blind: ['U0NOAH'] })).toContain('invite them to its channel first');
  });

  it('it is merged into nothing that they may not see', async () => {
    const { context, done } = scene();
    expect(await carryOut(context, ID, { verb: 'merge', into: asIncidentId('INC-9') }, ann)).toMatchObject({
      reason: 'There is no INC-9 that you may see.',
    });
    expect(done).toEqual([]);
  });
});

describe('what is chosen on a card', () => {
  it.each(['close:INC-9', 'severity:INC-9', 'assign:INC-9', 'merge:INC-9'])(
    '%s of one that is not theirs opens no form',
    async (value) => {
      const { context, opened, done } = scene();
      await chooseMore(context, pressed(value));
      expect(JSON.stringify(opened.at(-1))).toContain(NOT_YOURS.slice(0, 40));
      expect(JSON.stringify(opened)).not.toContain('sentry_order');
      expect(done).toEqual([]);
    },
  );

  it.each(['', 'close', 'close:', 'close:INC-7x', 'drop:INC-7', 'why', '__proto__:INC-7'])(
    '“%s” is no button',
    async (value) => {
      const { context, told, opened } = scene();
      await chooseMore(context, pressed(value));
      expect(told).toEqual(['I do not know this button any more. Nothing was done.']);
      expect(opened).toEqual([]);
    },
  );

  it('a guest is told who may, in the window that opened at once', async () => {
    const { context, opened } = scene({ guests: ['U0ANN'] });
    await chooseMore(context, pressed('close:INC-7'));
    expect(JSON.stringify(opened[0])).toContain('One moment');
    expect(JSON.stringify(opened.at(-1))).toContain('Guests cannot do that; members can.');
  });

  it('what could not be stored is said', async () => {
    const { context, told } = scene();
    const broken = {
      ...context,
      deps: { ...context.deps, steer: { stop: async () => Promise.reject(new Error('x')) } },
    };
    await stopIt(broken as unknown as SlackContext, pressed('INC-7'));
    expect(told).toEqual(['That could not be stored. Please try again in a moment.']);
  });
});

it('a command that names nothing says how', async () => {
  const { context } = scene();
  const none = { ...ann, channel: 'C1', threadTs: null, rest: '', say: () => undefined };
  for (const text of ['close', 'assign @noah', 'severity', 'severity bad INC-7'])
    expect((await incidentCommand(context, { ...none, text })).text).toContain(
      `/sentry ${text.split(' ')[0]} INC-7`,
    );
});
