import { z } from 'zod';
import type { Diagnosis, Evidence } from '../../core/diagnosis.ts';
import { jsonOf } from '../../core/json-of.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import type { ModelStream } from '../../llm/types.ts';
import { askModel } from '../loop/ask-model.ts';
import type { Doubt, Investigation } from '../ports.ts';
import { scepticPrompt } from './load-prompt.ts';

/** Of the 4,000 tokens a second look may take: three bytes each for what it reads, the rest for what it says. */
const MAX_PROMPT_BYTES = 8_000;
const MAX_ANSWER_TOKENS = 1_200;
const DEADLINE_MS = 15_000;
/** Lines shown around a quote; fewer where there are many claims. */
const LINES_AROUND = [6, 3, 1, 0] as const;
const MAX_LINE = 300;
const MAX_CHANGES = 4;

const Verdict = z.enum(['supported', 'not_supported', 'contradicted']);
const Answer = z.object({
  cause: Verdict,
  claims: z.array(z.union([Verdict, z.object({ verdict: Verdict }).transform(({ verdict }) => verdict)])),
});

/**
 * One short call without tools over each claim, its quote and the lines around it: what a reader who knows nothing else
 * would say. A durable step; whatever fails leaves a reason, and the diagnosis as it is.
 */
export async function askSceptic(
  stream: ModelStream,
  work: Investigation,
  diagnosis: Diagnosis,
  calls: readonly ToolCall[],
  prompts?: string,
): Promise<Doubt> {
  const statements = statementsOf(diagnosis, calls);
  if (statements === undefined) return notChecked('there is too much to show at once');
  const asked = await askModel(
    `claude:sceptic:r${work.incident.round}`,
    stream,
    {
      system: scepticPrompt(prompts),
      tools: [],
      messages: [{ role: 'user', content: [{ type: 'text', text: statements }] }],
      effort: 'low',
      maxTokens: MAX_ANSWER_TOKENS,
    },
    {
      durably: (name, fn) => work.durably(name, fn),
      signal: work.signal,
      deadlineMs: DEADLINE_MS,
      onEvent: () => undefined,
    },
  );
  if (!asked.ok) return notChecked(REASONS[asked.error.code] ?? 'the model did not answer');
  const { stop, text } = asked.message;
  if (stop.kind !== 'end_turn') return notChecked('the model gave no whole answer');
  const read = readAnswer(text, diagnosis.evidence.length);
  return read ?? notChecked('its answer could not be read');
}

const REASONS: Readonly<Record<string, string>> = {
  LLM_DEADLINE: 'it took too long',
  LLM_BUDGET: 'the cost limit is reached',
};

const notChecked = (reason: string): Doubt => ({ kind: 'not_checked', reason });

function readAnswer(text: string, claims: number): Doubt | undefined {
  const body = /\{[\s\S]*\}/.exec(text)?.[0];
  if (body === undefined) return undefined;
  const parsed = Answer.safeParse(jsonOf(body));
  return parsed.success && parsed.data.claims.length === claims
    ? { kind: 'checked', ...parsed.data }
    : undefined;
}

/** As much around each quote as fits; undefined where not even the claims do. */
function statementsOf(diagnosis: Diagnosis, calls: readonly ToolCall[]): string | undefined {
  for (const around of LINES_AROUND) {
    const data = {
      verdict: diagnosis.verdict,
      cause: diagnosis.rootCause,
      ...changesOf(diagnosis),
      claims: diagnosis.evidence.map((evidence) => ({
        claim: evidence.claim,
        quote: evidence.quote,
        output: linesFor(evidence, calls, around),
      })),
    };
    const text = `<statements>\n${JSON.stringify(data, null, 1).replaceAll('<', '\\u003c')}\n</statements>`;
    if (Buffer.byteLength(text) <= MAX_PROMPT_BYTES) return text;
  }
  return undefined;
}

/** What is blamed, and what is as likely: whoever doubts the cause has to know of both. */
function changesOf({ changes = [] }: Diagnosis): object {
  const told = changes.filter(({ part }) => part !== 'unrelated').slice(0, MAX_CHANGES);
  return told.length === 0 ? {} : { changes: told.map(({ title, part }) => `${title}: ${part}`) };
}

/** The line that sums each cited output up, and those around the quote. */
function linesFor({ quote, toolCallIds }: Evidence, calls: readonly ToolCall[], around: number): string {
  return calls
    .filter(({ id }) => toolCallIds.includes(id))
    .slice(0, 3)
    .map(({ output }) => {
      const lines = output.split('\n').map((line) => line.trim());
      const wanted = (quote ?? '').split('\n')[0]?.trim() ?? '';
      const at = lines.findIndex(
        (line) => wanted !== '' && (line.includes(wanted) || wanted.includes(line || wanted)),
      );
      const from = Math.max(1, at - around);
      const near = at < 0 ? lines.slice(1, 1 + around) : lines.slice(from, at + around + 1);
      return [lines[0] ?? '', ...near].map((line) => line.slice(0, MAX_LINE)).join('\n');
    })
    .join('\n…\n');
}
