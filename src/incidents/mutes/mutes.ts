import { setTimeout as sleep } from 'node:timers/promises';
import { count } from '../../core/count.ts';
import { messageOf, refuse } from '../../core/errors.ts';
import type { IncidentId } from '../../core/ids.ts';
import { isSlackUser } from '../../core/is-slack-user.ts';
import type { Log } from '../../core/log.ts';
import type { MaintenanceWindow } from '../../core/maintenance-window.ts';
import type { Sql } from '../../core/sql.ts';
import type { AuditLog } from '../../safety/audit/audit-chain.ts';
import { minute } from '../../safety/kill-switch/kill-switch.ts';
import { redact } from '../../safety/screen/redact.ts';
import type { Steered } from '../steering.ts';
import { countMuted } from './count-muted.ts';
import { type HoldDeps, holdMuted, releaseMuted } from './hold-muted.ts';
import { openWindows } from './maintenance.ts';
import { BY_MAINTENANCE, formatMute, formatMuteEnd, type Mute, openMutes, readMute } from './mute.ts';
import { parseMute } from './parse-mute.ts';
import { withMatcher } from './with-matcher.ts';

/** What alerts wait for: `/sentry mute`, and the maintenance windows of `sentry.yaml`. */
export interface Mutes {
  /** `<matcher> 2h [reason]`, as somebody typed it; without a matcher, what the alerts of the incident `here` have in common. */
  mute(text: string, by: string, here?: IncidentId | null): Promise<Steered>;
  /** Ends one before its time: what still fires is opened. */
  unmute(id: string, by: string): Promise<Steered>;
  /** What is muted now, a line each; none: nothing. */
  lines(): Promise<readonly string[]>;
  /** Those whose alerts wait, the first to end first. */
  list(): Promise<readonly Mute[]>;
  read(id: string): Promise<Mute | null>;
  /** Has those of them wait that are muted, and answers which do. */
  hold(ids: readonly IncidentId[]): Promise<ReadonlySet<IncidentId>>;
  /** Nothing mutes it any more: its turn goes on with it. */
  release(id: IncidentId): Promise<void>;
  /** Opens and closes what is due; once. */
  look(): Promise<void>;
  /** Looks every second. */
  start(): void;
  end(): Promise<void>;
}

const LOOK_MS = 1_000;
/** Whoever is no admin mutes for so long at most. */
const MAX_MS = 24 * 3_600_000;

export interface MutesDeps extends HoldDeps {
  readonly sql: Sql;
  readonly audit: AuditLog;
  readonly isAdmin: (user: string) => Promise<boolean>;
  /** As they are configured now. */
  readonly windows: () => readonly MaintenanceWindow[];
  /** Whether a label says which thing is ill, and not who noticed it. */
  readonly isIdentifying: (label: string) => boolean;
  /** Whether everybody may read of an incident. */
  readonly isPublic: (id: IncidentId) => Promise<boolean>;
  readonly log: Log;
}

