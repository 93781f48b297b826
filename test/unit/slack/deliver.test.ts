import { ErrorCode, WebAPIPlatformError } from '@slack/web-api';
import { expect, it } from 'vitest';
import { asIncidentId } from '../../../src/core/ids.ts';
import { edit, post } from '../../../src/slack/outbound/deliver.ts';
import { hashOf } from '../../../src/slack/outbound/message.ts';
import type { Block } from '../../../src/slack/views/blocks/build.ts';
import type { Slot } from '../../../src/slack/views/blocks/slot.ts';
import { quiet } from '../../support/quiet.ts';

const section: Block = { type: 'section', text: { type: 'mrkdwn', text: 'end the session' } };
const buttons: Block = {
  type: 'actions',
  elements: ['sentry_approve', 'sentry_evidence'].map((action_id) => ({
    type: 'button',
    action_id,
    text: { type: 'plain_text', text: action_id },
  })),
};
const newer = { type: 'plan', title: 'x', tasks: [] } as unknown as Block;
const card: Slot = {
  slot: 'action:a',
  inThread: true,
  text: 'end the session',
  blocks: [newer, buttons],
  simpler: [section, buttons],
  strip: { color: '#fff', text: 'open' },
};
interface Sent {
  readonly blocks: readonly { readonly type: string; readonly block_id?: string }[];
  readonly attachments: readonly unknown[];
}
const place = { subject: asIncidentId('INC-1'), channel: 'C1', threadTs: '1.0' };
const row = {
  slot: 'action:a',
  channel: 'C1',
  ts: '2.0',
  sentHash: 'old',
  postingForMs: null,
  editedMsAgo: null,
};

function slack(refuses: (message: Sent) => boolean, answer: object = { message: { thread_ts: '1.0' } }) {
  const sent: Sent[] = [];
  const calls: string[] = [];
  const take = async (message: Sent) => {
    sent.push(message);
    if (refuses(message)) throw platformError('invalid_blocks');
    return { channel: 'C1', ts: '2.0', ...answer };
  };
  const replies = { isThere: false };
  const client = {
    chat: {
      postMessage: take,
      update: take,
      delete: async ({ ts }: { ts: string }) => calls.push(`delete ${ts}`),
    },
    conversations: {
      replies: async () => {
        if (!replies.isThere) throw platformError('thread_not_found');
        return { messages: [{ ts: '1.0' }] };
      },
    },
  };
  const store = {
    renew: async () => true,
    beginEdit: async () => true,
    beginPost: async () => 'try',
    abandonPost: async () => calls.push('abandon'),
    forgetThread: async (_id: string, ts: string) => calls.push(`forget ${ts}`) > 0,
    edited: async (_id: string, _slot: string, hash: string) => calls.push(`edited ${hash}`),
    posted: async (_id: string, _slot: string, { hash }: { hash: string }) =>
      calls.push(`posted ${hash}`) > 0,
  };
  return { deps: { client, store, log: quiet } as never, sent, calls, replies };
}
const platformError = (error: string): Error =>
  Object.assign(Object.create(WebAPIPlatformError.prototype), {
    code: ErrorCode.PlatformError,
    data: { ok: false, error },
  });
const types = ({ blocks }: Sent) => blocks.map(({ type }) => type);

it('a card that Slack does not know stands in its simpler form, strip and buttons included, and the next is not refused', async () => {
  const { deps, sent, calls } = slack((message) => types(message).includes('plan'));
  expect(await post(deps, place, card, undefined)).toEqual({ kind: 'done' });
  expect(sent.map(types)).toEqual([
    ['plan', 'actions'],
    ['section', 'actions'],
  ]);
  expect(sent[1]?.attachments).toHaveLength(1);
  // The same message for whoever looks for it, and nothing to edit.
  expect(sent[1]?.blocks[0]?.block_id).toBe(sent[0]?.blocks[0]?.block_id);
  expect(calls).toEqual([`posted ${hashOf(card)}`]);
  await edit(deps, place, card, row);
  expect(sent.slice(2).map(types)).toEqual([['section', 'actions']]);
  expect(calls.at(-1)).toBe(`edited ${hashOf(card)}`);
});

it('what is too much for any form but the last has its buttons still, but for the one that would approve what does not stand there', async () => {
  const { deps, sent } = slack(({ blocks }) => blocks[0]?.block_id !== undefined);
  await post(deps, place, card, undefined);
  expect(sent.map(({ attachments }) => attachments.length)).toEqual([1, 1, 0, 0]);
  expect(types(sent.at(-1)!)).toEqual(['section', 'actions']);
  const last = JSON.stringify(sent.at(-1));
  expect(last).toContain('sentry_evidence');
  expect(last).not.toContain('sentry_approve');
  expect(last).toContain('cannot be approved here');
});

it('a message that Slack put beside its thread, which is gone, is taken back, and the thread begins anew', async () => {
  const { deps, calls } = slack(() => false, { message: {} });
  expect(await post(deps, place, card, undefined)).toEqual({ kind: 'done' });
  expect(calls).toEqual(['abandon', 'delete 2.0', 'forget 1.0']);
});

it('where only the answer does not tell the thread, the message stays', async () => {
  const { deps, calls, replies } = slack(() => false, {});
  replies.isThere = true;
  await post(deps, place, card, undefined);
  expect(calls).toEqual([`posted ${hashOf(card)}`]);
});
