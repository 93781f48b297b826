import { toolsOf } from '../../tools/define.ts';
import type { Host } from './system.ts';

/** How the tools of hosts are made. A host's domain is configured, so they are offered in every one. */
export const hostTool = toolsOf<Host>('host', 'any');
