import { afterAll, beforeAll, expect, test } from 'vitest';
import type { IncidentRecord } from '../../../../src/core/incident-record.ts';
import type { Sql, Tx } from '../../../../src/core/sql.ts';
import { createContextGathering } from '../../../../src/incidents/context/context-gathered.ts';
import type { ContextAbout } from '../../../../src/incidents/context/part.ts';
import type { InvestigationDeps } from '../../../../src/incidents/deps.ts';
import { forgetIncident } from '../../../../src/memory/documents/forget.ts';
import { quiet } from '../../../support/quiet.ts';
import { type DocumentsRig, documentsRig, wholeDatabase } from './rig.ts';

let rig: DocumentsRig;
beforeAll(async () => {
  rig = await documentsRig();
});
afterAll(() => rig.close());

test.each([false, true])(
  'a part that answers once all is forgotten (%s) writes its words accordingly',
  async (isForgotten) => {
    const id = await rig.incident();
    await rig.sql`UPDATE incident SET state = 'stopped' WHERE id = ${id}`;
    let answer: (found: { line: string }) => void = () => undefined;
    const slow = new Promise<{ line: string }>((resolve) => {
      answer = resolve;
    });
    let written = 0;
    const sql = Object.assign((...args: Parameters<Sql>) => rig.sql(...args), rig.sql, {
      begin: async (work: (tx: Tx) => Promise<unknown>) => {
        try {
          return await rig.sql.begin(work);
        } finally {
          written += 1;
        }
      },
    });
    const deps = { sql, records: rig.events, log: quiet, redact: (text: string) => text };
    const record = (await rig.events.load(id)) as IncidentRecord;
    const signal = new AbortController().signal;
    const part = { name: 'thread', label: 'In the thread', limitMs: 600_000, gather: () => slow };
    await createContextGathering([part]).gathered(
      deps as unknown as InvestigationDeps,
      { record, signal } as unknown as ContextAbout,
    );
    expect(written).toBe(1);
    if (isForgotten) await forgetIncident({ sql: rig.sql, audit: rig.audit }, id, 'operator');
    answer({ line: 'ann: “it is the platypus”' });
    await expect.poll(() => written).toBe(2);
    expect((await wholeDatabase(rig.sql)).includes('platypus')).toBe(!isForgotten);
    await rig.sql`UPDATE event SET body = '{"parts": []}' WHERE incident_id = ${id} AND type = 'context.gathered'`;
  },
);
