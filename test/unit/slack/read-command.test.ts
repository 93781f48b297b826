import { describe, expect, it } from 'vitest';
import { asIncidentId, readIncidentId } from '../../../src/core/ids.ts';
import { COMMANDS } from '../../../src/slack/inbound/commands/all-commands.ts';
import { type Place, readCommand } from '../../../src/slack/inbound/commands/read-command.ts';

const thread: Place = { incident: asIncidentId('INC-7'), inThread: true };
const channel: Place = { incident: null, inThread: false };
const read = (text: string, place: Place) => readCommand(text, COMMANDS, place);

describe('in an incident’s thread, answered there', () => {
  it.each([
    ['ack', 'ack INC-7'],
    ['Ack!', 'ack INC-7'],
    ['ack this, please', 'ack INC-7'],
    ['please ack', 'ack INC-7'],
    ['can you ack this?', 'ack INC-7'],
    ['ack 👍', 'ack INC-7'],
    ['ack, looking into it', 'ack INC-7'],
    ['ack - I take it from here', 'ack INC-7'],
    ['ack inc 9', 'ack INC-9'],
    ['release', 'release INC-7'],
    ['release it, thanks', 'release INC-7'],
    ['cost', 'cost INC-7'],
    ['cost?', 'cost INC-7'],
    ['cost of this incident?', 'cost INC-7'],
    ['update', 'update INC-7'],
    ['update, please', 'update INC-7'],
    ['update?', 'update INC-7'],
    ['mute 2h', 'mute 2h'],
    ['Mute this for 30m deploying', 'mute this for 30m deploying'],
    ['mute alertname="X" 2h', 'mute alertname="X" 2h'],
    ['unmute M3', 'unmute M3'],
    ['mutes', 'mutes'],
    ['silence 2h', 'silence 2h'],
    ['close', 'close'],
    ['close: fixed by hand now', 'close : fixed by hand now'],
    ['close because it was a drill', 'close because it was a drill'],
    ['assign to me', 'assign to me'],
    ['assign <@U0ONCALL2>', 'assign <@U0ONCALL2>'],
    ['severity warning', 'severity warning'],
    ['set severity to warning', 'severity to warning'],
    ['split', 'split'],
    ['merge into INC-3', 'merge into INC-3'],
    ['stop', 'stop INC-7'],
    ['🛑 STOP', 'stop INC-7'],
    ['No! Stop, it makes it worse', 'stop makes it worse'],
    ['can you stop?', 'stop INC-7'],
    ['stop the payroll job first', 'stop the payroll job first'],
    ['stop shop-db for 2h', 'stop shop-db for 2h'],
    ['stop: we are on it', 'stop INC-7 we are on it'],
    ['resume', 'resume INC-7'],
  ])('“%s” is %s', (text, typed) => {
    const spoken = read(text, thread);
    expect(spoken).toMatchObject({ text: typed, forAll: true });
  });
});

describe('in an incident’s thread, answered to who asks', () => {
  it.each([
    ['incidents', 'incidents'],
    ['incidents open', 'incidents open'],
    ['incidents of orders', 'incidents of orders'],
    ['incidents shop-db', 'incidents shop-db'],
    ['why INC-9', 'why INC-9'],
    ['why #9?', 'why INC-9'],
    ['status of INC-9', 'status INC-9'],
    ['cost INC-9', 'cost INC-9'],
    ['report', 'report INC-7'],
    ['report on INC-7', 'report INC-7'],
    ['report inc9', 'report INC-9'],
    ['settings me', 'settings me'],
    ['runbooks blocked-sessions', 'runbooks blocked-sessions'],
    ['memory', 'memory'],
    ['memory search disk full', 'memory search disk full'],
    ['memory remember the payroll runs at ten', 'memory remember the payroll runs at ten'],
    ['runbooks', 'runbooks'],
    ['runbooks search lock', 'runbooks search lock'],
    ['targets', 'targets'],
    ['changes shop-db', 'changes shop-db'],
    ['changes of checkout since 2h', 'changes of checkout since 2h'],
    ['changes in the last 30m', 'changes in the last 30m'],
    ['targets shop-db', 'targets shop-db'],
    ['oncall', 'oncall'],
    ['On call?', 'oncall'],
    ['hand over', 'handoff'],
    ['promotions', 'promotions'],
    ['watch', 'watch'],
    ['watch stop shop-host', 'watch stop shop-host'],
    ['help', 'help'],
    ['/sentry status', 'status'],
    ['/sentry incidnts', 'incidnts'],
    ['/sentry investigate the disk of shop-db', 'investigate the disk of shop-db'],
  ])('“%s” is %s', (text, typed) => {
    expect(read(text, thread)).toMatchObject({ text: typed, forAll: false });
  });
});

