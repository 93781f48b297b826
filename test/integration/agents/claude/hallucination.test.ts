import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type {
  MessagesRequest,
  ScriptedBlock,
  ScriptedReply,
} from '../../../../playground/claude/scenario.ts';
import { toolResultTexts } from '../../../../playground/claude/scenario.ts';
import { createScriptedClaude, type ScriptedClaude } from '../../../../playground/claude/scripted-claude.ts';
import { createClaude } from '../../../../src/agents/claude/create-claude.ts';
import type { Diagnosis } from '../../../../src/core/diagnosis.ts';
import type { IncidentId } from '../../../../src/core/ids.ts';
import type { IncidentRecord } from '../../../../src/core/incident-record.ts';
import { createAnthropicBackend } from '../../../../src/llm/anthropic.ts';
import { createModelGateway } from '../../../../src/llm/gateway.ts';
import { stepOf } from '../../../../src/slack/views/blocks/steps.ts';
import {
  boxAlert,
  boxInvestigator,
  boxTools,
  type Core,
  createCore,
  findsNothing,
  type Machine,
} from '../../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import type { Row } from '../../../support/typed.ts';
import { waitFor } from '../../../support/wait-for.ts';

/** Models that make things up, on the real engine, gate, audit log and record. The playbook here never finds anything. */
const machine: Machine = { broken: true, generation: 1, effects: 0, helps: true };
let database: ScratchDatabase;
let claude: ScriptedClaude;
let core: Core;

const FINDS_NOTHING: Diagnosis = { ...findsNothing, confidence: 0.2, unknown: ['What the box says.'] };
let playbookSays: Diagnosis;

beforeEach(() => {
  machine.effects = 0;
  playbookSays = FINDS_NOTHING;
});
beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  claude = await createScriptedClaude({ scenario: () => ({}) });
  const tools = boxTools(machine);
  core = await createCore({
    url: database.url,
    tools,
    investigator: {
      ...boxInvestigator,
      diagnose: async () => playbookSays,
    },
    claude: createClaude({
      llm: createModelGateway({
        backend: createAnthropicBackend({ apiKey: 'k', baseUrl: claude.url }),
        retry: { baseDelayMs: 1 },
      }),
      tools,
      targets: ['box'],
      toolCalls: async (id: IncidentId) => (await core.records.load(id))?.toolCalls ?? [],
    }),
  });
  await core.start();
});
afterAll(async () => {
  await core.stop();
  await claude.close();
  await database.drop();
});

interface Evidence {
  readonly claim: string;
  readonly toolCallIds: readonly string[];
  readonly quote: string;
}

/** Reads the box first when it `looks`, then says what it was told to, with the id of what it read. */
function detective(
  looks: boolean,
  say: (readId: string) => { confidence: number; evidence: readonly Evidence[] },
) {
  return (request: MessagesRequest): ScriptedReply => {
    const offered = new Set((request.tools ?? []).map((tool) => tool.name));
    if (offered.has('report_triage'))
      return { blocks: [{ tool: 'report_triage', input: { severity: 'critical', reason: 'broken' } }] };
    if (offered.has('report_no_action')) return { blocks: surgeon };
    const results = toolResultTexts(request);
    if (looks && results.length === 0)
      return { blocks: [{ tool: 'box_state', input: { target: 'box', why: 'look' } }] };
    const id = /"tool_call_id":"([^"]+)"/.exec(results[0] ?? '')?.[1] ?? '';
    const input = { verdict: 'cause_found', rootCause: 'The box is broken.', ...say(id) };
    return { blocks: [{ text: 'I know it.' }, { tool: 'report_diagnosis', input }] };
  };
}
let surgeon: ScriptedBlock[] = [];
const true_ = (id: string): Evidence => ({ claim: 'It is.', toolCallIds: [id], quote: 'broken: true' });

async function ended(scenario: (request: MessagesRequest) => ScriptedReply): Promise<IncidentRecord> {
  claude.play(scenario);
  const { incidentId } = await core.accept(boxAlert());
  if (!incidentId) throw new Error('not accepted');
  let seen: string | undefined;
  const done = async () => {
    seen = (await core.records.incident(incidentId))?.state;
    return seen === 'reported' || seen === 'awaiting_approval';
  };
  await waitFor('the end', done, { seen: () => seen });
  const record = await core.records.load(incidentId);
  if (!record) throw new Error('no record');
  expect(claude.requests.filter((request) => request.problem)).toEqual([]);
  return record;
}

const dropped = (record: IncidentRecord) =>
  record.events.flatMap((event) => (event.type === 'claim.dropped' ? [event.reason] : []));
const audited = async (record: IncidentRecord, kind: string) =>
  (
    await core.sql<Row>`SELECT body::jsonb AS body FROM audit_entry WHERE body::jsonb->>'kind' = ${kind}
                   AND body::jsonb->>'incident' = ${record.incident.id} ORDER BY seq`
  ).map((row) => (row['body'] as { details: Record<string, unknown> }).details);