export function createMutes(deps: MutesDeps): Mutes {
  const { sql, log } = deps;
  const stopping = new AbortController();
  /** Times of windows that are on record. */
  const known = new Set<string>();
  let looking: Promise<void> = Promise.resolve();

  async function look(): Promise<void> {
    await openMaintenance(deps, known);
    await closeOver(deps);
  }

  return {
    async mute(text, by, here = null) {
      const whole = await withMatcher(deps, text, here);
      return typeof whole === 'string' ? mute(deps, whole, by) : whole;
    },
    unmute: (id, by) => unmute(deps, id, by),
    lines: async () => (await openMutes(sql)).map(formatMute),
    list: () => openMutes(sql),
    read: (id) => readMute(sql, id),
    async hold(ids) {
      // An alert may come before anybody has looked.
      await openMaintenance(deps, known);
      return holdMuted(deps, ids);
    },
    release: (id) => releaseMuted(deps, id),
    look,
    start() {
      looking = (async () => {
        while (!stopping.signal.aborted) {
          await look().catch((error: unknown) =>
            log.warn({ error: messageOf(error) }, 'could not look after the mutes; trying again'),
          );
          await sleep(LOOK_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
        }
      })();
    },
    async end() {
      stopping.abort();
      await looking;
    },
  };
}

async function mute(deps: MutesDeps, text: string, by: string): Promise<Steered> {
  const asked = parseMute(text);
  if (!asked.ok) return asked;
  const { matcher, forMs } = asked;
  // What would be kept of it fits other alerts.
  if (redact(matcher.text) !== matcher.text)
    return refuse(
      'SECRET',
      'The matcher holds what looks like a secret, or cannot be stored: nothing is muted. Match something else.',
    );
  if (forMs > MAX_MS && isSlackUser(by) && !(await deps.isAdmin(by)))
    return refuse('TOO_LONG', 'Only admins mute for more than 24h. Nothing is muted: say 24h or less.');
  const open = await countMuted(deps.sql, matcher);
  if (matcher.severities?.includes('critical') && !asked.isConfirmed)
    return refuse(
      'CONFIRM',
      [
        `That mutes critical alerts as well: nobody is called for them until it ends. ${formatOpen(open)}`,
        `If you mean it: /sentry mute confirm ${text.trim()}`,
      ].join('\n'),
    );
  const reason = redact(asked.reason);
  const set = await deps.sql.begin(async (tx) => {
    const [row] = await tx<{ readonly id: string; readonly until: string }>`
      INSERT INTO mute (matcher, by, reason, until)
      VALUES (${matcher.text}, ${by}, ${reason}, clock_timestamp() + ${forMs} * interval '1 millisecond')
      RETURNING id, until`;
    if (!row) throw new Error('an INSERT answers with its row');
    await deps.audit.appendIn(tx, {
      kind: 'mute.set',
      actor: by,
      details: { mute: row.id, matcher: matcher.text, until: row.until, reason },
    });
    return row;
  });
  return {
    ok: true,
    text: [
      `Muted until ${minute(set.until)} (${set.id}): ${matcher.text}. Its alerts are kept; what still fires then is opened. To end it: /sentry unmute ${set.id}`,
      ...(matcher.severities
        ? []
        : ['Critical alerts are not muted by it: say severity="critical" for those.']),
      formatOpen(open),
    ].join('\n'),
  };
}

function formatOpen(open: number): string {
  return open === 0
    ? 'No open incident is one of these now.'
    : `${count(open, 'open incident')} ${open === 1 ? 'is' : 'are'} of these now; ${open === 1 ? 'it goes' : 'they go'} on as before.`;
}

async function unmute(deps: MutesDeps, text: string, by: string): Promise<Steered> {
  const id = text.trim().toUpperCase();
  const [row] = await deps.sql.begin(async (tx) => {
    const rows = await tx<{ readonly id: string }>`
      UPDATE mute SET until = clock_timestamp(), ended_by = ${by}
       WHERE id = ${id} AND closed_at IS NULL AND until > clock_timestamp() RETURNING id`;
    if (rows.length > 0)
      await deps.audit.appendIn(tx, { kind: 'mute.ended', actor: by, details: { mute: id } });
    return rows;
  });
  if (!row) {
    const open = (await openMutes(deps.sql)).map(formatMute);
    return refuse(
      'NO_MUTE',
      [
        id === '' ? 'Say which: /sentry unmute M3.' : `There is no mute ${id.slice(0, 40)} now.`,
        ...(open.length > 0 ? open : ['Nothing is muted.']),
      ].join('\n'),
    );
  }
  await closeOver(deps);
  const ended = await readMute(deps.sql, id);
  return { ok: true, text: `${id} is over. ${ended ? formatMuteEnd(ended) : ''}` };
}

/** Puts windows that are open on record, once for all processes. */
async function openMaintenance(deps: MutesDeps, known: Set<string>): Promise<void> {
  const windows = deps.windows();
  if (windows.length === 0) return;
  const [clock] = await deps.sql<{ readonly now: string }>`SELECT clock_timestamp() AS now`;
  for (const { key, from, until, window } of openWindows(windows, new Date(clock?.now ?? 0))) {
    if (known.has(key)) continue;
    await deps.sql.begin(async (tx) => {
      const rows = await tx<{ readonly id: string }>`
        INSERT INTO mute (matcher, by, reason, begun_at, until, occurrence)
        VALUES (${window.matcher}, ${BY_MAINTENANCE}, ${window.reason}, ${from}, ${until}, ${key})
        ON CONFLICT (occurrence) DO NOTHING RETURNING id`;
      for (const { id } of rows)
        await deps.audit.appendIn(tx, {
          kind: 'mute.set',
          actor: 'system',
          details: { mute: id, matcher: window.matcher, until, reason: window.reason },
        });
    });
    known.add(key);
  }
}

/** What is over by the database's clock; of several processes one does it. Each of its incidents gets the turn that goes on. */
async function closeOver({ sql, audit }: MutesDeps): Promise<void> {
  const due = await sql<{ readonly id: string }>`
    SELECT id FROM mute WHERE closed_at IS NULL AND until <= clock_timestamp()`;
  for (const { id } of due)
    await sql.begin(async (tx) => {
      const [row] = await tx`SELECT 1 FROM mute WHERE id = ${id} AND closed_at IS NULL FOR UPDATE`;
      if (!row) return;
      const counted = await readMute(tx, id);
      if (!counted) return;
      const { alerts, incidents, firing, endedBy } = counted;
      await tx`
        UPDATE mute SET closed_at = clock_timestamp(), alerts = ${alerts}, incidents = ${incidents}, firing = ${firing}
         WHERE id = ${id}`;
      await tx`
        SELECT sentry_enqueue_turns(array_agg(id), 'mute over') FROM incident
         WHERE muted_by = ${id} AND (state <> 'resolved' OR fired_again_at > ended_at) HAVING count(*) > 0`;
      if (endedBy === null)
        await audit.appendIn(tx, {
          kind: 'mute.ended',
          actor: 'system',
          details: { mute: id, alerts, incidents },
        });
    });
}
