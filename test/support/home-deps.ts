import type { createHomeSources } from '../../src/app/home-facts.ts';
import type { BreakerView } from '../../src/safety/limits/cost-breaker.ts';
import type { HomeReader } from '../../src/slack/views/home-facts.ts';
import { directoryOf } from './directory.ts';
import { quiet } from './quiet.ts';

type Deps = Parameters<typeof createHomeSources>[0];

const limits = { usd: 5, windowMs: 600_000, perIncidentUsd: 10, perDayUsd: 100 };
const spent: BreakerView = {
  state: 'closed',
  since: '',
  reason: '',
  spentUsd: 0.25,
  reservedUsd: 0,
  todayUsd: 1.5,
  limits,
};
const no = async () => ({ ok: false, code: 'NO', reason: 'Nobody may.' }) as const;

/** What App Home asks, where nothing is set up and nothing has happened. */
export const homeDeps = (changes: Partial<Deps>): Deps => ({
  policy: { isAdmin: async () => false, takes: async () => 1, mayDecide: no, mayAsk: async () => undefined },
  directory: directoryOf({}),
  targets: [],
  tools: [],
  kinds: [],
  layers: async () => [],
  breaker: { view: async () => spent },
  model: null,
  runbooks: () => 30,
  switchLines: async () => ['Changes are not stopped: approved fixes run.'],
  isStopped: async () => false,
  onCall: async () => null,
  watched: async () => [],
  systems: async () => [],
  readerOf: () => null,
  records: { incident: async () => null, plan: async () => [] },
  record: {
    proposals: async () => [],
    holders: async () => new Map(),
    costOfDays: async () => [],
    lastLooks: async () => [],
    unread: async () => [],
    toolCalls: async () => [],
    lastWorked: async () => [],
    episodes: async () => [],
  },
  log: quiet,
  ...changes,
});

/** Somebody who may read all of these. */
export const homeReaderOf = (
  userId: string,
  recent: HomeReader['recent'] = [],
  mayRead: HomeReader['mayRead'] = async () => true,
): HomeReader => ({ userId, recent, mayRead });
