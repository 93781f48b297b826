import { setTimeout as sleep } from 'node:timers/promises';
import type { Json, ToolCallResult } from '../../core/tool-call.ts';
import type { Investigation } from '../ports.ts';

/** Part of a durable step's name: a phase never takes another one's reads for its own, nor a second look the first one's. */
export type Phase = 'triage' | 'diagnose' | `${'triage' | 'diagnose'}:again`;

/** Calls a read tool once, also over a crash. `name` is the same whenever the same step of the same round runs. */
export async function readSystem(
  work: Investigation,
  phase: Phase,
  name: string,
  tool: string,
  input: Json,
  purpose: string,
  waitMs = 0,
): Promise<ToolCallResult> {
  return work.durably(`playbook:${phase}:r${work.incident.round}:${name}`, async () => {
    // Inside: what was cut off by a shutdown must not end the turn as if it were done.
    work.signal.throwIfAborted();
    if (waitMs > 0) await sleep(waitMs, undefined, { signal: work.signal });
    return work.callTool({ tool, target: work.incident.target, input }, purpose);
  });
}

/** What could not be read, why, and what would make it readable. */
export function unreadable(tool: string, result: ToolCallResult): string {
  if (result.kind === 'ok' || result.kind === 'proposed') return '';
  const help = howToGrant(result.code);
  const reason = result.reason.replace(/[.\s]+$/, '');
  return `${tool} could not be read: ${reason}.${help === null ? '' : ` ${help}`}`;
}

/** SQLSTATEs: https://www.postgresql.org/docs/current/errcodes-appendix.html */
function howToGrant(code: string): string | null {
  switch (code) {
    case 'POSTGRES_42501':
      return 'Grant it: GRANT pg_monitor TO the role that Sentry reads with.';
    case 'POSTGRES_42P01':
    case 'POSTGRES_42883':
    case 'POSTGRES_55000':
      return 'It needs an extension that is not there; for pg_stat_statements: add it to shared_preload_libraries, restart, CREATE EXTENSION pg_stat_statements.';
    case 'POSTGRES_53300':
      return 'No connection was free: keep one for Sentry with reserved_connections (PostgreSQL 16 and later) and GRANT pg_use_reserved_connections, or superuser_reserved_connections.';
    case 'POSTGRES_57014':
      return 'The read took longer than its statement timeout; the server may be overloaded.';
    default:
      return null;
  }
}
