import type { Diagnosis } from '../../core/diagnosis.ts';
import type { Domain } from '../../core/incident.ts';
import type { ToolCallResult } from '../../core/tool-call.ts';
import type { Investigation } from '../ports.ts';
import { cannotTell, newFindings } from './findings.ts';
import { type Phase, readSystem, unreadable } from './read-system.ts';

/** What to look at when no runbook fits: cheap, read-only, and enough for a person to go on from. */
const LOOKS: Readonly<Record<Domain, readonly { readonly tool: string; readonly why: string }[]>> = {
  postgres: [
    // Answers where all the others fail, and says so.
    { tool: 'postgres_reachable', why: 'Whether it can be reached' },
    { tool: 'postgres_activity', why: 'What the sessions are doing' },
    { tool: 'postgres_blocking_tree', why: 'Who waits for whom' },
    { tool: 'postgres_connections', why: 'How many connections are in use' },
    { tool: 'postgres_long_transactions', why: 'Which transactions are old' },
  ],
  // Hosts, unless configured otherwise.
  docker: [
    { tool: 'service_status', why: 'How the services are' },
    { tool: 'list_files', why: 'How full the disk is, and the largest files' },
  ],
  podman: [],
  kubernetes: [],
};

interface Look {
  readonly tool: string;
  readonly why: string;
  readonly result: ToolCallResult;
}

/** Reads them all, each once in a round and a phase. */
export async function readAround(work: Investigation, phase: Phase): Promise<readonly Look[]> {
  if (work.incident.target === null) return [];
  const looks: Look[] = [];
  for (const { tool, why } of LOOKS[work.incident.domain]) {
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
    const line = result.text
      .split('\n')
      .find((text) => text.trim() !== '')
      ?.trim();
    if (line !== undefined)
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
