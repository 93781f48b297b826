import type { TouchedObject } from '../../../core/denial.ts';
import type { Json } from '../../../core/tool-call.ts';
import { sha256 } from '../../../safety/sha256.ts';
import type { Preflight, ShownBy, Subject } from '../../../tools/define.ts';
import { type SessionKey, sessionKey } from '../read/session-key.ts';
import type { SessionState } from './session-state.ts';

/** What a pre-flight knows of a session beside its guard. */
export const sessionAbout = ({ facts }: SessionState): Json => ({ application: facts.application_name });

/**
 * The session, by pid and start: a pid that is used again is another session. Its application is who it says it is, with the
 * user it came as.
 */
function sessionObjects(
  _input: unknown,
  guard: { readonly pid: number; readonly backend_start: string; readonly user: string | null },
  { about }: Preflight,
): readonly TouchedObject[] {
  const { pid, backend_start: start, user } = guard;
  const { application } = (about ?? {}) as { readonly application?: string | null };
  const label = `session ${pid}${application ? ` (${application})` : ''}`;
  const thing = { kind: 'session', key: `${pid}/${start}`, label };
  if (!application) return [thing];
  const who = user === null ? application : `${application} (${user})`;
  // What a client calls itself may be anything: as a digest no name is read as another's, or as a secret.
  const key = sha256(JSON.stringify([application, user]));
  return [{ ...thing, application: { key, label: `all sessions of ${who}` } }];
}

/** What the tools share that do something to one session. */
export const onSession = {
  kind: 'active',
  input: sessionKey,
  timeoutMs: 15_000,
  objects: sessionObjects,
  subject: ({ pid }: SessionKey): Subject => ({ kind: 'pid', pid }),
  // What can be wrong with a session: others wait for it, it holds its transaction open, its statement runs and runs.
  shownBy: ({ pid, backend_start }: SessionKey): ShownBy => ({
    tool: 'postgres_session',
    input: { pid, backend_start },
    measures: ['sessions_behind_it', 'idle_in_transaction', 'running_statement'],
  }),
  repairsOnly: true,
  names: ['pid', 'backend_start'],
} as const;

/** The effect is there when `holds` is true of the session's facts, and stays so for 2 s. */
export const sessionEffect = ({ pid, backend_start }: SessionKey, holds: string, says: string) => ({
  steps: [{ tool: 'postgres_session', input: { pid, backend_start }, holds, says }],
  holdMs: 2_000,
  timeoutMs: 30_000,
});
