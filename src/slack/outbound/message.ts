import { sha256 } from '../../safety/sha256.ts';
import type { Block } from '../views/blocks/build.ts';
import { LIMITS } from '../views/blocks/limits.ts';
import type { Slot } from '../views/blocks/slot.ts';
import { cut } from '../views/blocks/text.ts';
import type { SubjectId } from './subject.ts';

/** What is sent to Slack for a slot. `attachments` is always given: an edit without it would keep the old strip. */
export interface OutgoingMessage {
  readonly text: string;
  readonly blocks: Block[];
  readonly attachments: { color: string; fallback: string; blocks: Block[] }[];
}

/** Of what the message says: the same hash, the same message. */
export function hashOf(slot: Slot): string {
  const said = JSON.stringify([slot.text, slot.blocks, slot.strip ?? null]);
  return sha256(said);
}

/** The message of a slot, with these blocks for its own, marked so that it can be recognised in Slack after a crash (see `find-posted.ts`). */
export function messageOf(subject: SubjectId, slot: Slot, blocks = slot.blocks): OutgoingMessage {
  const [first, ...rest] = blocks;
  const mark = `${blockMark(subject, slot.slot)}${hashOf(slot).slice(0, 8)}`.slice(0, LIMITS.id);
  return {
    text: cut(slot.text, LIMITS.fallback),
    blocks: first ? [{ ...first, block_id: mark }, ...rest] : [],
    attachments: slot.strip
      ? [
          {
            color: slot.strip.color,
            fallback: slot.strip.text,
            blocks: [
              { type: 'context', elements: [{ type: 'plain_text', text: slot.strip.text, emoji: false }] },
            ],
          },
        ]
      : [],
  };
}

/** What the first block's id begins with; a hash of the content follows, new with every edit. */
export const blockMark = (subject: SubjectId, slot: string): string => `sentry:${subject}:${slot}:`;

export const METADATA_TYPE = 'sentry_message';

export const metadataOf = (subject: SubjectId, slot: string) => ({
  event_type: METADATA_TYPE,
  event_payload: { incident: subject, slot },
});