describe('in an incident’s thread, a sentence or a question that begins with a command’s name', () => {
  it.each([
    'changes',
    'changes were made to the config',
    'changes?',
    'update the config first',
    'update: the disk is full again',
    'update shop-db to 15.4',
    'status of the replica?',
    'status',
    'why',
    'why?',
    'why is it slow?',
    'why was INC-9 closed?',
    'report says disk full',
    'report: disk full',
    'cost of a restart?',
    'costs are rising',
    'investigate the lock on orders',
    'investigate',
    'ack?',
    'ack was not sent by the consumer',
    'ack, but the replica lags',
    'acknowledged the page',
    'release 4.2 went out at ten',
    'release the lock on orders',
    'release notes mention the pool',
    'close the idle connections first',
    'close?',
    'should we close',
    'would you close this?',
    'assign more memory to it',
    'severity is wrong',
    'merge conflicts broke the build',
    'split the table',
    'split?',
    'mute the noisy ones',
    'mute 2h?',
    'silence is golden',
    'unmute the alerts of shop-db',
    'incidents like this happen often',
    'incidents happened before?',
    'memory is full',
    'memory: 95% used',
    'memory search is slow',
    'memory list is growing',
    'watch the disk',
    'watch out, it grows',
    'runbooks say restart it',
    'targets are down',
    'target shop-db is down',
    'on call engineer restarted it',
    'oncall says it is the release',
    'hand over the pid first',
    'help me find the lock',
    'stop?',
    'should we stop',
    'stopped by whom',
    'resume the rollout',
    'can you resume?',
    'hint: mute 2h',
    'remember: stop the job first',
    'the update',
    '',
  ])('“%s” is none', (text) => {
    expect(read(text, thread)).toBeNull();
  });
});

describe('outside of a thread', () => {
  it.each([
    ['investigate checkout is slow', 'investigate checkout is slow'],
    ['Investigate why checkout is slow?', 'investigate why checkout is slow'],
    ['status', 'status'],
    ['why', 'why'],
    ['ack', 'ack'],
    ['ack INC-9', 'ack INC-9'],
    ['stop everything', 'stop everything'],
    ['stop', 'stop'],
  ])('“%s” is %s', (text, typed) => {
    expect(read(text, channel)).toMatchObject({ text: typed, forAll: false });
  });

  it.each(['can you stop?', 'stop the payroll job first', 'report says disk full', 'checkout is slow', '7'])(
    '“%s” is none',
    (text) => expect(read(text, channel)).toBeNull(),
  );
});

it('a long text is read at once, whatever it repeats', () => {
  expect(read(`ack${' '.repeat(50_000)}x`, thread)).toBeNull();
  expect(read(`ack ${'please '.repeat(10_000)}`, thread)).toBeNull();
});

it.each([
  ['INC-7', 'INC-7'],
  ['inc7', 'INC-7'],
  ['INC 7', 'INC-7'],
  ['#7', 'INC-7'],
  ['7', 'INC-7'],
  ['inc-007', 'INC-7'],
  ['incident 7', 'INC-7'],
  ['INC-0', undefined],
  ['7 errors', undefined],
  ['shop-7', undefined],
  ['', undefined],
])('the incident of “%s” is %s', (text, id) => expect(readIncidentId(text)).toBe(id));
