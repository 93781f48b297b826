import type { Expression } from 'jsonata';
import type { Alert } from '../../core/alert.ts';
import type { Change, Push } from '../../core/change.ts';
import { clip } from '../../core/clip.ts';
import { messageOf } from '../../core/errors.ts';
import { severityOf } from '../../core/severity.ts';
import { sha256 } from '../../safety/sha256.ts';
import { badInput } from '../bad-input.ts';
import { fingerprintOf, fingerprintOfId } from '../fingerprint.ts';
import { gathered } from '../gathered.ts';
import { inTurns } from '../in-turns.ts';
import type { AlertSource, BadInput, ReadContext, ReadResult } from '../ports.ts';
import { namedTarget } from '../target.ts';
import { timeOf } from '../time-of.ts';
import { compile, isOutOfTime, type Mapping, Told, ToldPush } from './mapping.ts';
import { statusOf } from './status-words.ts';
import { toChange } from './to-change.ts';
import { withoutEmpty } from './without-empty.ts';

/** The same payload within this time is the same delivery, sent again because no answer came; after that, another occurrence. */
const REDELIVERY_MS = 5 * 60_000;
const TEXT = 3_000;

/** What all parts of one delivery share. */
interface Delivery extends ReadContext {
  readonly payload: unknown;
  /** Of the payload: made once, however many alerts it holds. */
  readonly hash: string;
}

/** A source whose mapping says where its payload tells what. */
export function mappedSource(mapping: Mapping): AlertSource {
  const each = compile(mapping.each ?? '$');
  const alert = mapping.alert === undefined ? null : compile(mapping.alert);
  const change = mapping.change === undefined ? null : compile(mapping.change);
  const eachChange = mapping.eachChange === undefined ? null : compile(mapping.eachChange);
  const push = mapping.push === undefined ? null : compile(mapping.push);
  const path = /^[\w.]+$/.exec(mapping.each ?? '')?.[0] ?? '';
  return {
    name: mapping.name,
    title: mapping.title,
    payload: `a notification of ${mapping.title}`,
    docs: mapping.docs,
    arrives: 'webhook',
    sendsEnds: mapping.sendsEnds,
    repeats: mapping.repeats,
    ownTimes: mapping.ownTimes,
    partialLabels: false,
    ...(change ? { changes: alert ? 'too' : 'only' } : {}),
    ...(mapping.signature ? { signature: mapping.signature } : {}),
    async read(payload, context) {
      const meant = withoutEmpty(payload);
      const parts = await told(each, meant, {});
      if ('ok' in parts) return parts;
      if (parts.value === undefined)
        return { ok: false, field: '', reason: `has nothing at ${mapping.each}` };
      const delivery = { ...context, payload: meant, hash: sha256(JSON.stringify(payload)) };
      const list = Array.isArray(parts.value) ? (parts.value as readonly unknown[]) : null;
      // One by one: each has its own time, and the others wait for nobody's expression.
      const alerts =
        list === null
          ? alone(await readPart(parts.value, delivery))
          : gathered(await inTurns(list, (part) => readPart(part, delivery)), path);
      const whole = list ?? [parts.value];
      const changes = change ? await inTurns(whole, (part) => readChanges(change, part, delivery)) : [];
      const pushes = push ? await inTurns(whole, (part) => readPush(push, part, delivery)) : [];
      return withPushes(change ? withChanges(alerts, changes.flat()) : alerts, pushes.flat());
    },
  };

  /** One that cannot be read is left out: a deployment is told without its commits then. */
  async function readPush(from: Expression, part: unknown, { payload }: Delivery): Promise<readonly Push[]> {
    if (part === null || typeof part !== 'object' || Array.isArray(part)) return [];
    const found = await told(from, part, { payload });
    if ('ok' in found || found.value === undefined) return [];
    const parsed = ToldPush.safeParse(found.value);
    if (!parsed.success) return [];
    const { repository, branch, before, commits } = parsed.data;
    const isOfNothing = repository === null || branch === null || commits.length === 0;
    return isOfNothing ? [] : [{ repository, branch, before, commits }];
  }

  async function readChanges(
    from: Expression,
    part: unknown,
    delivery: Delivery,
  ): Promise<readonly (Change | BadInput)[]> {
    // What is wrong with it has been said of its alert.
    if (part === null || typeof part !== 'object' || Array.isArray(part)) return [];
    const found = eachChange ? await told(eachChange, part, { payload: delivery.payload }) : { value: part };
    if ('ok' in found) return [found];
    return (await inTurns(listOf(found.value), (one) => readChange(from, one, delivery))).flat();
  }

  async function readChange(
    from: Expression,
    one: unknown,
    { payload, receivedAt }: Delivery,
  ): Promise<readonly (Change | BadInput)[]> {
    const found = await told(from, one, { payload });
    if ('ok' in found) return [found];
    return listOf(found.value).map((value) => toChange(mapping.name, value, receivedAt));
  }

  async function readPart(part: unknown, delivery: Delivery): Promise<Alert | BadInput | null> {
    if (part === null || typeof part !== 'object' || Array.isArray(part))
      return { ok: false, field: '', reason: 'expected a JSON object' };
    if (!alert) return null;
    const found = await told(alert, part, { payload: delivery.payload });
    if ('ok' in found) return found;
    if (found.value === undefined) return null;
    const parsed = Told.safeParse(found.value);
    return parsed.success ? toAlert(mapping, parsed.data, delivery) : badInput(parsed.error);
  }
}

