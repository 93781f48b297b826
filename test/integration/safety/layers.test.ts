import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countingRefusals, formatLayers, layersNow, watchLayers } from '../../../src/app/layers.ts';
import { loadConfig } from '../../../src/config/config.ts';
import { verifyHere } from '../../../src/safety/audit/audit-check.ts';
import { createKillSwitch } from '../../../src/safety/kill-switch/kill-switch.ts';
import { layerNames, layerOf, layerStatus, on } from '../../../src/safety/layers.ts';
import { createCostBreaker } from '../../../src/safety/limits/cost-breaker.ts';
import { allTools } from '../../../src/targets/all-tools.ts';
import { quiet } from '../../support/quiet.ts';
import type { Row } from '../../support/typed.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createRig, type Rig, typed } from '../actions/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await createRig();
});
afterAll(() => rig.stop());

const look = (env: Record<string, string> = {}) => {
  const { sql, audit } = rig.core;
  const config = loadConfig({ SENTRY_DATA_DIR: rig.dataDir, ...env });
  const breaker = createCostBreaker({ sql, audit, limits: config.cost, log: quiet });
  const killSwitch = createKillSwitch(sql, config);
  const verified = () => verifyHere(sql, rig.dataDir);
  return layersNow({ config, tools: allTools, sql, killSwitch, breaker, verified });
};
const stateOf = async (name: string, env: Record<string, string> = {}) =>
  (await look(env)).find((layer) => layer.name === name);

test('all fifteen of the seed, each with a word on how it stands', async () => {
  const layers = await look();
  expect(layers.map(({ number, name }) => [number, name])).toEqual(
    layerNames.map((name, index) => [index + 1, name]),
  );
  expect(layers).toHaveLength(15);
  for (const { says } of layers) expect(says.length).toBeGreaterThan(10);
  expect(formatLayers(layers)).toMatch(/^Security layers: \d+ of 15 on/);
});

describe('what is so is said', () => {
  test('a role without an identity', async () => {
    expect(await stateOf('identity vault')).toMatchObject({
      state: 'on',
      says: expect.stringContaining('6 of 6 roles'),
    });
    const [row] = await rig.core.sql<Row>`SELECT id FROM identity WHERE name = 'triage'`;
    await rig.core.identities.revoke(String(row?.['id']), 'UADMIN', 'leaked');
    expect(await stateOf('identity vault')).toMatchObject({
      state: 'part',
      says: expect.stringContaining('5 of 6 roles'),
    });
    await rig.core.identities.rotate('triage', 'UADMIN');
  });

  test('who may change the audit log', async () => {
    expect(await stateOf('audit log')).toMatchObject({
      state: 'part',
      says: expect.stringContaining('owns it'),
    });
  });

  test('an audit log that is not whole: no tick, on App Home in words [F15] [S-36] [S-claims]', async () => {
    await rig.core.audit.append({ kind: 'test', actor: 'system', details: { n: 1 } });
    expect((await stateOf('audit log'))?.says).toContain('as they were written');
    await typed(rig, 'ALTER TABLE audit_entry DISABLE TRIGGER ALL');
    await typed(
      rig,
      `UPDATE audit_entry SET body = replace(body, '"n":1', '"n":2') WHERE body LIKE '%"n":1%'`,
    );
    expect(await stateOf('audit log')).toMatchObject({
      state: 'off',
      says: expect.stringContaining('not as it was written'),
    });
    expect(formatLayers(await look())).toContain('sentry audit verify');
    await typed(
      rig,
      `UPDATE audit_entry SET body = replace(body, '"n":2', '"n":1') WHERE body LIKE '%"n":2%'`,
    );
  });

  test('a stop, no limit, a port that is open without a secret', async () => {
    await typed(rig, `UPDATE switch SET stopped = true, by = 'UADMIN' WHERE scope = '*'`);
    expect((await stateOf('human switch'))?.says).toContain('Stopped');
    await typed(rig, `UPDATE switch SET stopped = false`);
    expect((await stateOf('human switch'))?.says).toContain('ACTIVE');
    expect(await stateOf('throttle', { SENTRY_THROTTLE: ' ' })).toMatchObject({ state: 'off' });
    const open = { SENTRY_HTTP_HOST: '0.0.0.0' };
    expect(await stateOf('HTTP', open)).toMatchObject({ state: 'part' });
    expect(await stateOf('HTTP', { ...open, SENTRY_WEBHOOK_SECRET: 'long enough' })).toMatchObject({
      state: 'on',
    });
  });

  test('a layer that cannot be asked is off', async () => {
    const probes = Object.fromEntries(layerNames.map((name) => [name, () => on('well')])) as never;
    const broken = {
      ...(probes as object),
      throttle: () => Promise.reject(new Error('no database')),
    } as never;
    expect((await layerStatus(broken, String)).filter(({ state }) => state === 'off')).toEqual([
      { number: 4, name: 'throttle', state: 'off', says: 'it cannot be told: Error: no database' },
    ]);
  });
});

test('each has a metric: whether it is on, and what it has stopped', async () => {
  const metrics = new Registry();
  const end = watchLayers(() => look(), metrics);
  await waitFor('the first look', async () =>
    (await metrics.metrics()).includes('sentry_layer_on{layer="throttle"} 1'),
  );
  end();
  expect(await metrics.metrics()).toContain('sentry_layer_on{layer="audit log"} 0.5');
  const audit = countingRefusals(rig.core.audit, metrics);
  const refused = (code: string) =>
    audit.append({ kind: 'gate.refused', actor: 'detective', details: { code } });
  await refused('TOO_MANY_CALLS');
  await refused('PATH_OUTSIDE');
  await refused('PATH_SECRET');
  await refused('EXPIRED');
  expect(await metrics.metrics()).toContain('sentry_layer_refusals_total{layer="path validation"} 2');
  expect(await metrics.metrics()).toContain('sentry_layer_refusals_total{layer="throttle"} 1');
  expect(await metrics.metrics()).toContain('sentry_audit_entries_total{kind="gate.refused"} 4');
  expect(layerOf('EXPIRED')).toBeUndefined();
});
