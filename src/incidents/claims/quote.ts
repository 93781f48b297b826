import type { ToolCall } from '../../core/tool-call.ts';

/** A quote that is no whole line shows at least this much of one. */
const MIN_OF_A_LINE = 40;

/** White space and what nobody sees apart: tables and long lines are re-wrapped when quoted. */
export function flat(text: string): string {
  return text
    .replace(/\p{Cf}/gu, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** The same without what only lays a line out: its bullet, the quotes around it, a stop at its end. */
function bare(line: string): string {
  return flat(line)
    .replace(/^(?:[-*•>|]\s+)+/, '')
    .replace(/^["'“”`]+|["'“”`]+$/g, '')
    .replace(/[.,;]$/, '');
}

/** Whether it stands in an output, as some of its lines one after the other or as a long piece of one. */
export function isQuoteOf(quote: string, output: string): boolean {
  const wanted = flat(quote);
  if (wanted === '' || !flat(output).includes(wanted)) return false;
  return wanted.length >= MIN_OF_A_LINE || isWholeLines(quote, output);
}

/** Of any output: whether it stands there at all. */
export function standsIn(quote: string, output: string): boolean {
  return flat(output).includes(flat(quote));
}

function isWholeLines(quote: string, output: string): boolean {
  const wanted = bare(quote);
  const lines = output.split('\n').map(bare);
  for (let from = 0; from < lines.length; from++) {
    let joined = '';
    for (let to = from; to < lines.length && joined.length < wanted.length; to++) {
      joined = flat(`${joined} ${lines[to] ?? ''}`);
      if (joined === wanted && wanted !== '') return true;
    }
  }
  return false;
}

/** The line that speaks for a claim without a quote: the first that has one of its numbers or names. */
export function lineWith(claim: string, calls: readonly Pick<ToolCall, 'output'>[]): string | null {
  const facts = claim.match(/[\p{L}\p{N}_][\p{L}\p{N}_.:-]*/gu)?.filter((word) => /\d{2}/.test(word)) ?? [];
  const bareFacts = facts.map((fact) => fact.replace(/[.:-]+$/, '')).toSorted((a, b) => b.length - a.length);
  for (const fact of bareFacts)
    for (const { output } of calls) {
      const line = output.split('\n').find((one) => one.includes(fact));
      if (line !== undefined) return flat(line).slice(0, 600);
    }
  return null;
}
