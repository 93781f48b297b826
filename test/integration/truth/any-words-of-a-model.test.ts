import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MessagesRequest, ScriptedBlock, ScriptedReply } from '../../../playground/claude/scenario.ts';
import { toolResultTexts } from '../../../playground/claude/scenario.ts';
import { createScriptedClaude, type ScriptedClaude } from '../../../playground/claude/scripted-claude.ts';
import { createClaude } from '../../../src/agents/claude/create-claude.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { Incident } from '../../../src/core/incident.ts';
import { createAnthropicBackend } from '../../../src/llm/anthropic.ts';
import { createModelGateway } from '../../../src/llm/gateway.ts';
import { boxAlert, boxInvestigator, boxTools, type Core, createCore } from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import type { Row } from '../../support/typed.ts';
import { waitFor } from '../../support/wait-for.ts';

/** No input stops an incident: whatever stands in a model's words, it ends, and the model is paid once for each of them. */
const EVIL: Readonly<Record<string, string>> = {
  'a NUL': 'before\u0000after',
  'the first half of a pair': 'before\ud83dafter',
  'the second half of a pair': 'before\ude00after',
  'both halves the wrong way round': '\ude00\ud83d',
  'all of them and an escape': '\u001b[31m\u0000\udfff\ud800\u0000',
};
const isSafe = (text: string): boolean => !text.includes('\u0000') && !/\p{Surrogate}/u.test(text);

/** What a model says where; `x` is the evil text. */
type Place = (x: string) => Partial<Record<'triage' | 'look' | 'report' | 'plan', readonly ScriptedBlock[]>>;
const TRIAGE = { severity: 'critical', incidentType: 'broken_box', routine: false, ignore: false };
const FOUND = {
  verdict: 'cause_found',
  rootCause: 'The box is broken.',
  category: 'broken_box',
  confidence: 0.5,
};

const PLACES: Readonly<Record<string, Place>> = {
  'triage’s reason': (x) => ({ triage: [{ tool: 'report_triage', input: { ...TRIAGE, reason: x } }] }),
  'triage’s kind and severity': (x) => ({
    triage: [{ tool: 'report_triage', input: { ...TRIAGE, reason: 'r', incidentType: x, severity: x } }],
  }),
  'the cause': (x) => ({ report: [{ tool: 'report_diagnosis', input: { ...FOUND, rootCause: x } }] }),
  'every other field of the report': (x) => ({
    report: [
      {
        tool: 'report_diagnosis',
        input: {
          ...FOUND,
          unexplained: x,
          category: x,
          evidence: [{ claim: x, toolCallIds: [x], quote: x, [x]: x }],
          ruledOut: [x],
          unknown: [x],
          missed: [x],
          wouldChangeMyMind: x,
          blastRadius: x,
          remedy: x,
          runbookId: x,
          [x]: { [x]: [x] },
        },
      },
    ],
  }),
  'a report written as text': (x) => ({
    report: [{ text: JSON.stringify({ ...FOUND, rootCause: x, remedy: x }) }],
  }),
  'its words and its reason for a read': (x) => ({
    look: [{ text: x }, { tool: 'box_state', input: { target: 'box', why: x } }],
  }),
  'the input of a read': (x) => ({ look: [{ tool: 'box_state', input: { target: x, [x]: x, why: 'w' } }] }),
  'the name of a tool': (x) => ({ look: [{ tool: `box${x}`, input: {} }] }),
  'a proposal': (x) => ({
    report: [{ tool: 'report_diagnosis', input: { ...FOUND, confidence: 0.95 } }],
    plan: [{ tool: 'box_mend', input: { target: 'box', how: x, why: x } }],
  }),
  'why nothing is proposed': (x) => ({
    report: [{ tool: 'report_diagnosis', input: { ...FOUND, confidence: 0.95 } }],
    plan: [{ tool: 'report_no_action', input: { reason: x } }],
  }),
};
const CASES = Object.entries(PLACES).flatMap(([place, blocks]) =>
  Object.entries(EVIL).map(([what, x]) => ({ name: `${what} in ${place}`, blocks: blocks(x) })),
);

