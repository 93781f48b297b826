import { z } from 'zod';
import { type Described, defineOperation, ok } from './operation.ts';
import { Mutes, Part, Status, Watchers } from './schemas.ts';

const readStatus = defineOperation({
  id: 'readStatus',
  method: 'GET',
  path: '/api/v1/status',
  scope: 'read',
  summary: 'How Sentry is: mode, stops, unfinished incidents by state, cost, and the health of its parts.',
  response: Status,
  handle: async (api) => ok(await api.status()),
});

const listWatchers = defineOperation({
  id: 'listWatchers',
  method: 'GET',
  path: '/api/v1/watchers',
  scope: 'read',
  summary: 'The watched logs and systems, and how each is.',
  response: Watchers,
  handle: async (api) => ok(await api.watchers()),
});

const listMutes = defineOperation({
  id: 'listMutes',
  method: 'GET',
  path: '/api/v1/mutes',
  scope: 'read',
  summary: 'The mutes and maintenance windows that stand, and how many alerts each keeps waiting.',
  response: Mutes,
  handle: async (api) => ok(await api.mutes()),
});

export const statusOperations = [readStatus, listWatchers, listMutes];

/** What needs no token; `src/http/status-routes.ts` answers. */
export const openRequests: readonly Described[] = [
  {
    id: 'health',
    method: 'GET',
    path: '/health',
    scope: null,
    summary: 'The process lives.',
    response: z.object({ status: z.literal('ok') }),
  },
  {
    id: 'ready',
    method: 'GET',
    path: '/ready',
    scope: null,
    summary: 'Whether it can take alerts and work on them; 503 when it cannot.',
    response: z.object({ status: z.enum(['ready', 'degraded', 'not ready']), parts: z.array(Part) }),
    others: { 503: 'It cannot.' },
  },
];
