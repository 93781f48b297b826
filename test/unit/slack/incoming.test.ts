import { describe, expect, it } from 'vitest';
import { readPlan } from '../../../src/slack/inbound/actions/decide.ts';
import { alertMessageOf, isOwn } from '../../../src/slack/inbound/events/alert-message.ts';
import { keyOf } from '../../../src/slack/inbound/inbox.ts';

const own = { botId: 'B0SENTRY', userId: 'U0SENTRY' };
const message = { type: 'message', channel: 'C0ALERTS', ts: '1.0' };

describe('an alert message', () => {
  it.each([
    ['a classic webhook’s', { ...message, subtype: 'bot_message', bot_id: 'B1', text: '' }],
    ['a modern app’s', { ...message, user: 'U1', bot_id: 'B1', app_id: 'A1' }],
    ['a thread’s root', { ...message, bot_id: 'B1', thread_ts: '1.0' }],
    [
      'an edited one',
      {
        type: 'message',
        subtype: 'message_changed',
        channel: 'C0ALERTS',
        ts: '2.0',
        message: { ts: '1.0', bot_id: 'B1', subtype: 'bot_message' },
      },
    ],
  ])('is %s', (_whose, event) => {
    expect(alertMessageOf(event, own)).toMatchObject({ channel: 'C0ALERTS', ts: '1.0' });
  });

  it.each([
    ['a person’s', { ...message, user: 'U1' }],
    ['our own', { ...message, bot_id: 'B0SENTRY' }],
    ['our own user’s', { ...message, user: 'U0SENTRY', app_id: 'A0' }],
    ['another bot’s reply in a thread', { ...message, bot_id: 'B1', thread_ts: '0.5' }],
    ['a deleted one', { ...message, bot_id: 'B1', subtype: 'message_deleted' }],
    [
      'our own edited one',
      { ...message, subtype: 'message_changed', message: { ts: '1.0', bot_id: 'B0SENTRY' } },
    ],
  ])('is not %s', (_whose, event) => {
    expect(alertMessageOf(event, own)).toBeNull();
  });

  it('of another bot is nobody’s own while we do not know yet who we are', () => {
    expect(isOwn({ ...message, bot_id: 'B1' }, { botId: null, userId: null })).toBe(false);
    expect(isOwn({ ...message }, { botId: null, userId: null })).toBe(false);
  });
});

describe('the key of a delivery', () => {
  it('is the same for the same event, and another for another', () => {
    expect(keyOf({ type: 'event_callback', event_id: 'Ev1' })).toBe('event:Ev1');
    expect(keyOf({ command: '/sentry', trigger_id: '1.2.a' })).toBe('command:1.2.a');
    expect(keyOf({ type: 'block_actions', trigger_id: '1.2.b', actions: [{ action_ts: '9' }] })).toBe(
      'action:1.2.b',
    );
    expect(keyOf({ type: 'block_actions', actions: [{ action_ts: '9' }] })).toBe('action:9');
    expect(keyOf({ type: 'view_submission', view: { id: 'V1', hash: 'h' }, trigger_id: 't' })).toBe(
      'view:V1:h:t',
    );
    expect(keyOf({ type: 'message_action', trigger_id: '1.2.c' })).toBe('shortcut:1.2.c');
    expect(keyOf({ type: 'view_closed', view: { id: 'V1' } })).toBeNull();
  });
});

describe('a plan in a button', () => {
  it.each([
    '',
    'act_abc',
    'act_abc:',
    'act_abc:xyz',
    'act_ABC:0123456789',
    'act_a:0123456789; DROP',
    '../x:01234567',
  ])('is not read from %j', (value) => expect(readPlan(value)).toBeNull());
  it('is an action and a hash', () => {
    expect(readPlan(`act_abc234:${'0'.repeat(64)}`)).toEqual({
      actionId: 'act_abc234',
      planHash: '0'.repeat(64),
    });
  });
});
