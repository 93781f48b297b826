import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectPrometheus } from '../../../../src/targets/prometheus/connect/connect-prometheus.ts';
import { prometheusInventory } from '../../../../src/targets/prometheus/inventory.ts';
import { inventoryChanges, titlesOf } from '../../../support/inventory-changes.ts';
import {
  type OwnExporter,
  type OwnPrometheus,
  ownExporter,
  PROMETHEUS_USER,
  prometheusMissing,
  startPrometheus,
} from '../../../support/prometheus.ts';
import { waitFor } from '../../../support/wait-for.ts';

const missing = prometheusMissing();
const rule = (most: number) => `\n  - alert: Slow\n    expr: shop_wait_seconds > ${most}\n`;

describe.skipIf(missing !== null)(missing === null ? 'a real one' : `skipped: ${missing}`, () => {
  let exporter: OwnExporter;
  let server: OwnPrometheus;
  beforeAll(async () => {
    exporter = await ownExporter('shop_wait_seconds 9\n');
    server = await startPrometheus({ scrape: { shop: exporter }, rules: rule(5) });
  });
  afterAll(async () => {
    await server.stop();
    await exporter.stop();
  });

  const connect = () => {
    const { username, password } = PROMETHEUS_USER;
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    return connectPrometheus({ url: server.url, headers: { authorization } });
  };
  const look = () => prometheusInventory(connect(), new AbortController().signal);

  test('an evaluation changes nothing; another rule and another thing to scrape are changes', async () => {
    const first = await look();
    expect(first).toMatchObject({ unread: [], empty: [] });
    // Whether it fires is another thing than what it says.
    await waitFor('it fires', async () => {
      const rules = await connect().alertingRules('Slow', {
        signal: AbortSignal.timeout(10_000),
        timeoutMs: 10_000,
      });
      return rules[0]?.state === 'firing';
    });
    expect(titlesOf(inventoryChanges(first, await look()))).toEqual([]);
    server.reload({ scrape: { shop: exporter, shop_too: exporter }, rules: rule(7) });
    const told = await waitFor('it is told', async () => {
      const titles = titlesOf(inventoryChanges(first, await look()));
      return titles.length === 2 ? titles : null;
    });
    expect(told).toEqual(['configuration of shop was changed', 'rule group test of shop was changed']);
    server.reload({ scrape: { shop: exporter }, rules: rule(5) });
    await waitFor('it is as before', async () => inventoryChanges(first, await look()).length === 0);
  });
});
