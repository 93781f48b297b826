import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLocalSlack, type LocalSlack } from '../../../playground/slack/local-slack.ts';
import { checkMessages } from '../../../src/app/doctor.ts';
import { checkPayloads } from '../../../src/slack/outbound/check-payloads.ts';
import { samplePayloads } from '../../../src/slack/outbound/sample-payloads.ts';
import { LocalSlackClient } from '../../support/local-slack.ts';
import { quiet } from '../../support/quiet.ts';
import { socketTo } from '../../support/slack-bot.ts';

let slack: LocalSlack;
let client: LocalSlackClient;
beforeEach(async () => {
  slack = await createLocalSlack({ rateLimits: { enabled: false } });
  client = new LocalSlackClient(slack.url);
});
afterEach(() => slack.close());

const plain = (text: string) => ({ type: 'plain_text' as const, text });
const section = (text: string) => ({ type: 'section' as const, text: plain(text) });

it('Slack would show every kind of message and window, however long its texts, and none is posted', async () => {
  const payloads = samplePayloads();
  const names = payloads.map(({ name }) => name);
  for (const kind of ['the first message of an incident', 'the card of a proposal', 'the window “Deny”'])
    expect(names).toContain(kind);
  expect(await checkPayloads(socketTo(slack.apiUrl), quiet, payloads)).toEqual([]);
  expect(await client.messages()).toEqual([]);
  const counted = (await client.counters()).calls['blocks.validate'];
  expect(counted?.ok).toBe(payloads.length);
});

it('names what would not be shown, and why, and whether the simpler form would be', async () => {
  const container = { type: 'container' as const, title: plain('More'), child_blocks: [section('x')] };
  const known = (name: string, simpler: readonly ReturnType<typeof section>[] | null) => ({
    name,
    message: { blocks: [container], attachments: [] },
    simpler,
  });
  await client.control('unknown-blocks', { types: ['container'] });
  const long = { type: 'modal' as const, title: plain('t'.repeat(25)), blocks: [section('x')] };
  const refused = await checkPayloads(socketTo(slack.apiUrl), quiet, [
    known('the card', [section('x')]),
    known('the other', null),
    { name: 'a window', view: long },
  ]);
  expect(refused).toEqual([
    {
      name: 'the card',
      problems: [expect.stringContaining('unsupported type: container')],
      simplerIsShown: true,
    },
    { name: 'the other', problems: [expect.stringContaining('container')], simplerIsShown: false },
    {
      name: 'a window',
      problems: ['must be less than 25 characters (/view/title/text)'],
      simplerIsShown: false,
    },
  ]);
});

it('the doctor says in plain words what it found', async () => {
  const config = { slack: socketTo(slack.apiUrl) } as Parameters<typeof checkMessages>[0];
  expect(await checkMessages(config, quiet)).toMatchObject([
    { part: 'Messages', ok: true, says: 'Slack would show every message and window' },
  ]);
  await client.control('unknown-blocks', { types: ['header'] });
  const found = await checkMessages(config, quiet);
  expect(found.length).toBeGreaterThan(1);
  expect(found[0]).toMatchObject({
    ok: false,
    says: expect.stringMatching(
      /^Slack would not show the first message of an incident: .*unsupported type: header/,
    ),
    todo: expect.stringContaining('Report it'),
  });
  await client.control('unknown-blocks', { types: [] });
  await client.control('unknown-methods', { methods: ['blocks.validate'] });
  expect(await checkMessages(config, quiet)).toMatchObject([
    {
      ok: false,
      says: expect.stringContaining('does not check'),
      todo: expect.stringContaining('Nothing to do'),
    },
  ]);
});
