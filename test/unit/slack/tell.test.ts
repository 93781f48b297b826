import { expect, it } from 'vitest';
import { tell } from '../../../src/slack/outbound/tell.ts';
import { quiet } from '../../support/quiet.ts';

it('an answer for one person is never posted where others read, whatever fails', async () => {
  const posted: string[] = [];
  const client = {
    chat: {
      postEphemeral: () => Promise.reject(new Error('internal_error')),
      postMessage: async ({ channel }: { readonly channel: string }) => void posted.push(channel),
    },
  };
  await tell(
    client as never,
    quiet,
    { userId: 'U1', channel: 'C1', threadTs: '1.0' },
    { text: 'INC-2, of a private channel' },
  );
  expect(posted).toEqual(['U1']);
});
