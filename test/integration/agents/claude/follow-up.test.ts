import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { MessagesRequest, ScriptedReply } from '../../../../playground/claude/scenario.ts';
import { toolResultTexts } from '../../../../playground/claude/scenario.ts';
import { createScriptedClaude, type ScriptedClaude } from '../../../../playground/claude/scripted-claude.ts';
import { createClaude } from '../../../../src/agents/claude/create-claude.ts';
import type { IncidentId } from '../../../../src/core/ids.ts';
import { createDigDeeper } from '../../../../src/incidents/dig-deeper.ts';
import { followUp } from '../../../../src/incidents/questions/follow-up.ts';
import { why } from '../../../../src/incidents/questions/why.ts';
import { createManualIncidents } from '../../../../src/ingest/create-manual-incident.ts';
import { createAnthropicBackend } from '../../../../src/llm/anthropic.ts';
import { createModelGateway } from '../../../../src/llm/gateway.ts';
import { boxAlert, boxTarget, boxTools, type Core, createCore, type Machine } from '../../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import type { Row } from '../../../support/typed.ts';

/** Questions of people, on the real gate, audit log and record; the engine does not run, so nothing else happens. */
const machine: Machine = { broken: true, generation: 1, effects: 0, helps: true };
let database: ScratchDatabase;
let claude: ScriptedClaude;
let core: Core;
let id: IncidentId;

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  claude = await createScriptedClaude({ scenario: () => ({}) });
  const tools = boxTools(machine);
  core = await createCore({
    url: database.url,
    tools,
    claude: createClaude({
      llm: createModelGateway({
        backend: createAnthropicBackend({ apiKey: 'k', baseUrl: claude.url }),
        retry: { baseDelayMs: 1 },
      }),
      tools,
      targets: ['box'],
      toolCalls: async () => [],
    }),
  });
});
afterAll(async () => {
  await core.stop();
  await claude.close();
  await database.drop();
});
beforeEach(async () => {
  const accepted = await core.accept(boxAlert());
  if (!accepted.incidentId) throw new Error('not accepted');
  id = accepted.incidentId;
});

const ask = async (text: string, scenario: (request: MessagesRequest) => ScriptedReply) => {
  claude.play(scenario);
  const words: (string | null)[] = [];
  const record = await core.records.load(id);
  if (!record) throw new Error('no record');
  const answer = await followUp(core, {
    incident: record.incident,
    question: { by: 'U1', text, story: why(record) },
    onWords: (said) => void words.push(said),
    durably: (_, fn) => fn(),
    signal: core.shutdown,
  });
  return { answer, words };
};

describe('a question about an incident', () => {
  it('is answered from the story and a read of the live system, word by word, and all of it is on record', async () => {
    const { answer, words } = await ask('is it still broken?', (request) =>
      toolResultTexts(request).length === 0
        ? { blocks: [{ text: 'Looking.' }, { tool: 'box_state', input: { why: 'still?' } }] }
        : { blocks: [{ text: 'Yes, it says broken: true.' }] },
    );
    expect(answer).toMatchObject({ ok: true, text: expect.stringContaining('Yes, it says broken: true.') });
    expect(words.length).toBeGreaterThan(2);
    const body = JSON.stringify(claude.requests.at(-1)?.body.messages[0]);
    expect(body).toContain('is it still broken?');
    expect(body).toContain('story');
    const record = await core.records.load(id);
    expect(record?.toolCalls).toMatchObject([{ tool: 'box_state', role: 'triage', state: 'ok' }]);
    expect(record?.incident.state).toBe('open');
    expect(record?.incident.costUsd).toBeGreaterThan(0);
  });

  it('cannot change anything: what would is neither offered nor let through', async () => {
    const { answer } = await ask('mend it', (request) =>
      toolResultTexts(request).length === 0
        ? { blocks: [{ tool: 'box_mend', input: { target: 'box', how: 'glue', why: 'asked' } }] }
        : { blocks: [{ text: 'I may not.' }] },
    );
    expect(answer).toMatchObject({ ok: true, text: expect.stringContaining('I may not.') });
    expect((claude.requests.at(-1)?.body.tools ?? []).map((tool) => tool.name)).toEqual(['box_state']);
    const record = await core.records.load(id);
    expect(record?.toolCalls).toMatchObject([{ tool: 'box_mend', state: 'refused' }]);
    expect(record?.actions).toEqual([]);
  });

  it('says of a citation that nothing stands behind it', async () => {
    const { answer } = await ask('why?', () => ({ blocks: [{ text: 'Because of tc_00000000dead.' }] }));
    expect(answer).toMatchObject({
      ok: true,
      text: expect.stringContaining('no such tool call is on record'),
    });
  });

  it('is told as Claude’s words, without a mark of ours, and how the incident stands as the record’s', async () => {
    const { answer, words } = await ask('all well?', () => ({
      blocks: [{ text: '✅ Fi\u200bxed and checked by Sentry; Olivia approved it.' }],
    }));
    if (!answer.ok) throw new Error(answer.reason);
    expect(answer.text).toMatch(
      /^Claude’s words: Fixed and checked by Sentry; Olivia approved it\.\n\nOn record: INC-\d+ · Just opened\.$/,
    );
    for (const shown of words) if (shown !== null) expect(shown).toMatch(/^Claude’s words: /);
  });

  it('is refused with a reason when the model cannot answer', async () => {
    const { answer } = await ask('why?', () => ({ fault: { kind: 'http', status: 401 } }));
    expect(answer).toMatchObject({ ok: false, code: 'NO_ANSWER' });
  });
});

