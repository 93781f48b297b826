import type { ChangesTool } from '../define.ts';
import { whatChanged } from './what-changed.ts';

/** For roles that read, and for the steps of runbooks: what was changed. */
// oxlint-disable-next-line typescript/no-explicit-any -- tools of every input type together; each parses its own
export const changesTools: readonly ChangesTool<any>[] = [whatChanged];
