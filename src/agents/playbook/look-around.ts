import type { Diagnosis } from '../../core/diagnosis.ts';
import type { ToolCallResult } from '../../core/tool-call.ts';
import type { Investigation } from '../ports.ts';
import { cannotTell, newFindings } from './findings.ts';
import { firstLineOf } from './first-line.ts';
import { type Phase, readSystem, unreadable } from './read-system.ts';

interface Look {
  readonly tool: string;
  readonly why: string;
  readonly result: ToolCallResult;
}

/** Reads them all, each once in a round and a phase. */
export async function readAround(work: Investigation, phase: Phase): Promise<readonly Look[]> {
  if (work.incident.target === null) return [];
  const looks: Look[] = [];
  for (const { tool, why } of work.looks) {
    work.say(`${why} …`);
    looks.push({ tool, why, result: await readSystem(work, phase, `look:${tool}`, tool, {}, why) });
  }
  return looks;
}

/** Says what was looked at and never claims a cause. */
export async function lookAround(work: Investigation, phase: Phase, why: string): Promise<Diagnosis> {
  const findings = newFindings();
  if (work.incident.target === null)
    return cannotTell(
      findings,
      null,
      `${why} The alert also names no configured target, so nothing could be looked at.`,
      'Add the name that the alert uses to a target’s aliases in the configuration.',
    );
  const looked: string[] = [];
  for (const { tool, why: purpose, result } of await readAround(work, phase)) {
    if (result.kind !== 'ok') {
      findings.unknown.push(unreadable(tool, result));
      continue;
    }
    looked.push(purpose.toLowerCase());
    const line = firstLineOf(result.text);
    if (line !== null)
      findings.evidence.push({ claim: `${purpose}: ${line}`, toolCallIds: [result.toolCallId], quote: line });
  }
  const told = findings.evidence.map(({ quote }) => quote).join(' ');
  const seen =
    looked.length === 0
      ? 'Nothing could be read.'
      : `Looked at ${looked.join(', ')}.${findings.unknown.length > 0 ? ` Not all could be read. ${told}` : ''}`;
  return cannotTell(
    findings,
    null,
    `${why} ${seen}`,
    'A runbook whose "matches" name this alert would let me go further.',
  );
}
