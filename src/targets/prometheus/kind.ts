import { count } from '../../core/count.ts';
import { defineKind } from '../kind.ts';
import { adviseHttp } from './advise.ts';
import { type HttpConfig, httpFields, readHttp } from './config.ts';
import { connectPrometheus } from './connect/connect-prometheus.ts';
import { prometheusInventory } from './inventory.ts';
import { prometheusAlert } from './read/alert.ts';
import { comparePrometheus } from './read/compare.ts';
import { queryPrometheus } from './read/query.ts';
import { relatedSeries } from './read/related.ts';
import { prometheusTargets } from './read/targets.ts';
import type { Prometheus } from './system.ts';

const WITHIN_MS = 10_000;
const within = () => ({ timeoutMs: WITHIN_MS, signal: AbortSignal.timeout(WITHIN_MS) });

export const prometheus = defineKind<HttpConfig, Prometheus>({
  name: 'prometheus',
  plural: 'Prometheus servers',
  // It has no problems of its own kind: it knows of those of others.
  domains: [],
  fields: httpFields,
  read: readHttp,
  settings: () => ({}),
  reader: ({ username }) => username,
  connect: (config) => ({
    system: connectPrometheus(config),
    // Nothing is changed there, and a restored copy tells the same.
    identity: async () => ({ systemIdentifier: `prometheus:${config.url}`, timelineId: 0 }),
    close: async () => undefined,
  }),
  async doctor(_, { system }) {
    const [version, targets] = await Promise.all([system.version(within()), system.scrapeTargets(within())]);
    const up = targets.filter(({ health }) => health === 'up').length;
    return `Prometheus ${version}, ${up} of ${count(targets.length, 'scrape target')} are up`;
  },
  facts: async (system) => ({ prometheus: await system.version(within()) }),
  inventory: prometheusInventory,
  // It keeps its own past, which its tools compare with.
  usual: null,
  watch: () => null,
  logs: () => [],
  advise: adviseHttp,
  looks: [{ tool: 'prometheus_targets', why: 'What it can scrape' }],
  tools: [prometheusAlert, queryPrometheus, comparePrometheus, relatedSeries, prometheusTargets],
});