const concluded = (record: IncidentRecord) =>
  record.events.flatMap((event) => (event.type === 'diagnosis.concluded' ? [event.diagnosis] : []));

describe('a claim', () => {
  it.each<[string, (id: string) => Evidence, RegExp]>([
    [
      'that cites a call which never happened',
      () => ({ claim: 'Gone.', toolCallIds: ['tc_000000000000'], quote: 'broken: true' }),
      /never happened/,
    ],
    [
      'whose quote is not there',
      (id) => ({ claim: 'On fire.', toolCallIds: [id], quote: 'broken: on fire' }),
      /quote does not stand/,
    ],
  ])(
    '%s is dropped: on record, in the thread and in the audit log, and takes confidence with it',
    async (_, make, reason) => {
      const record = await ended(
        detective(true, (id) => ({ confidence: 0.99, evidence: [true_(id), make(id)] })),
      );
      expect(dropped(record)).toEqual([expect.stringMatching(reason)]);
      const shown = record.events.map((event) => stepOf(event, {} as Parameters<typeof stepOf>[1]));
      expect(JSON.stringify(shown)).toContain('A claim was dropped');
      expect(await audited(record, 'claim.dropped')).toEqual([
        expect.objectContaining({ investigator: 'claude', reason: expect.stringMatching(reason) }),
      ]);
      expect(concluded(record)[0]).toMatchObject({ confidence: 0.5 });
      expect(record.incident.state).toBe('reported');
      expect(record.actions).toEqual([]);
    },
  );
});

describe('a certainty of 0.99', () => {
  it('from memory alone is none: the runbooks look for themselves, and nothing is proposed', async () => {
    const record = await ended(detective(false, () => ({ confidence: 0.99, evidence: [] })));
    expect(record.events.find((event) => event.type === 'investigator.fallback')).toMatchObject({
      reason: expect.stringContaining('nothing it read carries'),
    });
    expect(concluded(record).map(({ verdict }) => verdict)).toEqual(['cannot_tell']);
    expect(record.actions).toEqual([]);
  });

  it('on what was read before the alert came again is none either', async () => {
    const first = await ended(detective(true, (id) => ({ confidence: 0.8, evidence: [true_(id)] })));
    const old = first.toolCalls[0]?.id ?? '';
    claude.play(detective(false, () => ({ confidence: 0.99, evidence: [true_(old)] })));
    await core.steering.hint(first.incident.id, 'UONCALL', 'look again');
    await waitFor('the second diagnosis', async () => {
      const record = await core.records.load(first.incident.id);
      return record !== null && concluded(record).length === 2 && record.incident.state === 'reported';
    });
    const record = await core.records.load(first.incident.id);
    expect(record?.events.some((event) => event.type === 'investigator.fallback')).toBe(true);
    expect(record?.actions).toEqual([]);
  });
});

describe('a proposal', () => {
  it.each<[string, ScriptedBlock, string]>([
    [
      'of a tool that is not registered',
      { tool: 'box_burn', input: { target: 'box', why: 'x' } },
      'UNKNOWN_TOOL',
    ],
    [
      'for a target that is not configured',
      { tool: 'box_mend', input: { target: 'vault', how: 'glue', why: 'x' } },
      'UNKNOWN_TARGET',
    ],
  ])('%s is refused, on record and audited', async (_, call, code) => {
    surgeon = [call];
    const record = await ended((request) => {
      const refused = toolResultTexts(request).length > 0;
      const scripted = detective(true, (id) => ({ confidence: 0.95, evidence: [true_(id)] }))(request);
      const asSurgeon = (request.tools ?? []).some((tool) => tool.name === 'report_no_action');
      return asSurgeon && refused
        ? { blocks: [{ tool: 'report_no_action', input: { reason: 'It was refused.' } }] }
        : scripted;
    });
    expect(record.incident.state).toBe('reported');
    expect(record.actions).toEqual([]);
    expect(record.toolCalls.at(-1)).toMatchObject({ state: 'refused', code });
    expect(await audited(record, 'gate.refused')).toEqual([expect.objectContaining({ code })]);
    expect(machine.effects).toBe(0);
  });
});

describe('a playbook that takes over at planning', () => {
  it('plans only from what it has shown itself', async () => {
    surgeon = [];
    playbookSays = { ...FINDS_NOTHING, verdict: 'cause_found', rootCause: 'Ghosts.', confidence: 0.99 };
    const scripted = detective(true, (id) => ({ confidence: 0.95, evidence: [true_(id)] }));
    const record = await ended((request) =>
      (request.tools ?? []).some((tool) => tool.name === 'report_no_action')
        ? { stop: 'refusal', stopDetails: { category: 'cyber', explanation: 'no' } }
        : scripted(request),
    );
    expect(concluded(record).map(({ verdict }) => verdict)).toEqual(['cause_found', 'cannot_tell']);
    expect(record.incident.state).toBe('reported');
    expect(record.actions).toEqual([]);
  });
});