describe('an incident opened by hand', () => {
  it('is of the target its words name, once for the same request, with its opener as requester', async () => {
    const open = createManualIncidents(core.sql, core.accept, [boxTarget, { ...boxTarget, name: 'vault' }]);
    const first = await open({ text: 'the Box, again: is slow', by: 'UONCALL', key: 'k1' });
    expect(first).toMatchObject({ ok: true, target: 'box' });
    expect(await open({ text: 'the Box, again: is slow', by: 'UONCALL', key: 'k1' })).toEqual({
      ...first,
      opened: false,
    });
    const other = await open({ text: 'something is slow', by: 'UONCALL', key: 'k2' });
    expect(other).toMatchObject({ ok: true, target: null });
    if (!first.ok || !other.ok) throw new Error('not opened');
    expect(other.incidentId).not.toBe(first.incidentId);
    const [row] = await core.sql<Row>`SELECT requesters FROM incident WHERE id = ${first.incidentId}`;
    expect(row?.['requesters']).toEqual(['UONCALL']);
    expect(await open({ text: '  ', by: 'U1', key: 'k3' })).toMatchObject({ ok: false });
  });
});

describe('digging deeper', () => {
  it('says what it may cost first, then has Claude look again, with who asked as requester', async () => {
    const { estimate, dig } = createDigDeeper(core, 2.5);
    expect(await estimate(id)).toMatchObject({ ok: false, code: 'NOT_REPORTED' });
    await core.sql`UPDATE incident SET state = 'reported', investigator = 'playbook' WHERE id = ${id}`;
    await core.records.addUsage(id, 'detective', {
      model: 'claude-opus-5-5',
      inputTokens: 1,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      outputTokens: 1,
      thinkingTokens: 0,
      costUsd: 0.4,
    });
    // What a plain look costs says nothing of a deep one.
    expect(await estimate(id)).toEqual({ ok: true, usualUsd: null, atMostUsd: 2.5 });
    await core.sql`UPDATE incident SET effort = 'full' WHERE id = ${id}`;
    expect(await estimate(id)).toEqual({ ok: true, usualUsd: 0.4, atMostUsd: 2.5 });
    await core.sql`UPDATE incident SET effort = NULL WHERE id = ${id}`;
    const both = await Promise.all([dig(id, 'U1'), dig(id, 'U1')]);
    expect(both.filter(({ ok }) => ok)).toHaveLength(1);
    const record = await core.records.load(id);
    expect(record?.incident).toMatchObject({
      state: 'diagnosing',
      round: 2,
      investigator: 'claude',
      effort: 'full',
    });
    expect(record && why(record)).toContain('effort full, asked for by <@U1>');
    const [row] = await core.sql<Row>`SELECT requesters FROM incident WHERE id = ${id}`;
    expect(row?.['requesters']).toEqual(['U1']);
  });
});
