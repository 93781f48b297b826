import type { IncidentGroup } from './group-incidents.ts';

/** Says in a few paragraphs of Markdown what the incidents of a group have in common and what to do. @throws when it cannot */
export type AdviseOn = (group: IncidentGroup, signal: AbortSignal) => Promise<string>;
