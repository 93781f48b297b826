import {
  type MessagesRequest,
  type ScriptedReply,
  toolResultTexts,
} from '../../playground/claude/scenario.ts';

/** What a scripted Claude reads of a container fault, says of it, and asks for. */
export interface ContainerScript {
  /** As in the alert's labels. */
  readonly container: string;
  readonly reads: readonly { readonly tool: string; readonly input: object }[];
  readonly cause: string;
  /** A claim, the read that proves it, and a part of the line that does: the first that is there is quoted. */
  readonly claims: readonly {
    readonly claim: string;
    readonly read: number;
    readonly lines: readonly string[];
  }[];
  readonly act: { readonly tool: string; readonly input: object };
}

/** Plays triage, detective and surgeon of the incident whose container is named in its labels. */
export const claudeOnContainers =
  (scripts: readonly ContainerScript[]) =>
  (request: MessagesRequest): ScriptedReply => {
    const offered = new Set((request.tools ?? []).map(({ name }) => name));
    const container =
      /\\?"container\\?": ?\\?"([a-z-]+)/.exec(JSON.stringify(request.messages[0]))?.[1] ?? '';
    const script = scripts.find((each) => each.container === container);
    if (!script) throw new Error(`no script for the container "${container}"`);
    if (offered.has('report_triage'))
      return reply('report_triage', { severity: 'critical', reason: `${container} is ill.` });
    if (offered.has('report_no_action'))
      return toolResultTexts(request).length > 0
        ? reply('report_no_action', { reason: 'The proposal was not accepted.' })
        : {
            blocks: [
              { tool: script.act.tool, input: { target: 'shop', ...script.act.input, why: script.cause } },
            ],
          };
    return detective(request, script);
  };

function detective(request: MessagesRequest, { reads, cause, claims }: ContainerScript): ScriptedReply {
  const results = toolResultTexts(request).map(parsed);
  if (results.length === 0)
    return {
      blocks: reads.map(({ tool, input }) => ({
        tool,
        input: { target: 'shop', ...input, why: 'to see why' },
      })),
    };
  return reply('report_diagnosis', {
    verdict: 'cause_found',
    rootCause: cause,
    category: 'containers',
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
