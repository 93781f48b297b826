import { type Change, type ChangeState, changeKinds } from '../../core/change.ts';
import { badInput } from '../bad-input.ts';
import type { BadInput } from '../ports.ts';
import { timeOf } from '../time-of.ts';
import { ToldChange } from './mapping.ts';

/** What senders call it, in lower case. */
const states: ReadonlyMap<string, ChangeState> = new Map([
  ...['started', 'start', 'created', 'pending', 'queued', 'running', 'in_progress', 'progressing'].map(
    (word) => [word, 'started'] as const,
  ),
  ...['failed', 'failure', 'error', 'errored', 'timed_out'].map((word) => [word, 'failed'] as const),
  ...['succeeded', 'success', 'completed', 'finished', 'done', 'applied'].map(
    (word) => [word, 'succeeded'] as const,
  ),
]);

/** The change that a mapping's expression tells of. */
export function toChange(source: string, value: unknown, receivedAt: Date): Change | BadInput {
  const parsed = ToldChange.safeParse(value);
  if (!parsed.success) return badInput(parsed.error);
  const { id, title, where, environment, by, from, to, commits, url, versionOf, ...told } = parsed.data;
  const state = told.status === null ? 'succeeded' : states.get(told.status.toLowerCase());
  if (id === null) return { ok: false, field: 'id', reason: "expected the sender's own id of the change" };
  if (title === null) return { ok: false, field: 'title', reason: 'expected a text' };
  if (state === undefined)
    return {
      ok: false,
      field: 'status',
      reason: `expected a word for started, succeeded or failed, not ${JSON.stringify(told.status)}`,
    };
  const startedAt = timeOf(told.startedAt);
  const at = timeOf(told.at) ?? (state === 'started' ? startedAt : null) ?? receivedAt.toISOString();
  return {
    source,
    id,
    kind: changeKinds.find((kind) => kind === told.kind?.toLowerCase()) ?? 'other',
    state,
    title,
    where,
    environment,
    startedAt: startedAt ?? (state === 'started' ? at : null),
    at,
    by,
    from,
    to,
    commits,
    url,
    ...(versionOf === null ? {} : { versionOf }),
  };
}
