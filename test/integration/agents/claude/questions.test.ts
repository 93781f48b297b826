import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { MessagesRequest, ScriptedReply } from '../../../../playground/claude/scenario.ts';
import { toolResultTexts } from '../../../../playground/claude/scenario.ts';
import { createScriptedClaude, type ScriptedClaude } from '../../../../playground/claude/scripted-claude.ts';
import { createClaude } from '../../../../src/agents/claude/create-claude.ts';
import { asIncidentId, type IncidentId } from '../../../../src/core/ids.ts';
import type { AnswerEnd } from '../../../../src/incidents/ports.ts';
import { createAnswering } from '../../../../src/incidents/questions/answering.ts';
import { createQuestions, type Question } from '../../../../src/incidents/questions/questions.ts';
import { openDatabase } from '../../../../src/infra/db/client.ts';
import { createAnthropicBackend } from '../../../../src/llm/anthropic.ts';
import { createModelGateway } from '../../../../src/llm/gateway.ts';
import { boxTools, type Core, createCore, type Machine } from '../../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import type { Row } from '../../../support/typed.ts';
import { waitFor } from '../../../support/wait-for.ts';

/** People's questions on the real engine, gate and record: what a restart pays for again, what a *Stop* ends, and how fast. */
const machine: Machine = { broken: true, generation: 1, effects: 0, helps: true };
let database: ScratchDatabase;
let claude: ScriptedClaude;
let core: Core;
let id: IncidentId;
/** What became visible, by question. */
let shown: { readonly question: string; readonly end: AnswerEnd }[];
let asks = 0;
/** How often showing an answer fails. */
let failures = 0;
let play: (request: MessagesRequest) => ScriptedReply;

async function start(): Promise<Core> {
  const tools = boxTools(machine);
  const started: Core = await createCore({
    url: database.url,
    tools,
    places: {
      open: (question) => ({
        show: () => undefined,
        end: async (end) => {
          if (failures > 0) {
            failures -= 1;
            throw new Error('Slack is away');
          }
          shown.push({ question: question.id, end });
        },
        close: () => undefined,
      }),
    },
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
  await started.start();
  return started;
}

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  claude = await createScriptedClaude({ scenario: (request) => play(request) });
  play = () => ({});
  core = await start();
});
afterAll(async () => {
  claude.release();
  await core.stop();
  await claude.close();
  await database.drop();
});
beforeEach(async () => {
  shown = [];
  // Of no turn: only the questions are looked at.
  const [row] = await core.sql<Row>`
    INSERT INTO incident (title, severity, domain, target, source, fingerprint, labels, annotations, state)
    VALUES ('The box is broken', 'critical', 'postgres', 'box', 'test', gen_random_uuid()::text, '{}', '{}', 'reported')
    RETURNING id`;
  id = asIncidentId(String(row?.['id']));
  play = () => ({ blocks: [{ text: 'Yes.' }] });
});

const requests = () => claude.requests;

const aQuestion = (text: string, changes: Partial<Question> = {}): Question => {
  asks += 1;
  return {
    channel: 'D1',
    ts: `${asks}.0`,
    threadTs: `${asks}.0`,
    direct: true,
    incidentId: id,
    by: 'U1',
    text,
    ...changes,
  };
};

describe('a question whose answer is under way when the process ends', () => {
  it('is answered after the restart, once, and no finished message or read is paid for again', async () => {
    const before = requests().length;
    let hold = true;
    play = (request) => {
      if (toolResultTexts(request).length === 0)
        return { blocks: [{ text: 'Looking.' }, { tool: 'box_state', input: { why: 'still?' } }] };
      return { blocks: [{ text: 'It is still broken.' }], ...(hold ? { holdBefore: 'broken' } : {}) };
    };
    const question = aQuestion('is it still broken?');
    await core.questions.ask(question);
    await core.questions.ask(question);
    await waitFor('the second message to begin', async () => requests().length === before + 2);
    await claude.held();
    await core.stop();
    expect(shown).toEqual([]);
    hold = false;
    claude.release();
    core = await start();
    await waitFor('the answer', async () => shown.length > 0);
    expect(shown).toEqual([
      { question: `D1:${question.ts}`, end: { text: expect.stringContaining('It is still broken.') } },
    ]);
    const bodies = requests()
      .slice(before)
      .map(({ body }) => JSON.stringify(body.messages));
    // The first message once; the one that was cut off again, to the byte.
    expect(bodies).toHaveLength(3);
    expect(bodies[2]).toBe(bodies[1]);
    const [reads] = await core.sql<Row>`SELECT count(*)::int AS n FROM tool_call WHERE incident_id = ${id}`;
    expect(reads?.['n']).toBe(1);
    const [row] = await core.sql`SELECT state, answer FROM question WHERE id = ${`D1:${question.ts}`}`;
    expect(row).toEqual({ state: 'answered', answer: expect.stringContaining('It is still broken.') });
    // Said in private: that it was asked is on record, what was asked is not.
    const events = (await core.records.load(id))?.events.filter(({ type }) => type === 'question.asked');
    expect(events).toMatchObject([{ by: 'U1', text: '(in a direct message)' }]);
  });

  it('is not answered again when only its end was not on record', async () => {
    await core.questions.ask(aQuestion('is it?'));
    await waitFor('the answer', async () => shown.length === 1);
    const asked = requests().length;
    await core.stop();
    core = await start();
    await sleep(200);
    expect(requests()).toHaveLength(asked);
    expect(shown).toHaveLength(1);
  });
});

