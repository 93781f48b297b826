import { namesOf } from '../../core/change.ts';
import { isGeneric, wordsOf } from '../../core/claims/word-forms.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { isObject } from '../../core/json-of.ts';
import type { Target } from '../../core/target.ts';
import { changesSubjectOf } from '../changes-around.ts';
import { valuesOf } from '../correlation/correlate.ts';

const HOSTS = ['instance', 'host', 'hostname', 'node', 'server'];
/** It is called so by everybody who runs it at home. */
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[?::1?\]?)$/;
const MOST_NAMES = 40;
const [SHORTEST, LONGEST] = [2, 80];
/** Of a message: who is still not at the point by then tells a story. */
const MAX_TEXT = 4_000;

/**
 * Whether a text is about an incident: it has, as a whole word, a name of its system, of what runs there, of its host or of its alert, or it
 * has all words of the alert's name. Null: nothing of it has a name that would tell it from others.
 */
export function aboutIt(
  record: Pick<IncidentRecord, 'incident' | 'alerts' | 'events'>,
  targets: ReadonlyMap<string, Target>,
): ((text: string) => boolean) | null {
  const spoken = spokenOf(record.incident.alertName ?? '');
  const names = [
    ...namesIn(record, targets),
    ...(spoken.length < 2 ? [] : [record.incident.alertName ?? '']),
  ];
  if (names.length === 0) return null;
  const named = new RegExp(
    `(?<![\\p{L}\\p{N}_]|[\\p{L}\\p{N}][-.])(?:${names.map(literally).join('|')})(?![\\p{L}\\p{N}_]|[-.][\\p{L}\\p{N}])`,
    'iu',
  );
  const words = [...new Set(wordsOf(spoken.join(' ')).filter((word) => !isGeneric(word)))];
  return (whole) => {
    const text = whole.slice(0, MAX_TEXT);
    if (named.test(text)) return true;
    // One word alone says nothing, as the “down” of `InstanceDown`.
    if (words.length < 2) return false;
    const said = new Set(wordsOf(text));
    return words.every((word) => said.has(word));
  };
}

/** In lower case. */
function namesIn(
  record: Pick<IncidentRecord, 'incident' | 'alerts' | 'events'>,
  targets: ReadonlyMap<string, Target>,
): readonly string[] {
  const { incident, alerts } = record;
  const { system, workloads, alsoCalled } = changesSubjectOf(record, targets);
  const hosts = [incident, ...alerts].flatMap(({ labels }) =>
    isObject(labels) ? valuesOf({ labels, annotations: {} }, HOSTS).map(withoutPort) : [],
  );
  return namesOf([incident.target, ...(system?.names ?? []), ...workloads, ...hosts, ...alsoCalled])
    .filter((name) => name.length >= SHORTEST && name.length <= LONGEST)
    .filter((name) => /\p{L}|\d\.\d/u.test(name) && !LOOPBACK.test(name))
    .slice(0, MOST_NAMES);
}

/** `10.0.0.5:9187` and `db-1:5432` run on a host; an address of IPv6 stays as it is. */
const withoutPort = (instance: string): string => instance.replace(/^([^:]+):\d{1,5}$/, '$1');

/** `PostgresBlockedSessions` is spoken of as “sessions are blocked on postgres”. */
const spokenOf = (name: string): readonly string[] =>
  name
    .slice(0, LONGEST)
    .replace(/(\p{Ll}|\d)(?=\p{Lu})/gu, '$1 ')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');

const literally = (name: string): string => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
