import { z } from 'zod';

const text = z.string().nullish();

/** Blocks come in kinds we do not know; their texts are found by walking them (`block-text.ts`). */
const blocks = z.array(z.record(z.string(), z.unknown())).nullish();

const Attachment = z.object({
  author_name: text.catch(undefined),
  pretext: text,
  title: text,
  title_link: text,
  text,
  fallback: text,
  footer: text,
  color: text,
  fields: z.array(z.object({ title: text, value: z.union([z.string(), z.number()]).nullish() })).nullish(),
  blocks,
});
export type Attachment = z.infer<typeof Attachment>;

const ts = z.string().regex(/^\d{9,11}\.\d{1,6}$/, 'expected a Slack timestamp like 1700000000.000100');

const content = {
  text,
  attachments: z.array(Attachment).nullish(),
  blocks,
  subtype: text,
  user: text,
  bot_id: text,
  app_id: text,
  username: text.catch(undefined),
  bot_profile: z.object({ app_id: text, name: text }).nullish().catch(undefined),
  ts,
  thread_ts: text,
  edited: z.object({ ts }).nullish(),
};

const Content = z.object(content, { error: 'expected a Slack message' });
export type Content = z.infer<typeof Content>;

/** A `message` event of the Events API, or a message of `conversations.history` with its `channel` added. */
export const SlackMessage = z.object(
  {
    ...content,
    channel: z.string({ error: 'expected a channel id' }),
    event_ts: ts.nullish(),
    /** In `message_changed`: what it says now, and what it said. */
    message: Content.nullish(),
    previous_message: Content.nullish().catch(undefined),
  },
  { error: 'expected a Slack message event' },
);
export type SlackMessage = z.infer<typeof SlackMessage>;
