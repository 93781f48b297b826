import { toolsOf } from '../../tools/define.ts';
import type { PostgresSystem } from './system.ts';

/** How the tools of PostgreSQL are made. */
export const postgresTool = toolsOf<PostgresSystem>('postgres', 'postgres');
