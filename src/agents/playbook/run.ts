import type { Json, ToolCallResult } from '../../core/tool-call.ts';
import type { Runbook } from '../../runbooks/runbook.ts';
import { renderText } from '../../runbooks/template.ts';
import type { Investigation } from '../ports.ts';
import type { Findings } from './findings.ts';
import type { Phase } from './read-system.ts';

export type OkResult = Extract<ToolCallResult, { kind: 'ok' }>;

/** One run of one runbook: what its steps returned and what follows from it so far. */
export interface Run {
  readonly work: Investigation;
  readonly phase: Phase;
  readonly runbook: Runbook;
  readonly findings: Findings;
  readonly variables: Record<string, Json>;
  readonly answers: Map<string, OkResult>;
  /** What `requires` asks for: not looked at yet, looked at and not there, or there. */
  symptom: 'unread' | 'absent' | 'shown';
}

/** A text for people: what cannot be filled in says so instead of stopping an investigation. */
export function told(run: Run, template: string): string {
  const rendered = renderText(template, run.variables);
  return rendered.ok ? rendered.text : `${template} (not filled in: ${rendered.reason})`;
}

/** By the read that was made last: it decided. */
export function ruleOut({ findings, answers }: Run, text: string): void {
  findings.ruledOut.push(text);
  const by = [...answers.values()].at(-1)?.toolCallId;
  if (by !== undefined) findings.ruledOutBy.set(text, by);
}
