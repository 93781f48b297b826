import { z } from 'zod';
import { changeOperations } from './change-operations.ts';
import { incidentOperations } from './incident-operations.ts';
import { memoryOperations } from './memory-operations.ts';
import { openApi } from './open-api.ts';
import { type Described, defineOperation, type Operation, ok } from './operation.ts';
import { openRequests, statusOperations } from './status-operations.ts';

const readOpenApi = defineOperation({
  id: 'readOpenApi',
  method: 'GET',
  path: '/api/v1/openapi.json',
  scope: 'read',
  summary: 'This description, as OpenAPI 3.1. `sentry openapi` prints it without a token.',
  response: z.looseObject({ openapi: z.string() }),
  handle: async () => ok(openApi(described)),
});

/** The HTTP API, all of it: the server's routes, the OpenAPI document, docs/api.md and the contract test are made from this. */
export const operations: readonly Operation[] = [
  ...statusOperations,
  ...incidentOperations,
  ...changeOperations,
  ...memoryOperations,
  readOpenApi,
];

/** With the requests that need no token. */
export const described: readonly Described[] = [...operations, ...openRequests];
