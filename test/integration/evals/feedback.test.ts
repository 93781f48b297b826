import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replayPlaybook } from '../../../evals/replay/investigators.ts';
import { replayIncident } from '../../../evals/replay/replay.ts';
import { reportRows, reportTable } from '../../../evals/score/report.ts';
import { USERS } from '../../../playground/slack/seed.ts';
import type { Message } from '../../../playground/slack/slack-shapes.ts';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import { gradesOf } from '../../../src/core/grade.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import { outcomesOf } from '../../../src/memory/context/outcomes.ts';
import { createGrades } from '../../../src/record/grades.ts';
import { incidentResults } from '../../../src/record/incident-results.ts';
import { aDiagnosis, wholeIncident } from '../../support/incident-record.ts';
import { textOf } from '../../support/local-slack.ts';
import { eventually, type SlackScene, slackScene } from '../../support/slack-scene.ts';
import type { Row } from '../../support/typed.ts';
import { press } from '../slack/card.ts';

let scene: SlackScene;
beforeEach(async () => {
  scene = await slackScene();
});
afterEach(() => scene.close());

/** What was said up to the diagnosis, which followed this runbook. */
const diagnosed = (runbookId: string): readonly IncidentEventBody[] => [
  ...wholeIncident.slice(1, 7),
  { type: 'diagnosis.concluded', round: 1, diagnosis: aDiagnosis({ runbookId }) },
];
const resolved: readonly IncidentEventBody[] = [
  { type: 'state.changed', from: 'diagnosing', to: 'reported', reason: 'told' },
  { type: 'incident.summary', text: 'It is over.' },
  { type: 'state.changed', from: 'reported', to: 'resolved', reason: 'over' },
];

async function question(): Promise<Message> {
  return eventually(async () => {
    const asking = (await scene.messages()).filter((one) => textOf(one).includes('Was the cause right?'));
    expect(asking).toHaveLength(1);
    return asking[0] as Message;
  });
}

/** The message is edited after each answer; its buttons are new then. */
const shown = (mark: string) =>
  eventually(async () => expect(JSON.stringify((await question()).blocks)).toContain(mark));

const graded = async (id: IncidentId) => gradesOf((await scene.records.load(id))?.events ?? []);

describe('a resolved incident', () => {
  it('asks once, takes one answer per person that may be changed, and shows who said what', async () => {
    await scene.bot({
      grade: (id, grade) => createGrades(scene.sql, scene.records).give(id, grade),
    });
    const id = await scene.incident([...diagnosed('blocked-sessions'), ...resolved]);
    await press(scene, await question(), 'sentry_grade_cause_right_yes');
    await eventually(async () => expect(await graded(id)).toHaveLength(1));
    await shown('Yes: ');
    await press(scene, await question(), 'sentry_grade_cause_right_no');
    await shown('No: ');
    await press(scene, await question(), 'sentry_grade_cause_right_yes', USERS.admin);
    await eventually(async () => {
      expect(await graded(id)).toEqual([
        { question: 'cause_right', by: USERS.onCall, answer: false },
        { question: 'cause_right', by: USERS.admin, answer: true },
      ]);
    });
    await shown('Yes: ');
    await shown('No: ');
    // It comes back and ends again: nobody is asked twice.
    await scene.append(
      id,
      { type: 'state.changed', from: 'resolved', to: 'diagnosing', reason: 'again' },
      { type: 'diagnosis.concluded', round: 2, diagnosis: aDiagnosis() },
      ...resolved,
    );
    await eventually(async () =>
      expect((await scene.messages()).filter((one) => textOf(one).includes('⚪ Over ·'))).toHaveLength(2),
    );
    await question();
  });

  it('asks nothing where nothing was diagnosed', async () => {
    await scene.bot();
    await scene.incident([
      { type: 'state.changed', from: 'open', to: 'resolved', reason: 'the source says so' },
    ]);
    await eventually(async () => {
      const messages = await scene.messages();
      expect(messages.some((one) => textOf(one).includes('⚪ Over ·'))).toBe(true);
      expect(messages.some((one) => textOf(one).includes('Was this useful?'))).toBe(false);
    });
  });
});

