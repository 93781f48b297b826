import {
  blocksOf,
  type MessagesRequest,
  type ScriptedBlock,
  type ScriptedReply,
  toolResultTexts,
} from './scenario.ts';

/**
 * The built-in demonstration: sessions of a PostgreSQL that wait for one of them. Which role asks is seen from the
 * report tool it was offered; every fact said comes out of the tool results in the request, so that it fits whatever
 * database really stands behind the tools. Serves any number of incidents at once.
 */
export function blockedSessions(request: MessagesRequest): ScriptedReply {
  const offered = new Set((request.tools ?? []).map((tool) => tool.name));
  if (offered.has('report_triage')) return TRIAGE;
  if (offered.has('report_diagnosis')) return detective(request);
  if (offered.has('report_no_action')) return surgeon(request);
  return { blocks: [{ text: 'This script plays triage, detective and surgeon only.' }] };
}

const TRIAGE: ScriptedReply = {
  blocks: [
    { thinking: 'Sessions that wait for locks: a kind of problem that is known.' },
    {
      text: 'Sessions are waiting for locks. This is a known kind of problem; the live system has to show who holds them.',
    },
    {
      tool: 'report_triage',
      input: {
        severity: 'critical',
        incidentType: 'blocked_sessions',
        routine: true,
        ignore: false,
        reason: 'Sessions wait for locks and users wait with them.',
      },
    },
  ],
};

function detective(request: MessagesRequest): ScriptedReply {
  const results = toolResultTexts(request).map(parseResult);
  return results.length === 0 ? look(request) : conclude(results);
}

/** First turn: everything that may show a blocker, at once. */
function look(request: MessagesRequest): ScriptedReply {
  const target = targetOf(request);
  const useful = (request.tools ?? [])
    .map((tool) => tool.name)
    .filter((name) => /block|long_transactions|connections/.test(name))
    .slice(0, 3);
  return {
    blocks: [
      { thinking: 'Who blocks whom comes first; then whether the blocker is at work or idle.' },
      { text: 'I am reading who blocks whom, and which transactions are open for long.' },
      ...useful.map((tool): ScriptedBlock => ({ tool, input: { target, why: 'find the root blocker' } })),
    ],
    eventDelayMs: 15,
  };
}

interface ReadResult {
  readonly id: string;
  readonly output: string;
}

/** A blocker as the tools print it: `root: pid 4711 (app@shop, billing) blocks 8 (8 directly)`, then its start. */
const ROOT = /(root: pid (\d+)[^\n]*?blocks (\d+)[^\n]*)\n\s*(backend_start (\S+?), ([^\n,]+)[^\n]*)/;

function conclude(results: readonly ReadResult[]): ScriptedReply {
  const source = results.find((result) => ROOT.test(result.output));
  const root = source === undefined ? null : ROOT.exec(source.output);
  if (source === undefined || root === null) return cannotTell(results);
  const [, quote = '', pid, count, startQuote = '', start, state] = root;
  const cause = `The session with pid ${pid} holds locks that ${count} other sessions wait for; it is ${state}.`;
  return {
    blocks: [
      { thinking: 'One root, and it does not go on by itself.' },
      { text: `${cause} Nothing else blocks them. Ending that one session lets the others go on.` },
      {
        tool: 'report_diagnosis',
        input: {
          verdict: 'cause_found',
          rootCause: cause,
          category: 'blocked_sessions',
          confidence: 0.97,
          evidence: [
            {
              claim: `Pid ${pid} is the root of ${count} waiting sessions.`,
              toolCallIds: [source.id],
              quote,
            },
            { claim: `Its session began at ${start}.`, toolCallIds: [source.id], quote: startQuote },
          ],
          ruledOut: ['Several independent blockers: the tree has one root.'],
          unknown: [],
          wouldChangeMyMind: 'The session going on and committing by itself.',
          blastRadius: 'One session; its open transaction is rolled back.',
          remedy: `Terminate the backend with pid ${pid}, started ${start}.`,
          runbookId: null,
        },
      },
    ],
    eventDelayMs: 15,
  };
}

function cannotTell(results: readonly ReadResult[]): ScriptedReply {
  return {
    blocks: [
      { text: 'The reads show no root blocker.' },
      {
        tool: 'report_diagnosis',
        input: {
          verdict: 'cannot_tell',
          rootCause: 'No session that blocks others could be seen.',
          confidence: 0.3,
          unknown: [`No root blocker in ${results.length} results; it may have ended already.`],
        },
      },
    ],
  };
}

/** Proposes to end exactly the session the diagnosis names, with the arguments that stand in the evidence. */
function surgeon(request: MessagesRequest): ScriptedReply {
  if (toolResultTexts(request).length > 0)
    return noAction('The proposal was not accepted; a person should look.');
  const data = firstText(request);
  const root = ROOT.exec(outputsIn(data));
  const terminate = (request.tools ?? []).find((tool) => tool.name.includes('terminate'));
  if (root === null || terminate === undefined) return noAction('The evidence names no session to end.');
  const [, , pid, count, , start] = root;
  return {
    blocks: [
      { text: `I propose to end the one session that ${count} others wait for, pid ${pid}.` },
      {
        tool: terminate.name,
        input: {
          target: targetOf(request),
          pid: Number(pid),
          backend_start: start,
          why: `Pid ${pid} holds the locks that ${count} sessions wait for; ending it rolls its transaction back and frees them.`,
        },
      },
    ],
    eventDelayMs: 15,
  };
}

function noAction(reason: string): ScriptedReply {
  return { blocks: [{ text: reason }, { tool: 'report_no_action', input: { reason } }] };
}

function firstText(request: MessagesRequest): string {
  const [first] = request.messages;
  const text = first === undefined ? undefined : blocksOf(first)[0]?.['text'];
  return typeof text === 'string' ? text : '';
}

/** The labelled data of the first user turn. */
function incidentData(text: string): {
  incident?: { target?: string | null };
  targets?: string[];
  evidence_outputs?: { output: string }[];
} {
  const json = /<incident_data>\n([\s\S]*?)\n<\/incident_data>/.exec(text)?.[1];
  return json === undefined ? {} : (JSON.parse(json) as object);
}

function targetOf(request: MessagesRequest): string {
  const data = incidentData(firstText(request));
  return data.incident?.target ?? data.targets?.[0] ?? 'unknown';
}

function outputsIn(text: string): string {
  return (incidentData(text).evidence_outputs ?? []).map((each) => each.output).join('\n');
}

function parseResult(text: string): ReadResult {
  const json = text.slice(text.indexOf('{'));
  try {
    const result = JSON.parse(json) as { tool_call_id?: string; output?: string };
    return { id: result.tool_call_id ?? '', output: result.output ?? '' };
  } catch (error) {
    if (error instanceof SyntaxError) return { id: '', output: text };
    throw error;
  }
}
