import { createHash } from 'node:crypto';
import type { TouchedObject } from '../../../domain/denial.ts';
import type { Json } from '../../../domain/tool-call.ts';
import type { Preflight } from '../../define.ts';
import type { SessionState } from './session-state.ts';

/** What a pre-flight knows of a session beside its guard. */
export const sessionAbout = ({ facts }: SessionState): Json => ({ application: facts.application_name });

/**
 * The session, by pid and start: a pid that is used again is another session. Its application is who it says it is, with the
 * user it came as.
 */
export function sessionObjects(
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
  const key = createHash('sha256')
    .update(JSON.stringify([application, user]))
    .digest('hex');
  return [{ ...thing, application: { key, label: `all sessions of ${who}` } }];
}