describe('grades', () => {
  it('move the record of the runbook and of the incident, the last answer of each person only', async () => {
    const grades = createGrades(scene.sql, scene.records);
    const id = await scene.incident(diagnosed('blocked-sessions'));
    const give = (by: string, answer: boolean) => grades.give(id, { question: 'cause_right', by, answer });
    expect(await give('UONE', true)).toEqual({ ok: true, changed: true });
    expect(await give('UONE', true)).toEqual({ ok: true, changed: false });
    await give('UTWO', true);
    await give('UTWO', false);
    expect(await outcomesOf(scene.sql, ['blocked-sessions', id, 'other'])).toEqual(
      new Map([
        ['blocked-sessions', { worked: 1, failed: 1 }],
        [id, { worked: 1, failed: 1 }],
      ]),
    );
    const events = (await scene.records.load(id))?.events.filter(({ type }) => type === 'grade.given');
    expect(events).toHaveLength(3);
  });

  it('given at the same moment by the same person end as one', async () => {
    const grades = createGrades(scene.sql, scene.records);
    const id = await scene.incident(diagnosed('blocked-sessions'));
    await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        grades.give(id, { question: 'useful', by: 'UONE', answer: n % 2 === 0 }),
      ),
    );
    const [row] = await scene.sql<Row>`SELECT count(*)::int AS n, bool_and(answer) AS answer FROM grade`;
    expect(row?.['n']).toBe(1);
    expect((await graded(id)).map(({ answer }) => answer)).toEqual([row?.['answer']]);
  });

  it('are refused where there is nothing to grade', async () => {
    const id = await scene.incident();
    expect(
      await createGrades(scene.sql, scene.records).give(id, { question: 'useful', by: 'UONE', answer: true }),
    ).toMatchObject({ ok: false, code: 'NOTHING_TO_GRADE' });
  });

  it('stand in the report, by runbook, with what was called wrong', async () => {
    const grades = createGrades(scene.sql, scene.records);
    const first = await scene.incident(diagnosed('blocked-sessions'));
    await scene.incident(diagnosed('blocked-sessions'));
    await scene.incident(diagnosed('table-bloat'));
    await grades.give(first, { question: 'cause_right', by: 'UONE', answer: false });
    await grades.give(first, { question: 'useful', by: 'UONE', answer: true });
    const results = await incidentResults(scene.sql, 100);
    expect(reportRows(results)).toMatchObject([
      {
        what: 'blocked-sessions',
        incidents: 2,
        causes: 2,
        right: { yes: 0, no: 1 },
        useful: { yes: 1, no: 0 },
      },
      { what: 'table-bloat', incidents: 1, right: { yes: 0, no: 0 } },
    ]);
    expect(reportTable(results)).toMatch(new RegExp(`Called wrong by somebody:\n {2}${first} `));
    expect(reportTable([])).toContain('No incident');
  });
});

describe('a replay', () => {
  it('compares with what is on record, and writes nothing', async () => {
    const id = await scene.incident(diagnosed('blocked-sessions'));
    await scene.propose(id);
    const dump = async () => [
      await scene.sql`SELECT * FROM incident ORDER BY id`,
      await scene.sql`SELECT * FROM event ORDER BY seq`,
      await scene.sql`SELECT * FROM tool_call ORDER BY id`,
      await scene.sql`SELECT * FROM action ORDER BY id`,
    ];
    const before = JSON.stringify(await dump());
    const record = await scene.records.load(id);
    if (!record) throw new Error('no record');
    const report = await replayIncident({
      record,
      make: replayPlaybook([]),
      name: 'playbook',
      tools: [],
      runbooks: [],
      signal: new AbortController().signal,
    });
    expect(report.recorded).toMatchObject({
      investigator: 'playbook',
      diagnosis: { verdict: 'cause_found' },
    });
    expect(report.replayed).toMatchObject({
      diagnosis: { verdict: 'cannot_tell' },
      costUsd: 0,
      failed: null,
    });
    expect(report.compared).toMatchObject({ sameVerdict: false, sameCategory: false });
    expect(JSON.stringify(await dump())).toBe(before);
  });
});
