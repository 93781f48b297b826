import type { SuiteScenario } from '../../../evals/opensre/read-suite.ts';
import type { Scenario as Script } from '../../../playground/claude/scenario.ts';

/** What a scripted model reports of a suite's scenario. */
export interface Report {
  readonly verdict: 'cause_found' | 'healthy';
  readonly rootCause: string;
  readonly category: string;
  readonly claims: readonly { readonly claim: string; readonly tools: readonly string[] }[];
  readonly chain?: readonly string[];
  readonly ruledOut?: readonly string[];
}

/**
 * The suite's own answer, part by part, as one who knows it would report it. What the key asks for and the answer leaves out is said
 * as well, and sentences with a forbidden word, be it to deny it, are left out: some of the suites' answers fail their own rules.
 */
export function oracleReport({ scenario, key }: SuiteScenario, modelResponse: string): Report {
  const tools = scenario.tool_outputs.map(({ tool }) => tool);
  const isAllowed = (text: string) =>
    !key.forbiddenKeywords.some((word) => text.toLowerCase().includes(word.toLowerCase()));
  const part = (heading: string) => partOf(modelResponse, heading).filter(isAllowed);
  const claims = part('VALIDATED_CLAIMS').map((line) => ({
    claim: line.replace(/\s*\[evidence:[^\]]*\]\s*$/, ''),
    tools: /\[evidence:([^\]]*)\]/.exec(line)?.[1]?.split(/,\s*/) ?? [],
  }));
  const rootCause = scenario.expected.root_cause
    .split(/(?<=[.;—–,]) /)
    .filter(isAllowed)
    .join(' ');
  const [chain, others] = [part('CAUSAL_CHAIN'), part('NON_VALIDATED_CLAIMS')];
  const said = [rootCause, ...claims.map(({ claim }) => claim), ...chain, ...others].join(' ').toLowerCase();
  const missing = [...key.requiredKeywords, ...key.rulingOutKeywords].filter(
    (word) => !said.includes(word.toLowerCase()),
  );
  return {
    verdict: key.category === 'healthy' ? 'healthy' : 'cause_found',
    rootCause,
    category: key.category,
    claims: claims.length > 0 ? claims : [{ claim: rootCause, tools: tools.slice(0, 1) }],
    chain,
    ruledOut: [...others, ...(missing.length === 0 ? [] : [`Besides: ${missing.join(', ')}.`])],
  };
}

function partOf(response: string, heading: string): readonly string[] {
  const [, after = ''] = response.split(new RegExp(`^\\s*${heading}:`, 'm'));
  const part = after.split(/^\s*[A-Z_]{4,}:/m)[0] ?? '';
  return part
    .split('\n')
    .map((line) => line.replace(/^\s*- /, '').trim())
    .filter((line) => line !== '');
}

/** Triage, every recorded tool at once, and the report, again where code objects to it. */
export function scriptOf(
  { scenario }: SuiteScenario,
  report: Report,
  known = (tool: string) => tool,
): Script {
  const tools = scenario.tool_outputs.map(({ tool }) => tool);
  const idOf = (tool: string) => `tc_${String(tools.indexOf(known(tool)) + 1).padStart(12, '0')}`;
  const input = {
    ...report,
    claims: undefined,
    confidence: 0.99,
    evidence: report.claims.map(({ claim, tools: cited }) => ({
      claim,
      toolCallIds: cited.map(idOf),
      quote: scenario.tool_outputs.find(({ tool }) => tool === known(cited[0] ?? ''))?.output.slice(0, 80),
    })),
    unknown: [],
    wouldChangeMyMind: '',
    blastRadius: '',
    remedy: '',
    runbookId: '',
  };
  const triage = {
    severity: 'critical',
    incidentType: 'outage',
    routine: false,
    ignore: false,
    reason: 'Ill.',
  };
  const reported = { blocks: [{ tool: 'report_diagnosis', input }] };
  return [
    { blocks: [{ tool: 'report_triage', input: triage }] },
    { blocks: tools.map((tool) => ({ tool, input: { why: 'Reading it' } })) },
    reported,
    reported,
  ];
}
