import { trimMarks } from '../../../core/trim-marks.ts';

/** “stop” or “resume” as somebody says it to the bot. */
export interface Order {
  readonly verb: 'stop' | 'resume';
  /** What it names, as `/sentry stop` reads it; null: nothing, so what is being talked about is meant. */
  readonly scope: string | null;
  readonly reason: string;
}

/** Words that point at what is being talked about, or only hurry. */
const POINTING = /^(?:(?:it|this|that|now|here|please|incident)\b[\s,]*)+/i;

/** What may stand before the order: thanks and marks, as people write in a hurry. */
export const BEFORE =
  /^(?:(?:please|pls|ok|okay|hey|no|now|just|wait|(?:hold|hang) on|(?:can|could|will|would) you|sentry)\b|:[a-z0-9_+-]+:|[\s,.!:*_~`"'“‘–—-]|\p{Extended_Pictographic}|\uFE0F)+/iu;

/** “can you stop?” asks for it; “stop?” asks about it. */
const POLITE = /\b(?:can|could|will|would) you\b/i;

/** How people set off what matters: `*stop*`, “stop”. */
const MARKS = { before: ' .!*_~`"”’', after: ' .!*_~`"”’' };

/** “stop the payroll job first” tells what to do about the problem: a sentence, as nobody writes a target's name. */
const SENTENCE = /^(?:the|an?|your|my|our)\s/i;

/**
 * Reads an order; null: the text begins with none, asks (“stop?”), or is a sentence. In an incident's thread a sentence that
 * begins with *stop* is an order as well: stopping what need not have stopped costs a *resume*, the opposite may cost the system.
 */
export function readOrder(text: string, { inThread }: { readonly inThread: boolean }): Order | null {
  const [, verb, said = ''] = /^(stop|resume)\b(?!')[\s,]*(.*)$/is.exec(text.replace(BEFORE, '')) ?? [];
  if (verb === undefined) return null;
  const order = { verb: verb.toLowerCase() as Order['verb'] };
  const isStopHere = inThread && order.verb === 'stop';
  if (/\?\s*$/.test(said) && !(isStopHere && POLITE.test(text))) return null;
  const rest = trimMarks(said.replace(/\?\s*$/, '').replace(POINTING, ''), MARKS);
  if (SENTENCE.test(rest) && !isStopHere) return null;
  const reason = /^(?::|(?:because|since)\b)\s*(.*)$/is.exec(rest)?.[1];
  return rest === '' || reason !== undefined
    ? { ...order, scope: null, reason: (reason ?? '').trim() }
    : { ...order, scope: rest, reason: '' };
}

/** “mute 2h”, “unmute M3”, “mutes” or “silence 2h”, as a command says it: “mute the noisy ones” is a sentence. */
export const isMuteOrder = (text: string): boolean =>
  /^(?:mute\s+(?:confirm\s+)?(?:(?:this|it|that)\s+)?(?:for\s+)?(?:\d+\s*(?:m|h|d|mins?|minutes?|hrs?|hours?|days?)\b|[{"“]?[a-z_][\w.]*\s*[!=])|unmute(?:\s+m\d+)?[\s.!]*$|mutes[\s.!]*$|silence\s+(?:inc-\d+\s+)?(?:for\s+)?\d+[mhd]\b)/i.test(
    text.trim(),
  );
