import type { DocType } from '../documents/document.ts';

/** Runbook, checklist and incident are the seed's numbers; what says less about one problem is lower. */
const TYPES: Readonly<Record<DocType, number>> = {
  runbook: 0.9,
  checklist: 0.85,
  incident: 0.8,
  rule_of_thumb: 0.75,
  service_pattern: 0.7,
  convention: 0.6,
  user_preference: 0.5,
  note: 0.4,
};

/** How useful a kind of document is to an investigation, 0–1. */
export function typeScore(type: DocType): number {
  return TYPES[type];
}
