import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPolicy } from '../../../src/actions/policy/read-policy.ts';
import { formatPreview, previewEfforts } from '../../../src/incidents/preview-efforts.ts';
import { createAccept } from '../../../src/ingest/accept.ts';
import { wholeMatcher } from '../../../src/safety/alert-matcher.ts';
import { type AcceptDatabase, acceptDatabase } from '../../support/accept-database.ts';
import { boxAlert, boxTarget } from '../../support/core.ts';
import { domainOf } from '../../support/targets.ts';

let database: AcceptDatabase;
beforeAll(async () => {
  database = await acceptDatabase();
});
afterAll(() => database.close());

test('tells what each rule and mute would have matched, and writes nothing', async () => {
  const { sql } = database;
  const accept = createAccept(sql, [boxTarget], domainOf);
  const say = (name: string, n: number, severity: 'warning' | 'critical' = 'warning') =>
    accept(boxAlert({ name, severity, labels: { alertname: name, instance: `${n}` } }));
  for (let n = 0; n < 3; n += 1) await say('A', n);
  await say('A', 9, 'critical');
  await say('B', 0);
  await accept(boxAlert({ source: 'hand', name: 'B' }));
  const policy = readPolicy(
    'rules: []\neffort: [{match: A, effort: none}, {match: Gone, effort: full}]',
    null,
  );
  const mute = wholeMatcher('alertname=~"A|B"');
  if (!('effort' in policy) || !mute.ok) throw new Error('not read');
  const before =
    await sql`SELECT pg_current_xact_id_if_assigned()::text AS x, (SELECT count(*) FROM event) AS n`;
  const preview = await previewEfforts(sql, { rules: policy.effort, mutes: [mute.matcher], days: 90 });
  expect(
    await sql`SELECT pg_current_xact_id_if_assigned()::text AS x, (SELECT count(*) FROM event) AS n`,
  ).toEqual(before);
  expect(preview).toMatchObject({
    alerts: 5,
    incidents: 5,
    rules: [
      { match: 'alertname="A"', alerts: 3, incidents: 3 },
      { match: 'alertname="Gone"', alerts: 0 },
    ],
    efforts: { none: 3, adaptive: 2, full: 0 },
    mutes: [{ alerts: 4, incidents: 4 }],
  });
  expect(formatPreview(preview).join('\n')).toMatch(/alertname="Gone": matches nothing/);
});
