import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { IncidentEventBody } from '../../../../src/core/event.ts';
import { asToolCallId, type IncidentId } from '../../../../src/core/ids.ts';
import { forgetIncident } from '../../../../src/memory/documents/forget.ts';
import { incidentEntry } from '../../../../src/memory/sync/sync-incidents.ts';
import { createRetrieval } from '../../../../src/search/retrieval.ts';
import { aDiagnosis } from '../../../support/incident-record.ts';
import { quiet } from '../../../support/quiet.ts';
import { type DocumentsRig, documentsRig, wholeDatabase } from './rig.ts';

let rig: DocumentsRig;
beforeAll(async () => {
  rig = await documentsRig();
});
afterAll(() => rig.close());

let forgotten: IncidentId;
let other: IncidentId;
beforeEach(async () => {
  forgotten = await rig.incident();
  other = await rig.incident();
  await rig.sql`UPDATE incident SET state = 'resolved', cause = 'The platypus job holds a lock.' WHERE id = ${forgotten}`;
  await rig.sql`UPDATE incident SET state = 'resolved', title = 'wombat' WHERE id = ${other}`;
});

const put = (event: IncidentEventBody) => rig.sql.begin((tx) => rig.events.append(tx, other, event));
const ran = (incident: IncidentId, command: string) => rig.sql`
  INSERT INTO episode (incident_id, error, diagnosis, command, result, success) VALUES (${incident}, '', '', ${command}, '', true)`;
const called = (id: string, tool: string, output: string, result: object = {}) => rig.sql`
  INSERT INTO tool_call (id, incident_id, role, tool, state, input, output, result, output_sha256, truncated, started_at, finished_at)
  VALUES (${id}, ${other}, 'detective', ${tool}, 'ok', '{}', ${output}, ${rig.sql.json(result as never)}, '', false, now(), now())`;
const forget = () => forgetIncident({ sql: rig.sql, audit: rig.audit }, forgotten, 'operator');
const past = (cause: string) => ({ cause, forIds: [], againstIds: [], end: 'open' }) as const;

describe('an incident that is forgotten leaves no words in another one,', () => {
  test.each<[string, () => Promise<unknown>]>([
    [
      'where it was recalled',
      () =>
        put({
          type: 'memory.recalled',
          when: 'start',
          incidents: [
            { incidentId: forgotten, title: 'platypus', distance: 0.1 },
            { incidentId: other, title: 'wombat', distance: 0.1 },
          ],
          runbooks: [],
          worked: [],
          failed: [],
          missing: null,
        }),
    ],
    [
      'where what it ran was recalled',
      async () => {
        await ran(forgotten, 'restart platypus');
        const more = {
          runbooks: [],
          worked: ['restart platypus'],
          failed: ['restart wombat'],
          missing: null,
        };
        await put({ type: 'memory.recalled', when: 'triaged', incidents: [], ...more });
      },
    ],
    [
      'where it was told as the last time',
      () =>
        put({
          type: 'incident.last_time',
          earlier: forgotten,
          endedAt: '2026-11-01T00:00:00Z',
          ended: 'confirmed',
          fixedBy: 'Restart platypus',
          failed: 'Stop platypus',
          undone: { act: 'Restart platypus', says: 'platypus runs again', by: null },
        }),
    ],
    [
      'where its cause was an explanation',
      () =>
        put({
          type: 'diagnosis.concluded',
          round: 1,
          diagnosis: aDiagnosis({
            origin: 'runbook',
            hypotheses: [past(`As in ${forgotten}: The platypus job`), past('A wombat')],
          }),
        }),
    ],
    [
      'where a model told of it by name',
      async () => {
        const rootCause = `As ${forgotten}, a platypus.`;
        await put({
          type: 'diagnosis.concluded',
          round: 1,
          diagnosis: aDiagnosis({ origin: 'model', rootCause }),
        });
        await put({ type: 'claim.dropped', claim: `platypus (${forgotten})`, reason: 'memory' });
      },
    ],
    [
      'where a memory tool told of it, and that was read again',
      async () => {
        await called('tc_a', 'memory_search', `incidents ${forgotten} platypus`);
        await called('tc_b', 'evidence_read', '1: platypus', { sources: ['tc_a'] });
        await called('tc_c', 'evidence_read', '1: platypus', { sources: ['tc_b'] });
        await called('tc_d', 'memory_search', 'Another cause (once): The platypus job holds a lock.');
        await called('tc_e', 'docker_logs', 'wombat', {});
        await put({
          type: 'tool.called',
          toolCallId: asToolCallId('tc_c'),
          role: 'detective',
          tool: 'evidence_read',
          purpose: null,
          state: 'ok',
          summary: '1: platypus',
        });
      },
    ],
    [
      'where it was asked about there',
      async () => {
        await rig.sql`
          INSERT INTO question (id, incident_id, asked_by, text, channel, ts, thread_ts, direct, answer)
          VALUES (${`C1:${other}`}, ${other}, 'UANN', 'and before?', 'C1', '1', '1', false, ${`${forgotten}: a platypus`})`;
        await rig.sql`
          INSERT INTO slack_answer (id, user_id, channel, thread_ts, said, incidents)
          VALUES (gen_random_uuid(), 'UANN', 'C1', '1', '{"text": "platypus"}', ARRAY[${forgotten}]::text[])`;
      },
    ],
  ])('%s', async (_, copied) => {
    await copied();
    const retrieval = createRetrieval({
      sql: rig.sql,
      vectors: { collection: () => expect.unreachable('Chroma was asked') },
      embedder: { fingerprint: 'none', embed: async () => [], close: async () => undefined },
      log: quiet,
    });
    const record = await rig.events.load(other);
    if (record) await retrieval.upsert({ kind: 'incident', scope: 'postgres' }, [incidentEntry(record)]);
    expect(await wholeDatabase(rig.sql)).toContain('platypus');
    expect(await forget()).toMatchObject({ ok: true });
    const left = await wholeDatabase(rig.sql);
    expect(left.toLowerCase()).not.toContain('platypus');
    expect(left).toContain('wombat');
  });

  test('and takes nothing that is the other’s own', async () => {
    await ran(forgotten, 'restart quokka');
    await ran(other, 'restart quokka');
    const more = { incidents: [], runbooks: [], worked: ['restart quokka'], failed: [], missing: null };
    await put({ type: 'memory.recalled', when: 'start', ...more });
    await put({ type: 'hint.given', by: 'UANN', text: `Is it ${forgotten} again, a quokka?` });
    await put({
      type: 'diagnosis.concluded',
      round: 1,
      diagnosis: aDiagnosis({ origin: 'runbook', rootCause: 'A quokka', hypotheses: [past('A quokka')] }),
    });
    await called('tc_own', 'memory_search', `${forgotten}0 quokka`);
    const before = (await rig.events.load(other))?.events;
    expect(await forget()).toMatchObject({ ok: true });
    const after = await rig.events.load(other);
    expect(after?.events).toEqual(before);
    expect(after?.toolCalls).toMatchObject([{ output: `${forgotten}0 quokka` }]);
  });
});