describe('an answer that cannot be shown', () => {
  it('is shown later as it was given: the model is not asked again', async () => {
    failures = 1;
    const before = requests().length;
    await core.questions.ask(aQuestion('is it?'));
    await waitFor('the answer', async () => shown.length === 1);
    expect(failures).toBe(0);
    expect(shown[0]?.end).toEqual({ text: expect.stringContaining('Yes.') });
    expect(requests()).toHaveLength(before + 1);
  });
});

describe('a question that keeps failing', () => {
  it('is told so at its last try, and what was said already stays said', async () => {
    const ended: AnswerEnd[] = [];
    const places = {
      open: () => ({
        show: () => undefined,
        end: async (end: AnswerEnd) => void ended.push(end),
        close: () => undefined,
      }),
    };
    const load = () => Promise.reject(new Error('a defect with postgres://app:s3cret@db inside'));
    const answer = createAnswering({ ...core, records: { ...core.records, load } }, places);
    const question = aQuestion('is it?');
    const key = `D1:${question.ts}`;
    await core.questions.note(question);
    await core.sql`UPDATE question SET state = 'asked' WHERE id = ${key}`;
    const once = <T>(_: string, fn: () => Promise<T>) => fn();
    await expect(answer(key, once)).rejects.toThrow('a defect');
    expect(ended).toEqual([]);
    await answer(key, once, true);
    expect(ended).toMatchObject([{ failed: expect.stringMatching(/ask again/) }]);
    expect(JSON.stringify(ended)).not.toContain('s3cret');
    const [row] = await core.sql`SELECT state FROM question WHERE id = ${key}`;
    expect(row).toEqual({ state: 'refused' });
  });
});

describe('questions of one conversation', () => {
  it('are answered one after another, each with what was said before', async () => {
    const first = aQuestion('is it broken?');
    const second = aQuestion('since when?', { threadTs: first.threadTs });
    await core.questions.ask(first);
    await core.questions.ask(second);
    await waitFor('both answers', async () => shown.length === 2);
    expect(shown.map(({ question }) => question)).toEqual([`D1:${first.ts}`, `D1:${second.ts}`]);
    const body = JSON.stringify(requests().at(-1)?.body.messages);
    expect(body).toContain('asked_before_in_this_conversation');
    expect(body).toContain('is it broken?');
    expect(await core.questions.lastOf('D1', first.threadTs)).toBe(id);
  });
});

/** Asks something whose answer has begun and does not go on; its request. */
async function heldQuestion() {
  play = () => ({ blocks: [{ text: 'It is still broken.' }], holdBefore: 'broken' });
  const before = requests().length;
  const question = aQuestion('and now?');
  await core.questions.ask(question);
  await waitFor('the model to be asked', async () => requests().length > before);
  await claude.held();
  return { question, request: requests().at(-1)! };
}

describe('*Stop*', () => {
  it('ends an answer at once, in another process too, and it stays stopped', async () => {
    const { question, request } = await heldQuestion();
    const other = otherProcess();
    try {
      expect(await other.questions.stop('D1', question.threadTs)).toBe(true);
      await waitFor('the model call to end', async () => request.goneAt !== undefined);
      await waitFor('the end', async () => shown.length === 1);
      expect(shown[0]?.end).toEqual({ stopped: true });
      expect(await other.questions.stop('D1', question.threadTs)).toBe(false);
    } finally {
      claude.release();
      await other.close();
    }
  });

  it('is heard again after the connection that listens was lost, and seen while it is lost', async () => {
    for (const wait of [false, true]) {
      const { question } = await heldQuestion();
      await core.sql`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'sentry listens' AND datname = current_database()`;
      if (wait) await waitFor('somebody to listen again', listens);
      const other = otherProcess();
      try {
        await other.questions.stop('D1', question.threadTs);
        await waitFor('the end', async () => shown.some((each) => each.question === `D1:${question.ts}`));
      } finally {
        claude.release();
        await other.close();
      }
    }
  });
});

/** All that another process shares with this one: the database. */
function otherProcess() {
  const { sql, close } = openDatabase(database.url);
  return { questions: createQuestions({ ...core, sql }), close };
}

async function listens(): Promise<boolean> {
  const [row] = await core.sql<Row>`
    SELECT count(*)::int AS n FROM pg_stat_activity
    WHERE application_name = 'sentry listens' AND datname = current_database()`;
  return row?.['n'] === 1;
}
