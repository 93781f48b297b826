import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identifyInMemory, scoreStreams } from '../../../evals/normalize/score-streams.ts';
import { createAccept } from '../../../src/ingest/accept.ts';
import { alertSources } from '../../../src/sources/registry.ts';
import { type AcceptDatabase, acceptDatabase } from '../../support/accept-database.ts';
import { identityStreams } from '../../support/identity-streams.ts';
import { sentry } from '../../support/product.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import { domainOf } from '../../support/targets.ts';

let db: AcceptDatabase;
beforeAll(async () => {
  db = await acceptDatabase();
});
afterAll(() => db.close());

describe('which deliveries are one problem', () => {
  it('is right in every stream, as incidents are opened', async () => {
    const score = await scoreStreams(identityStreams, alertSources, async () => {
      await db.sql`TRUNCATE incident, alert, event, asked_turn, alert_end CASCADE`;
      const accept = createAccept(db.sql, [], domainOf);
      return async (alert) => (await accept(alert)).incidentId;
    });
    expect(score).toMatchObject({ merged: [], split: [] });
    expect(score.same).toBeGreaterThan(100);
    expect(score.different).toBeGreaterThan(100);
  });

  it('is right as it is scored without a database', async () => {
    const score = await scoreStreams(identityStreams, alertSources, async () =>
      identifyInMemory(alertSources),
    );
    expect(score).toMatchObject({ merged: [], split: [] });
  });
});

describe('sentry evals normalize', () => {
  it('scores fields by source and pairs of deliveries, and names what is wrong', async () => {
    const dir = scratchDir();
    const data = join(dir, 'samples');
    mkdirSync(data);
    const labels = { alertname: 'DiskFull', host: 'a', severity: 'critical' };
    const sample = {
      id: 'one',
      kind: 'alertmanager_webhook',
      payload: { alerts: [{ status: 'firing', labels }] },
    };
    const expected = { title: 'DiskFull', severity: 'warning', status: 'firing', target_any: ['a'] };
    const delivery = { stream: 's', source: 'alertmanager', payload: sample.payload };
    writeFileSync(
      join(data, 'a.jsonl'),
      [
        { ...sample, expected },
        { ...delivery, problem: 'p' },
        { ...delivery, problem: 'q' },
      ]
        .map((line) => JSON.stringify(line))
        .join('\n'),
    );
    const { code, stdout } = await sentry({ dataDir: dir }, ['evals', 'normalize', '--data', data]);
    expect(code).toBe(0);
    expect(stdout).toContain('alertmanager_webhook (webhook)  fields 3/4  status 1/1');
    expect(stdout).toContain('one: severity');
    expect(stdout).toContain('wrongly one  s: p / q');
    expect(stdout).toContain('1 of 1 pairs of two problems wrongly taken for one');
  });
});
