import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  blocksOf,
  type MessagesRequest,
  type ScriptedBlock,
  type ScriptedReply,
  toolResultTexts,
} from '../../../../playground/claude/scenario.ts';
import type { IncidentId } from '../../../../src/core/ids.ts';
import type { IncidentRecord } from '../../../../src/core/incident-record.ts';
import { followUp } from '../../../../src/incidents/questions/follow-up.ts';
import { why } from '../../../../src/incidents/questions/why.ts';
import { userStore } from '../../../../src/memory/documents/document.ts';
import { drawLive } from '../../../../src/slack/views/blocks/live.ts';
import { stepsView } from '../../../../src/slack/views/record-views.ts';
import { defineReadTool } from '../../../../src/tools/define.ts';
import { boxTools, type Machine } from '../../../support/core.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { type MemoryRig, memoryRig } from './rig.ts';

const machine: Machine = { broken: true, generation: 1, effects: 0, helps: true };
const tools = [
  ...boxTools(machine),
  defineReadTool({
    name: 'box_part',
    description: 'Looks at the part of the box that matters.',
    kind: 'read',
    domain: 'postgres',
    input: z.strictObject({}),
    timeoutMs: 2_000,
    run: async () => ({ text: 'flywheel bearing: cracked', data: null }),
  }),
];

/** One for all tests, each with a script of its own. */
let rig: MemoryRig;
let script: (request: MessagesRequest) => ScriptedReply;
/** Where this test's requests begin. */
let since = 0;
beforeAll(async () => {
  rig = await memoryRig({ scenario: (request) => script(request), tools });
});
afterAll(() => rig.close());

/** Triage at once; the detective does `steps` one after the other, then concludes; the surgeon mends. */
const course =
  (steps: readonly (readonly ScriptedBlock[])[], hold: () => number | null = () => null) =>
  (request: MessagesRequest): ScriptedReply => {
    const offered = new Set((request.tools ?? []).map((tool) => tool.name));
    if (offered.has('report_triage'))
      return { blocks: [{ tool: 'report_triage', input: { severity: 'critical', reason: 'broken' } }] };
    if (offered.has('report_no_action'))
      return {
        blocks: [{ text: 'Mend.' }, { tool: 'box_mend', input: { how: 'glue', why: 'It mends it.' } }],
      };
    const turn = request.messages.filter(({ role }) => role === 'assistant').length;
    const held = hold() === turn ? { holdBefore: 'whole' } : {};
    const step = steps[turn];
    if (step) return { blocks: [{ text: 'Here is the whole of it.' }, ...step], ...held };
    const seen = toolResultTexts(request).find((text) => text.includes('flywheel bearing')) ?? '';
    const id = /"tool_call_id":"([^"]+)"/.exec(seen)?.[1] ?? '';
    const evidence = [
      { claim: 'The flywheel is cracked.', toolCallIds: [id], quote: 'flywheel bearing: cracked' },
    ];
    const report = {
      verdict: 'cause_found',
      rootCause: 'The flywheel is cracked.',
      confidence: 0.95,
      evidence,
    };
    return {
      blocks: [{ text: 'Here is the whole of it.' }, { tool: 'report_diagnosis', input: report }],
      ...held,
    };
  };

const look = [{ tool: 'box_part', input: {} }];
const isDetective = ({ body }: { readonly body: MessagesRequest }) =>
  (body.tools ?? []).some(({ name }) => name === 'report_diagnosis');
const detective = () =>
  rig.claude.requests
    .slice(since)
    .filter(isDetective)
    .map(({ body }) => body);
/** The text blocks of a request's user turns. */
const userTexts = (body: MessagesRequest | undefined) =>
  (body?.messages ?? [])
    .filter(({ role }) => role === 'user')
    .map((message) =>
      blocksOf(message)
        .map(({ text }) => (typeof text === 'string' ? text : ''))
        .join('\n'),
    );
const loadedIn = ({ events }: IncidentRecord) =>
  events.flatMap((event) => (event.type === 'memory.context.loaded' ? [event] : []));
const fallbacks = ({ events }: IncidentRecord) =>
  events.filter(({ type }) => type === 'investigator.fallback');

function threadOf(record: IncidentRecord): string {
  const options = { threadUrl: () => null, approvers: null, oncall: null };
  const [live] = drawLive(record, options);
  return JSON.stringify([live?.slot.blocks, stepsView(record, null, options)]);
}

