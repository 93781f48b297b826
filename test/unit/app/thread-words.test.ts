import { expect, it } from 'vitest';
import { readThreadOf } from '../../../src/app/thread-words.ts';
import { type Refusal, refuse } from '../../../src/core/errors.ts';

type Message = Readonly<Record<string, string>>;
const reply = (at: number, more: Message = {}): Message => ({
  ts: `${at}.0`,
  user: 'UANN',
  text: `words ${at}`,
  ...more,
});

/** A Slack that tells a thread in pages, the oldest first. */
function reading(
  pages: readonly (readonly Message[])[],
  mayAct: () => { ok: true } | Refusal = () => ({ ok: true }),
) {
  let page = 0;
  const replies = async () => {
    const messages = pages[page];
    page += 1;
    return { messages, response_metadata: { next_cursor: page < pages.length ? `c${page}` : '' } };
  };
  return readThreadOf({
    client: { conversations: { replies } },
    directory: { mayAct: async () => mayAct(), name: async () => 'ann' },
    own: () => ({ botId: 'BSENTRY', userId: 'USENTRY' }),
  } as never)('C1', '1.0');
}

it('takes what its author also sent to the channel for a reply, and what Slack says for none', async () => {
  const read = await reading([
    [
      reply(1),
      reply(2, { subtype: 'thread_broadcast' }),
      reply(3, { subtype: 'channel_join' }),
      reply(4, { bot_id: 'BOTHER' }),
    ],
  ]);
  expect(read.map(({ text }) => text)).toEqual(['words 2']);
});

it('does not take the first thousand messages for the last', async () => {
  const pages = Array.from({ length: 25 }, (_, at) => [reply(at + 2)]);
  expect(await reading(pages.slice(0, 5))).toHaveLength(5);
  await expect(reading(pages)).rejects.toThrow('it has more than 1000 messages');
});

it('does not say that nobody wrote where Slack does not tell who did', async () => {
  const unknown = () => refuse('WHO_ARE_YOU', 'I could not check with Slack who you are.');
  await expect(reading([[reply(2)]], unknown)).rejects.toThrow('Slack does not tell who wrote there');
  expect(await reading([[reply(2)]], () => refuse('IS_GUEST', 'Guests cannot do that.'))).toEqual([]);
});

it('leaves no secret that is whole without its marks', async () => {
  const [said] = await reading([[reply(2, { text: 'ghp_0123456789✅abcdefghijABCDEFGHIJ012345' })]]);
  expect(said?.text).not.toContain('ghp_');
});
