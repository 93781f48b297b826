import type { WebClient } from '@slack/web-api';
import { type Block, plain } from '../views/blocks/build.ts';
import { LIMITS } from '../views/blocks/limits.ts';
import { ACTIONS, type Slot } from '../views/blocks/slot.ts';
import { cut } from '../views/blocks/text.ts';
import { messageOf, type OutgoingMessage } from './message.ts';
import type { SubjectId } from './subject.ts';
import { codeOf } from './web-errors.ts';

/** A workspace that is given a new kind of block by and by may take it later. */
const REMEMBERED_MS = 60 * 60_000;

/** Until when each kind of block is not tried again, by `performance.now()`; of each Slack that this process talks to. */
const refused = new WeakMap<WebClient, Map<string, number>>();

const SHAPE =
  /^(invalid_blocks|invalid_blocks_format|invalid_attachments|msg_blocks_too_|msg_too_long|too_many_attachments|invalid_arguments)/;
/** Slack does not know a block, or knows it otherwise; it says nothing of too much. */
const UNKNOWN_BLOCK = /^invalid_blocks/;

/**
 * Sends a message in the first form that Slack takes: as drawn, with its simpler blocks, without the strip, as text with its buttons, as
 * text alone. Something always arrives. All forms are the same message: they bear the mark of the slot as drawn.
 */
export async function inAForm<T>(
  client: WebClient,
  subject: SubjectId,
  slot: Slot,
  call: (message: OutgoingMessage) => Promise<T>,
  onRefused: (code: string) => void,
): Promise<T> {
  const known = refused.get(client) ?? new Map<string, number>();
  refused.set(client, known);
  const newer = newerBlocks(slot);
  const isKnown = newer.some((type) => (known.get(type) ?? 0) > performance.now());
  const whole = messageOf(subject, slot);
  const simpler = slot.simpler && messageOf(subject, slot, slot.simpler);
  const least = simpler ?? whole;
  const forms = [
    ...(isKnown && simpler ? [] : [whole]),
    ...(simpler ? [simpler] : []),
    ...(slot.strip ? [{ ...least, attachments: [] }] : []),
    ...withButtons(least),
  ];
  let code = '';
  for (const form of forms) {
    try {
      const done = await call(form);
      if (form === simpler && UNKNOWN_BLOCK.test(code))
        for (const type of newer) known.set(type, performance.now() + REMEMBERED_MS);
      return done;
    } catch (error) {
      code = codeOf(error);
      if (!SHAPE.test(code)) throw error;
      onRefused(code);
    }
  }
  return call({ text: whole.text || subject, blocks: [], attachments: [] });
}

/** What the simpler form does without; the blocks inside others count. */
function newerBlocks({ blocks, simpler }: Slot): readonly string[] {
  const plain = typesIn(simpler ?? blocks);
  return [...typesIn(blocks)].filter((type) => !plain.has(type));
}

function typesIn(blocks: readonly Block[]): ReadonlySet<string> {
  return new Set(
    blocks.flatMap((block) => {
      const inner = 'child_blocks' in block ? block.child_blocks : [];
      return [block.type, ...typesIn(inner as readonly Block[])];
    }),
  );
}

/**
 * A card whose buttons are lost can be looked into by nobody. Without what stands on it nobody approves: *Details* shows all of it, and
 * the terminal asks.
 */
function withButtons(message: OutgoingMessage): readonly OutgoingMessage[] {
  const rows = message.blocks.filter((block) => block.type === 'actions');
  const kept = rows.map((row) => ({
    ...row,
    elements: row.elements.filter((each) => !('action_id' in each) || each.action_id !== ACTIONS.approve),
  }));
  const buttons = kept.filter(({ elements }) => elements.length > 0);
  if (buttons.length === 0) return [];
  const isLess = rows.some(({ elements }, at) => elements.length > (kept[at]?.elements.length ?? 0));
  const note = isLess ? `${NOT_SHOWN}\n` : '';
  const said = plain(cut(`${note}${message.text || '…'}`, LIMITS.text));
  return [{ text: message.text, blocks: [{ type: 'section', text: said }, ...buttons], attachments: [] }];
}

const NOT_SHOWN =
  'Slack did not take this card, so it cannot be approved here. Open Details, and update the app or its Slack.';