let database: ScratchDatabase;
let claude: ScriptedClaude;
let core: Core;

/** Plays the case that the incident's title names; whatever the case does not say, as a good model would. */
function answer(request: MessagesRequest): ScriptedReply {
  const named = /case (\d+) of/.exec(JSON.stringify(request.messages[0]))?.[1];
  const say = CASES[Number(named)]?.blocks ?? {};
  const tools = new Set(request.tools?.map((tool) => tool.name));
  const results = toolResultTexts(request);
  if (tools.has('report_triage'))
    return {
      blocks: say.triage ?? [{ tool: 'report_triage', input: { ...TRIAGE, reason: 'it is broken' } }],
    };
  if (tools.has('report_no_action'))
    return results.length > 0
      ? { blocks: [{ tool: 'report_no_action', input: { reason: 'It was refused.' } }] }
      : { blocks: say.plan ?? [{ tool: 'report_no_action', input: { reason: 'Nothing is safe.' } }] };
  if (results.length === 0)
    return { blocks: say.look ?? [{ tool: 'box_state', input: { target: 'box', why: 'is it broken?' } }] };
  const id = /"tool_call_id":"([^"]+)"/.exec(results.join())?.[1] ?? '';
  const evidence = [{ claim: 'The box says so.', toolCallIds: [id], quote: 'broken: true' }];
  return {
    blocks: (say.report ?? [{ tool: 'report_diagnosis', input: FOUND }]).map((block) =>
      'input' in block ? { ...block, input: { evidence, ...(block.input as object) } } : block,
    ),
  };
}

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  claude = await createScriptedClaude({ scenario: answer });
  const tools = boxTools({ broken: true, generation: 1, effects: 0, helps: true });
  const llm = createModelGateway({
    backend: createAnthropicBackend({ apiKey: 'test-key', baseUrl: claude.url }),
    retry: { baseDelayMs: 1 },
  });
  core = await createCore({
    url: database.url,
    tools,
    investigator: boxInvestigator,
    claude: createClaude({
      llm,
      tools,
      targets: ['box'],
      toolCalls: async (id) => (await core.records.load(id))?.toolCalls ?? [],
    }),
  });
  await core.start();
});
afterAll(async () => {
  await core.stop();
  await claude.close();
  await database.drop();
});

const ENDS: readonly Incident['state'][] = ['reported', 'escalated', 'awaiting_approval', 'ignored'];

test('every incident ends, and nobody pays for the same words twice', async () => {
  const ids = await Promise.all(
    CASES.map(async (_, n) => {
      const title = `The box is broken: case ${n} of ${CASES.length}`;
      return (await core.accept(boxAlert({ title }))).incidentId as IncidentId;
    }),
  );
  for (const [n, id] of ids.entries()) {
    const name = CASES[n]?.name ?? '';
    await waitFor(
      `the end of the incident with ${name}`,
      async () => ENDS.includes((await core.records.incident(id))?.state ?? 'open'),
      { timeoutMs: 120_000 },
    );
    const record = await core.records.load(id);
    expect(
      JSON.parse(JSON.stringify(record), (_, value: unknown) => value),
      name,
    ).toEqual(record);
    const texts: string[] = [];
    JSON.stringify(record, (key, value: unknown) => {
      texts.push(key, typeof value === 'string' ? value : '');
      return value;
    });
    expect(
      texts.find((text) => !isSafe(text)),
      name,
    ).toBe(undefined);
    const [row] = await core.sql<Row>`SELECT count(*)::integer AS calls FROM usage WHERE incident_id = ${id}`;
    // Triage, a look, a report and a plan, each once; a report that is refused is asked for three more times.
    expect(Number(row?.['calls']), name).toBeLessThanOrEqual(8);
  }
  expect(await core.sql`SELECT * FROM turn_failure`).toEqual([]);
}, 240_000);

test('what triage said reaches the detective', () => {
  const detectives = claude.requests.filter(({ body }) =>
    body.tools?.some((tool) => tool.name === 'report_diagnosis'),
  );
  expect(detectives.some(({ body }) => JSON.stringify(body.messages[0]).includes('it is broken'))).toBe(true);
});
