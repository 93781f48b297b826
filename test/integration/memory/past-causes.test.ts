import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { asIncidentId } from '../../../src/core/ids.ts';
import type { Incident } from '../../../src/core/incident.ts';
import type { Json } from '../../../src/core/tool-call.ts';
import { recallIncidents } from '../../../src/memory/past/recall-incidents.ts';
import { type AcceptDatabase, acceptDatabase } from '../../support/accept-database.ts';
import { everybodyReads } from '../../support/audiences.ts';
import { anIncident } from '../../support/incidents.ts';
import { quiet } from '../../support/quiet.ts';

let db: AcceptDatabase;
beforeAll(async () => {
  db = await acceptDatabase();
});
afterAll(() => db.close());

const embedder = { fingerprint: 'f', embed: async () => [[1, 0]], close: async () => undefined };
const vectors = {
  collection: () => ({
    upsert: async () => undefined,
    query: async () => [{ id: 'INC-4001', distance: 0.1, document: '', metadata: {} }],
    list: async () => [],
    remove: async () => undefined,
  }),
};

describe('a past cause', () => {
  const alert = { title: 'Container web-1 is down', labels: { container: 'web-1' }, annotations: {} };
  beforeEach(async () => {
    await db.sql`DELETE FROM incident WHERE id IN ('INC-4001', 'INC-4002')`;
    await put('INC-4001', 'A wrong option.', '2026-11-01T10:00:00Z');
    await reads('INC-4001', { container: 'web-1' });
  });

  const put = (id: string, cause: string, openedAt: string, resolvedBy = 'confirmed') => db.sql`
    INSERT INTO incident (id, title, alert_name, incident_type, state, cause, severity, domain, target, source, fingerprint,
                          labels, annotations, opened_at, resolved_by)
    VALUES (${id}, ${alert.title}, 'ContainerDown', 'down', 'resolved', ${cause}, 'critical', 'docker', 'shop', 'test', 'down',
            ${db.sql.json(alert.labels)}, '{}', ${openedAt}, ${resolvedBy})`;
  const reads = async (incident: string, input: Json) => {
    const id = `tc_${incident}`;
    await db.sql`
      INSERT INTO tool_call (id, incident_id, role, tool, target, input, state, output, output_sha256, truncated, started_at, finished_at)
      VALUES (${id}, ${incident}, 'detective', 'docker_logs', 'shop', ${db.sql.json(input)}, 'ok', 'o', 'h', false, now(), now())`;
    await db.sql`
      INSERT INTO event (incident_id, type, body, dedupe_key) VALUES (${incident}, 'diagnosis.concluded', ${db.sql.json(
        {
          round: 1,
          diagnosis: { verdict: 'cause_found', evidence: [{ claim: 'c', toolCallIds: [id], quote: null }] },
        },
      )}, 'd')`;
  };
  const grade = (incident: string, by: string, answer: boolean) => db.sql`
    INSERT INTO grade (incident_id, question, by, answer) VALUES (${incident}, 'cause_right', ${by}, ${answer})`;
  const recalled = async (now: Partial<Incident> = {}) => {
    const { incidents } = await recallIncidents(
      {
        sql: db.sql,
        vectors,
        embedder,
        audiences: everybodyReads,
        log: quiet,
        cuts: () => ({ sameKind: 0.65, unnamed: 0.35 }),
      },
      anIncident({ id: asIncidentId('INC-98'), domain: 'docker', target: 'shop', ...alert, ...now }),
      'down',
      1_000,
    );
    return incidents[0];
  };
  const web2 = { title: 'Container web-2 is down', labels: { container: 'web-2' } };

  test.each<[string, Partial<Incident>, Json, boolean]>([
    ['is read of the same object again', {}, { container: 'web-1' }, true],
    ['is not read of another object than the alert is about now', web2, { container: 'web-1' }, false],
    [
      'is not read of what only begins like it',
      { title: 'web-1-backup is down', labels: {} },
      { container: 'web-1' },
      false,
    ],
    ['is read of what no alert named', web2, { container: 'db-1' }, true],
    ['is not read on another target', { target: 'shop-2' }, {}, false],
    ['is not read by a process of then in a query', {}, { query: 'pid = 7157' }, false],
    ['is not read by what had to be withheld', {}, { query: 'password=hunter2hunter2' }, false],
  ])('%s', async (_, now, input, isRead) => {
    await db.sql`UPDATE tool_call SET input = ${db.sql.json(input)} WHERE id = 'tc_INC-4001'`;
    expect((await recalled(now))?.check?.read).toEqual({ tool: 'docker_logs', input: isRead ? input : null });
  });

  test('comes back without a secret in it', async () => {
    await db.sql`UPDATE incident SET cause = 'It ran with password=hunter2hunter2.' WHERE id = 'INC-4001'`;
    expect((await recalled())?.check?.cause).not.toContain('hunter2');
  });

  test('that people said was wrong is no explanation to be tested, and said to be wrong', async () => {
    await grade('INC-4001', 'U1', true);
    expect(await recalled()).toMatchObject({ check: { cause: 'A wrong option.' } });
    await grade('INC-4001', 'U2', false);
    const one = await recalled();
    expect(one).not.toHaveProperty('check');
    expect(one?.document).toContain('People said that the cause below was wrong.');
  });

  test('that people said was wrong is none where it was only said again, and is one where it was fixed', async () => {
    await grade('INC-4001', 'U2', false);
    await put('INC-4002', 'A wrong option.', '2026-11-02T10:00:00Z', 'source');
    expect(await recalled()).not.toHaveProperty('check');
    await db.sql`UPDATE incident SET resolved_by = 'confirmed' WHERE id = 'INC-4002'`;
    expect(await recalled()).toMatchObject({ check: { incidentId: 'INC-4002' } });
    await db.sql`UPDATE incident SET cause = 'No memory is left.', resolved_by = 'source' WHERE id = 'INC-4002'`;
    const one = await recalled();
    expect(one).toMatchObject({ check: { incidentId: 'INC-4002', cause: 'No memory is left.' } });
    expect(one?.document).toContain('Another cause (once; people said it was wrong): A wrong option.');
  });
});
