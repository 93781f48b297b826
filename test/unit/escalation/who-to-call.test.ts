import { expect, it } from 'vitest';
import { createWhoToCall } from '../../../src/escalation/who-to-call.ts';
import { quiet } from '../../support/quiet.ts';

const user = (n: number) => ({ kind: 'user', id: `U${n}` }) as const;
const people = (many: number) =>
  Array.from({ length: many }, (_, n) => ({ name: `P${n}`, email: null, slackUser: `US${n}` }));
const none = () => Promise.reject(new Error('away'));
const whoToCall = (many = 0) =>
  createWhoToCall({
    slack: { groupId: none, userByEmail: none, name: none },
    schedules: new Map([['team', { name: 'team', onCall: async () => people(many) }]]),
    fallback: [],
    log: quiet,
  });

it('all whom a level may name are called', async () => {
  const mentions = Array.from({ length: 20 }, (_, n) => user(n));
  const found = await whoToCall()(mentions);
  expect(found.mentions).toHaveLength(20);
  expect(found.problem).toBeNull();
});

it('of more on call, it is said how many are left out', async () => {
  const found = await whoToCall(23)([{ kind: 'schedule', name: 'team' }]);
  expect(found.mentions).toHaveLength(20);
  expect(found.problem).toBe('3 more are on call than one message calls: 20 at most.');
});
