import { defineKind } from '../kind.ts';
import { adviseHttp } from '../prometheus/advise.ts';
import { type HttpConfig, httpFields, readHttp } from '../prometheus/config.ts';
import { connectLoki, type Loki } from './loki.ts';
import { queryLoki } from './query.ts';

const WITHIN_MS = 10_000;
const within = () => ({ timeoutMs: WITHIN_MS, signal: AbortSignal.timeout(WITHIN_MS) });

export const loki = defineKind<HttpConfig, Loki>({
  name: 'loki',
  plural: 'Loki servers',
  // As Prometheus, it knows of the problems of others.
  domains: [],
  fields: httpFields,
  read: readHttp,
  settings: () => ({}),
  reader: ({ username }) => username,
  connect: (config) => ({
    system: connectLoki(config),
    identity: async () => ({ systemIdentifier: `loki:${config.url}`, timelineId: 0 }),
    close: async () => undefined,
  }),
  doctor: async (_, { system }) => `Loki, its logs have ${await system.labels(within())} labels`,
  // Its version is not in the part of its API that readers reach.
  facts: async () => ({}),
  // What it counts is not its own.
  usual: null,
  watch: () => null,
  logs: () => [],
  advise: adviseHttp,
  // What to look for is not known without an alert.
  looks: [],
  tools: [queryLoki],
});
