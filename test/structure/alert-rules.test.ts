import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { alertCounter } from '../../src/app/alert-metrics.ts';
import { type HealthSources, registerHealth } from '../../src/app/health-metrics.ts';
import { watchLayers } from '../../src/app/layers.ts';
import { countingErrors } from '../../src/app/model-metrics.ts';
import { createHttpServer } from '../../src/http/server.ts';
import type { ModelBackend } from '../../src/llm/backend.ts';
import { createAuditCheck } from '../../src/safety/audit/audit-check.ts';
import { missingPackages } from '../support/missing-packages.ts';
import { repository } from '../support/product.ts';
import { waitFor } from '../support/wait-for.ts';

const folder = join(repository, 'deploy/prometheus');
const missing = missingPackages('promtool', [['promtool', 'prometheus']]);

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}
const { groups } = parse(readFileSync(join(folder, 'sentry-alerts.yml'), 'utf8')) as {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);

it.skipIf(missing !== null)(
  `Prometheus takes the alert rules, and they say each illness and no health${missing ? ` (${missing})` : ''} [M7]`,
  () => {
    const promtool = (...args: readonly string[]) =>
      execFileSync('promtool', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
    expect(promtool('check', 'rules', 'sentry-alerts.yml')).toContain(`${rules.length} rules found`);
    expect(promtool('test', 'rules', 'sentry-alerts.test.yml')).toContain('SUCCESS');
  },
);

it('each rule has a test that sees it fire [M7]', () => {
  const tests = readFileSync(join(folder, 'sentry-alerts.test.yml'), 'utf8');
  for (const { alert, labels } of rules)
    expect(tests).toContain(`{alertname="${alert}",severity="${labels.severity}"}`);
});

it('each rule says how bad it is, what is wrong and what to do next [M7]', () => {
  for (const { labels, annotations } of rules) {
    expect(['critical', 'warning', 'info']).toContain(labels.severity);
    expect(Object.keys(annotations)).toEqual(['summary', 'next_step']);
  }
});

it('the rules ask for what Sentry exports, by labels that it has [M7]', async () => {
  const exported = await labelsByFamily();
  const asked = rules.flatMap(({ expr }) => selectorsIn(expr));
  expect(asked.length).toBeGreaterThanOrEqual(rules.length);
  expect(asked.filter(({ name }) => !exported.has(name))).toEqual([]);
  for (const { name, labels } of asked)
    expect(exported.get(name)).toEqual(expect.arrayContaining([...labels]));
});

it('docs/operations.md has a row for each family of health [M7]', async () => {
  const metrics = new Registry();
  registerHealth(metrics, nothing);
  const docs = readFileSync(join(repository, 'docs/operations.md'), 'utf8');
  const families = (await metrics.getMetricsAsJSON()).map(({ name }) => name);
  expect(families.length).toBeGreaterThan(10);
  expect(families.filter((name) => !docs.includes(`| \`${name}`))).toEqual([]);
});

function selectorsIn(expr: string): { readonly name: string; readonly labels: readonly string[] }[] {
  const found: { name: string; labels: string[] }[] = [];
  parser.parse(expr).iterate({
    enter: ({ node, name, from, to }) => {
      if (name === 'VectorSelector') {
        const identifier = node.getChild('Identifier');
        expect(identifier).not.toBeNull();
        found.push({ name: expr.slice(identifier?.from, identifier?.to), labels: [] });
      }
      if (name === 'LabelName' && node.parent?.name.endsWith('LabelMatcher'))
        found.at(-1)?.labels.push(expr.slice(from, to));
    },
  });
  return found;
}

const nothing: HealthSources = {
  probes: {
    record: async () => undefined,
    turnQueue: () => Promise.reject(new Error('not here')),
    slack: () => ({
      ok: true,
      mode: 'http',
      connections: 0,
      problem: null,
      oldestWaitMs: 0,
      lastEventMs: null,
      givenUp: 0,
    }),
  },
  workload: () => Promise.reject(new Error('not here')),
  loop: () => ({ p99Ms: 0, longestMs: 0, stalls: 0 }),
  targets: new Map(),
  systems: async () => [],
  chroma: null,
};

/** All that registers a family of Sentry's which a rule may ask for, as the product does. */
async function labelsByFamily(): Promise<ReadonlyMap<string, readonly string[]>> {
  const metrics = new Registry();
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
  };
  registerHealth(metrics, nothing);
  countingErrors({} as ModelBackend, metrics);
  alertCounter(metrics);
  watchLayers(async () => [], metrics)();
  createHttpServer({ host: '127.0.0.1', port: 0, routes: [], log, metrics });
  const verify = async () => ({ ok: true, entries: 0, hash: '', checkpoints: 0, unchecked: 0 }) as const;
  const check = createAuditCheck({ verify, metrics, log, tell: async () => undefined });
  check.start();
  await waitFor('the audit log is verified', async () => check.last() !== null);
  await check.stop();
  const families = metrics.getMetricsAsArray() as unknown as readonly {
    readonly name: string;
    readonly labelNames: readonly string[];
  }[];
  return new Map(families.map(({ name, labelNames }) => [name, labelNames]));
}