async function begin(scenario: (request: MessagesRequest) => ScriptedReply): Promise<IncidentId> {
  Object.assign(machine, { broken: true, effects: 0 });
  script = scenario;
  since = rig.claude.requests.length;
  await rig.knows('checks/box', 'The box is broken', 'Look at its parts before anything else.');
  await rig.knows(
    'checks/flywheel',
    'Flywheel bearing',
    'A cracked flywheel bearing is glued, never hammered.',
  );
  return rig.open();
}

describe('an incident with memory', () => {
  test('each role’s first turn has its block, a later one what the results call for, and the history only grows', async () => {
    const id = await begin(course([look]));
    const record = await rig.until(id, 'awaiting_approval');
    expect(fallbacks(record)).toEqual([]);
    const [first, second] = userTexts(detective().at(-1));
    expect(first).toMatch(
      /<\/incident_data>\n\n<sentry_memory_context>[^]*Look at its parts[^]*report_diagnosis\.$/,
    );
    expect(first).not.toContain('never hammered');
    expect(second).toContain('A cracked flywheel bearing is glued, never hammered.');
    expect(
      loadedIn(record).map(({ role, turn, documents }) => [role, turn, documents.map(({ path }) => path)]),
    ).toEqual([
      ['triage', 1, ['checks/box']],
      ['detective', 1, ['checks/box']],
      ['detective', 2, ['checks/flywheel']],
      ['surgeon', 1, ['checks/box', 'checks/flywheel']],
    ]);
    const usage = await rig.sql`SELECT count(*)::int AS n FROM memory_usage WHERE incident_id = ${id}`;
    expect(usage).toEqual([{ n: 5 }]);
    expect(threadOf(record)).toContain('Memory for the detective: ');
    expect(why(record)).toContain('was shown from memory');
  });

  test('a hint is what the next round’s memory is about', async () => {
    const id = await begin((request) => {
      const reply = course([look])(request);
      const tool = {
        tool: 'report_diagnosis',
        input: { verdict: 'cannot_tell', rootCause: 'Unclear.', confidence: 0.2 },
      };
      return JSON.stringify(reply).includes('report_diagnosis') ? { blocks: [tool] } : reply;
    });
    await rig.until(id, 'reported');
    await rig.knows('checks/heron', 'Heron valve', 'The heron valve sticks in winter.');
    await rig.core.steering.hint(id, 'UANN', 'could it be the heron valve?');
    const paths = await waitFor('the memory of the next round', async () => {
      const record = await rig.records.load(id);
      const asked = record?.events.find(({ type }) => type === 'hint.given')?.seq ?? 0;
      const after = (record ? loadedIn(record) : []).find(
        ({ role, seq }) => role === 'detective' && seq > asked,
      );
      return after?.documents.map(({ path }) => path);
    });
    expect(paths).toContain('checks/heron');
    await rig.until(id, 'reported');
  });
});

test('a question in the thread gets what memory has about it, and nothing of a person’s own', async () => {
  const id = await begin(course([look]));
  await rig.until(id, 'awaiting_approval');
  await rig.knows('checks/grebe', 'Grebe valve', 'The grebe valve is oiled weekly.');
  const own = { store: userStore('UANN'), incidentId: null };
  const written = await rig.documents.write(
    { kind: 'user', userId: 'UANN', incidentId: null },
    {
      place: own,
      document: { path: 'grebe', title: 'Grebe valve', content: 'I broke the grebe valve.', docType: 'note' },
      sources: [],
    },
  );
  expect(written).toMatchObject({ ok: true });
  script = () => ({ blocks: [{ text: 'Weekly.' }] });
  const before = await rig.records.load(id);
  if (!before) throw new Error('no record');
  const answer = await followUp(rig.core, {
    incident: before.incident,
    question: { by: 'UANN', text: 'How often is the grebe valve oiled?', story: why(before) },
    onWords: () => undefined,
    durably: (_, fn) => fn(),
    signal: rig.core.shutdown,
  });
  expect(answer).toMatchObject({ ok: true, text: expect.stringContaining('Weekly.') });
  const asked = userTexts(rig.claude.requests.at(-1)?.body)[0];
  expect(asked).toContain('The grebe valve is oiled weekly.');
  expect(asked).not.toContain('I broke the grebe valve.');
  const record = await rig.records.load(id);
  const paths =
    record &&
    loadedIn(record)
      .at(-1)
      ?.documents.map(({ path }) => path);
  expect(paths).toContain('checks/grebe');
});

