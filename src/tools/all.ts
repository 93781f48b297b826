import { postgresTerminateBackend } from './active/postgres/terminate-backend.ts';
import type { Tool } from './define.ts';
import { postgresBlockingTree } from './read/postgres/blocking-tree.ts';
import { postgresSession } from './read/postgres/session.ts';

/** Every tool Sentry has, in the order models are shown them. */
export const allTools: readonly Tool[] = [postgresBlockingTree, postgresSession, postgresTerminateBackend];
