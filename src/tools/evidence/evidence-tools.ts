import type { EvidenceTool } from '../define.ts';
import { evidenceGrep } from './evidence-grep.ts';
import { evidenceRead } from './evidence-read.ts';

/** For roles that read: what an earlier call has shown, without asking the live system again. */
// oxlint-disable-next-line typescript/no-explicit-any -- tools of every input type together; each parses its own
export const evidenceTools: readonly EvidenceTool<any>[] = [evidenceRead, evidenceGrep];
