import {
  type MessagesRequest,
  type ScriptedReply,
  toolResultTexts,
} from '../../playground/claude/scenario.ts';
import type { Script } from './situation.ts';

interface ReadResult {
  readonly id: string;
  readonly output: string;
}

/** The tool that tells what was changed. */
const WHAT_CHANGED = 'what_changed';
const CONFIDENCE = 0.97;

/**
 * A Claude that asks what was changed, makes the script's reads, and calls that change the cause with what it has read. `isRash`: it
 * reads nothing but what was changed, and is as sure.
 */
export const scriptedDetective =
  (script: Script, target: string, isRash: boolean) =>
  (request: MessagesRequest): ScriptedReply => {
    const tools = new Map((request.tools ?? []).map(({ name, input_schema }) => [name, input_schema]));
    if (tools.has('report_triage'))
      return reply('report_triage', { severity: 'critical', reason: 'It has to be looked into.' });
    if (tools.has('report_no_action')) return reply('report_no_action', { reason: 'Nothing to do.' });
    const results = toolResultTexts(request).flatMap(resultOf);
    const asks = [
      ...(tools.has(WHAT_CHANGED) ? [{ tool: WHAT_CHANGED, args: {} }] : []),
      ...(isRash ? [] : script.reads),
    ];
    if (results.length === 0 && asks.length > 0)
      return {
        blocks: asks.map(({ tool, args }) => ({
          tool,
          input: {
            ...args,
            ...(hasField(tools.get(tool), 'target') ? { target } : {}),
            ...(hasField(tools.get(tool), 'why') ? { why: 'to see why' } : {}),
          },
        })),
      };
    return reply('report_diagnosis', {
      ...report(script, results, isRash),
      ...(hasField(tools.get('report_diagnosis'), 'changes')
        ? { changes: judged(script, results, tools.has(WHAT_CHANGED)) }
        : {}),
    });
  };

function report({ cause, line }: Script, results: readonly ReadResult[], isRash: boolean) {
  const last = results.at(-1);
  // Whoever has read nothing else quotes what was changed.
  const isShown = (each: string): boolean => (isRash ? /\bc\d+\b/.test(each) : each.includes(line));
  const shown = last?.output.split('\n').find(isShown);
  return {
    verdict: 'cause_found',
    rootCause: cause,
    category: 'change',
    confidence: CONFIDENCE,
    evidence:
      last === undefined
        ? []
        : [{ claim: cause, toolCallIds: results.map(({ id }) => id), quote: shown?.trim() ?? line }],
    ruledOut: [],
    unknown: [],
    wouldChangeMyMind: 'The same without that change.',
    blastRadius: 'Those who use it.',
    remedy: null,
    runbookId: null,
  };
}

/** The change by the name that the answer gives it, with all that was read for it. */
function judged({ blames }: Script, results: readonly ReadResult[], isAsked: boolean) {
  const [asked] = isAsked ? results : [];
  const line = asked?.output.split('\n').find((each) => each.includes(blames));
  const ref = /\bc\d+\b/.exec(line ?? '')?.[0];
  return ref === undefined ? [] : [{ ref, part: 'cause', toolCallIds: results.map(({ id }) => id) }];
}

const reply = (tool: string, input: object): ScriptedReply => ({
  blocks: [{ text: 'So it is.' }, { tool, input }],
});

const hasField = (schema: unknown, field: string): boolean =>
  Object.hasOwn((schema as { readonly properties?: object } | undefined)?.properties ?? {}, field);

/** What is no answer of a tool (an objection to a report) is left out. */
function resultOf(text: string): readonly ReadResult[] {
  try {
    const { tool_call_id: id, output } = JSON.parse(text.slice(text.indexOf('{'))) as {
      readonly tool_call_id?: string;
      readonly output?: string;
    };
    return id === undefined ? [] : [{ id, output: output ?? '' }];
  } catch {
    return [];
  }
}
