/** “stop” or “resume” as somebody says it to the bot. */
export interface Order {
  readonly verb: 'stop' | 'resume';
  /** What it names, as `/sentry stop` reads it; null: nothing, so what is being talked about is meant. */
  readonly scope: string | null;
  readonly reason: string;
}

/** Words that point at what is being talked about, or only hurry. */
const POINTING = /^(?:(?:it|this|that|now|here|please|incident)\b[\s,]*)+/i;

/** “stop the payroll job first” tells what to do about the problem: a sentence, as nobody writes a target's name. */
const SENTENCE = /^(?:the|an?|your|my|our)\s/i;

/** Reads an order; null: the text begins with none, asks (“stop?”), or is a sentence. */
export function readOrder(text: string): Order | null {
  const [, verb, said = ''] = /^\s*(stop|resume)\b(?!')[\s,]*(.*)$/is.exec(text) ?? [];
  if (verb === undefined || /\?\s*$/.test(said)) return null;
  const rest = said.replace(POINTING, '').replace(/^[.!\s]+|[.!\s]+$/g, '');
  if (SENTENCE.test(rest)) return null;
  const reason = /^(?::|(?:because|since)\b)\s*(.*)$/is.exec(rest)?.[1];
  const order = { verb: verb.toLowerCase() as Order['verb'] };
  return rest === '' || reason !== undefined
    ? { ...order, scope: null, reason: (reason ?? '').trim() }
    : { ...order, scope: rest, reason: '' };
}