/** JSONata gives one of a list as itself, and none of them as nothing. */
function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? (value as readonly unknown[]) : [value];
}

/** What an expression tells of an input. Once more when its time was up: the machine may have been asleep, or somebody else's. */
async function told(
  expression: Expression,
  input: unknown,
  bindings: Record<string, unknown>,
): Promise<{ readonly value: unknown } | BadInput> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return { value: await expression.evaluate(input, bindings) };
    } catch (error) {
      if (attempt === 1 && isOutOfTime(error)) continue;
      return { ok: false, field: '', reason: `cannot be read: ${messageOf(error)}` };
    }
}

function alone(read: Alert | BadInput | null): ReadResult {
  if (read !== null && 'ok' in read) return read;
  return { ok: true, alerts: read === null ? [] : [read] };
}

const withPushes = (read: ReadResult, pushes: readonly Push[]): ReadResult =>
  read.ok && pushes.length > 0 ? { ...read, pushes } : read;

/** A change that cannot be read keeps no alert away, nor the other way round. */
function withChanges(alerts: ReadResult, read: readonly (Change | BadInput)[]): ReadResult {
  const changes = read.filter((one): one is Change => !('ok' in one));
  const refused = read.filter((one): one is BadInput => 'ok' in one);
  if (!alerts.ok) return changes.length === 0 ? alerts : { ok: true, alerts: [], changes, refused: [alerts] };
  const [first] = refused;
  if (first && changes.length === 0 && alerts.alerts.length === 0) return first;
  return { ...alerts, changes, refused: [...(alerts.refused ?? []), ...refused] };
}

function toAlert(mapping: Mapping, told: Told, { receivedAt, hash }: Delivery): Alert | BadInput {
  const { id, rule, name, title, summary, url } = told;
  const status = statusOf(told.status, mapping.status);
  if (title === null) return { ok: false, field: 'title', reason: 'expected a text' };
  if (status === null)
    return {
      ok: false,
      field: 'status',
      reason: `expected a word for firing or resolved, not ${JSON.stringify(told.status)}`,
    };
  const labels = labelsOf(told.labels);
  const target = told.target ?? namedTarget(labels);
  const fingerprint =
    id === null
      ? fingerprintOf(rule ?? name ?? title, labels, target === null ? [] : [target])
      : fingerprintOfId(mapping.name, id);
  const round = Math.floor(receivedAt.getTime() / REDELIVERY_MS);
  const delivery = told.delivery ?? `${hash}\n${round}`;
  const endsAt = status === 'resolved' ? (timeOf(told.endsAt) ?? receivedAt.toISOString()) : null;
  return {
    source: mapping.name,
    status,
    name,
    title,
    severity: mapping.severity.get(told.severity?.toLowerCase() ?? '') ?? severityOf(told.severity),
    sourceSeverity: told.severity,
    labels,
    annotations: summary === null ? {} : { summary: clip(summary, TEXT) },
    target,
    fingerprint,
    ...(id === null ? {} : { idOf: mapping.name }),
    deliveryKey: [mapping.name, fingerprint, status, sha256(delivery).slice(0, 32)].join(':'),
    // An end that tells no beginning began before it.
    startsAt: timeOf(told.startsAt) ?? endsAt ?? receivedAt.toISOString(),
    endsAt,
    url,
    ...(told.group?.key
      ? { group: { key: told.group.key, target: namedTarget(labelsOf(told.group.labels)) } }
      : {}),
  };
}

const labelsOf = (labels: Told['labels']): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(labels).flatMap(([label, value]) => (value === null ? [] : [[label, value]])),
  );
