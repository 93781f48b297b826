import {
  type MessagesRequest,
  type ScriptedReply,
  toolResultTexts,
} from '../../playground/claude/scenario.ts';

/** What a scripted Claude reads of a fault, says of it, and asks for. */
export interface FaultScript {
  /** What is ill, as the alert's labels call it. */
  readonly object: string;
  readonly reads: readonly { readonly tool: string; readonly input: object }[];
  readonly cause: string;
  /** A claim, the read that proves it, and a part of the line that does: the first that is there is quoted. */
  readonly claims: readonly {
    readonly claim: string;
    readonly read: number;
    readonly lines: readonly string[];
  }[];
  /** Null: nothing that may be done helps. */
  readonly act: { readonly tool: string; readonly input: object } | null;
}

/** Plays triage, detective and surgeon of the incident whose object is named by this label. */
export const claudeOnFaults =
  (label: 'container' | 'deployment', scripts: readonly FaultScript[]) =>
  (request: MessagesRequest): ScriptedReply => {
    const offered = new Set((request.tools ?? []).map(({ name }) => name));
    const named = new RegExp(`\\\\?"${label}\\\\?": ?\\\\?"([a-z-]+)`);
    const object = named.exec(JSON.stringify(request.messages[0]))?.[1] ?? '';
    const script = scripts.find((each) => each.object === object);
    if (!script) throw new Error(`no script for the ${label} "${object}"`);
    if (offered.has('report_triage'))
      return reply('report_triage', { severity: 'critical', reason: `${object} is ill.` });
    if (offered.has('report_no_action'))
      return script.act === null || toolResultTexts(request).length > 0
        ? reply('report_no_action', { reason: 'Nothing that I may do helps.' })
        : { blocks: [{ tool: script.act.tool, input: { ...script.act.input, why: script.cause } }] };
    return detective(request, script);
  };

function detective(request: MessagesRequest, { reads, cause, claims }: FaultScript): ScriptedReply {
  const results = toolResultTexts(request).map(parsed);
  if (results.length === 0)
    return {
      blocks: reads.map(({ tool, input }) => ({
        tool,
        input: { ...input, why: 'to see why' },
      })),
    };
  return reply('report_diagnosis', {
    verdict: 'cause_found',
    rootCause: cause,
    category: 'fault',
    confidence: 0.95,
    evidence: claims.map(({ claim, read, lines }) => {
      const { id = '', output = '' } = results[read] ?? {};
      const quote = output.split('\n').find((line) => lines.some((part) => line.includes(part)));
      if (quote === undefined) throw new Error(`nothing shows: ${claim} in ${output}`);
      return { claim, toolCallIds: [id], quote: quote.trim() };
    }),
    ruledOut: [],
    unknown: [],
    wouldChangeMyMind: 'Another reason in its log.',
    blastRadius: 'Those who use it.',
    remedy: cause,
    runbookId: null,
  });
}

const reply = (tool: string, input: object): ScriptedReply => ({
  blocks: [{ text: 'So it is.' }, { tool, input }],
});

function parsed(text: string): { readonly id: string; readonly output: string } {
  const { tool_call_id: id = '', output = '' } = JSON.parse(text.slice(text.indexOf('{'))) as {
    readonly tool_call_id?: string;
    readonly output?: string;
  };
  return { id, output };
}