describe('the memory tools', () => {
  const remember = (input: object): ScriptedBlock => ({ tool: 'memory_remember', input });
  const draft = { path: 'drafts/flywheel', title: 'Flywheel', content: 'It cracks in summer.' };
  const token = ['ghp', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('_');

  test('are declared from the start, write once they are loaded, and stay out of approvals and evidence', async () => {
    const id = await begin(
      course([
        [remember(draft), ...look],
        [{ tool: 'load_toolset', input: { toolset: 'memory', include_write_tools: false } }],
        [remember({ ...draft, path: 'drafts/too-early' })],
        [{ tool: 'load_toolset', input: { toolset: 'memory', include_write_tools: true } }],
        [
          remember(draft),
          remember({ ...draft, path: 'drafts/secret', content: `The key is ${token}` }),
          remember({ ...draft, path: 'drafts/policy', user: 'UEVE' }),
        ],
        [{ tool: 'memory_search', input: { query: 'cracks in summer' } }],
      ]),
    );
    const record = await rig.until(id, 'awaiting_approval');
    const memoryCalls = record.toolCalls.filter(({ tool }) => /^memory_|^load_/.test(tool));
    const told = memoryCalls.map(({ tool, state, code }) => `${tool} ${state} ${code}`);
    expect(told.toSorted()).toEqual(
      [
        'memory_remember refused TOOLSET_NOT_LOADED',
        'load_toolset ok null',
        'memory_remember refused TOOLSET_NOT_LOADED',
        'load_toolset ok null',
        'memory_remember ok null',
        'memory_remember refused MEMORY_WRITE_BLOCKED',
        'memory_remember refused MEMORY_POLICY_DENIED',
        'memory_search ok null',
      ].toSorted(),
    );
    // No target, so no evidence; no action, so nothing waits for anybody.
    expect(memoryCalls.every(({ target, actionId }) => target === null && actionId === null)).toBe(true);
    expect(record.actions.map(({ tool }) => tool)).toEqual(['box_mend']);
    expect(memoryCalls.at(-1)?.output).toContain('drafts/flywheel');

    const declared = new Set(detective().map(({ tools: list }) => JSON.stringify(list)));
    expect(declared.size).toBe(1);
    const names = (detective()[0]?.tools ?? []).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['load_toolset', 'memory_remember', 'memory_search']));
    const remembering = detective()[0]?.tools?.find(({ name }) => name === 'memory_remember');
    expect(JSON.stringify(remembering)).not.toContain('"target"');

    expect(fallbacks(record)).toEqual([]);
    const thread = threadOf(record);
    // One look at the live system, however often memory was asked.
    expect(thread).toContain('· 1 look at the live system');
    expect(thread).toContain('drafts/secret');
    expect(thread).toContain('Memory write denied in ');
    expect((JSON.stringify(record) + thread).includes(token)).toBe(false);
  });

  test('stay loaded for this incident over a restart, and for no other', async () => {
    let hold: number | null = 1;
    const steps = [
      [{ tool: 'load_toolset', input: { toolset: 'memory', include_write_tools: true } }],
      [remember(draft), ...look],
    ];
    const id = await begin(course(steps, () => hold));
    await rig.claude.held();
    hold = null;
    await rig.restart();
    const record = await rig.until(id, 'awaiting_approval');
    expect(record.toolCalls.find(({ tool }) => tool === 'memory_remember')).toMatchObject({ state: 'ok' });
    script = course([look]);
    const other = await rig.open();
    const credential = rig.core.vault.mint({ role: 'detective', incidentId: other, targets: ['box'] });
    const call = { tool: 'memory_remember', target: null, input: draft };
    await rig.until(other, 'awaiting_approval');
    const refused = await rig.core.gate.call(credential, call, { signal: new AbortController().signal });
    expect(refused).toMatchObject({ kind: 'refused', code: 'TOOLSET_NOT_LOADED' });
  });
});

describe('a crash', () => {
  test.each([0, 1])(
    'in message %i sends the same words again, whatever memory says by then',
    async (turn) => {
      let hold: number | null = turn;
      const id = await begin(course([look], () => hold));
      await rig.claude.held();
      const before = detective().at(-1);
      await rig.knows('checks/box', 'The box is broken', 'All of this has changed since.');
      await rig.knows('checks/new', 'The box is broken: flywheel bearing', 'There is more now.');
      hold = null;
      await rig.restart();
      const record = await rig.until(id, 'awaiting_approval');
      const again = detective().filter(({ messages }) => messages.length === before?.messages.length);
      expect(again.map((body) => JSON.stringify(body))).toEqual(
        [before, before].map((body) => JSON.stringify(body)),
      );
      expect(fallbacks(record)).toEqual([]);
      const turns = loadedIn(record).filter(({ role }) => role === 'detective');
      expect(turns.map((event) => event.turn)).toEqual([1, 2]);
    },
  );
});
