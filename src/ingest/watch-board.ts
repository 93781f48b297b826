import { closestName } from '../core/closest-name.ts';
import { count } from '../core/count.ts';
import { type Refusal, refuse } from '../core/errors.ts';
import type { Sql } from '../core/sql.ts';
import type { AuditLog } from '../safety/audit/audit-chain.ts';
import type { LogName } from './watch-state.ts';

/** A rate is of the last seconds in which something was read; after so long without, nothing comes. */
const QUIET_MS = 40_000;

export interface WatchBoardDeps {
  readonly sql: Sql;
  readonly audit: AuditLog;
  /** What is declared now. */
  readonly watched: () => ReadonlyArray<{
    readonly target: { readonly name: string };
    readonly logs: ReadonlyArray<{ readonly name: string }>;
  }>;
}

/** A watched log as it is now. Rates are a second. */
export interface WatchedState extends LogName {
  readonly state: 'watched' | 'stopped' | 'waiting';
  readonly lines: number;
  readonly matched: number;
  readonly cut: number;
  readonly lineRate: number;
  readonly matchRate: number;
  readonly problem: string | null;
  readonly note: string | null;
  readonly notedAt: string | null;
  readonly stoppedBy: string | null;
  readonly stoppedAt: string | null;
}

export type WatchBoard = ReturnType<typeof createWatchBoard>;

/** The watched logs as people see them, and as they stop and start them: for every process, and until somebody starts them. */
export function createWatchBoard({ sql, audit, watched }: WatchBoardDeps) {
  const declared = (): readonly LogName[] =>
    watched().flatMap(({ target, logs }) => logs.map(({ name }) => ({ target: target.name, log: name })));

  /** Those of a target, or the one of that name; of a target that is the only one its name may be left out. */
  function chosen(target: string | undefined, log: string | undefined): readonly LogName[] | Refusal {
    const all = declared();
    const targets = [...new Set(all.map((one) => one.target))];
    const named = target ?? (targets.length === 1 ? targets[0] : undefined);
    const known = `Watched logs are those of ${targets.join(', ') || 'no target: declare them by "watch" of a host in sentry.yaml'}.`;
    if (named === undefined) return refuse('UNKNOWN_LOG', `Name the target. ${known}`);
    const found = all.filter((one) => one.target === named && (log === undefined || one.log === log));
    if (found.length > 0) return found;
    const near = closestName(named, targets);
    if (!targets.includes(named))
      return refuse(
        'UNKNOWN_LOG',
        `No log of “${named}” is watched.${near ? ` Did you mean ${near}?` : ''} ${known}`,
      );
    const logs = all.filter((one) => one.target === named).map((one) => one.log);
    return refuse('UNKNOWN_LOG', `“${log}” of ${named} is not watched. Its logs: ${logs.join(', ')}.`);
  }

  async function set(
    verb: 'stop' | 'start',
    names: { readonly target: string | undefined; readonly log: string | undefined; readonly by: string },
  ): Promise<{ readonly ok: true; readonly text: string } | Refusal> {
    const logs = chosen(names.target, names.log);
    if ('ok' in logs) return logs;
    const by = verb === 'stop' ? names.by : null;
    await sql.begin(async (tx) => {
      for (const { target, log } of logs)
        await tx`
          INSERT INTO watch_state AS w (target, log, stopped_by, stopped_at)
          VALUES (${target}, ${log}, ${by}, CASE WHEN ${by}::text IS NULL THEN NULL ELSE clock_timestamp() END)
          ON CONFLICT (target, log) DO UPDATE SET stopped_by = excluded.stopped_by, stopped_at = excluded.stopped_at
           WHERE (w.stopped_at IS NULL) <> (excluded.stopped_at IS NULL)`;
      await audit.appendIn(tx, {
        kind: verb === 'stop' ? 'watch.stopped' : 'watch.started',
        actor: names.by,
        details: { logs: logs.map(({ target, log }) => `${target} ${log}`) },
      });
    });
    const what = logs.map(({ log }) => log).join(', ');
    return {
      ok: true,
      text:
        verb === 'stop'
          ? `Nothing of ${what} opens incidents until somebody starts it again. What is written meanwhile is read then.`
          : `${what}: watched again, from where it was stopped.`,
    };
  }

  return {
    set,
    async list(): Promise<readonly WatchedState[]> {
      const rows = await sql<StateRow>`
        SELECT w.*, clock_timestamp() - w.at > ${QUIET_MS} * interval '1 millisecond' AS quiet,
               EXISTS (SELECT FROM process p WHERE p.executor_id = w.owner) AS owned
          FROM watch_state w`;
      return declared().map(({ target, log }) =>
        stateOf(
          { target, log },
          rows.find((row) => row.target === target && row.log === log),
        ),
      );
    },
  };
}

interface StateRow extends LogName {
  readonly lines: string;
  readonly matched: string;
  readonly cut: string;
  readonly line_rate: number;
  readonly match_rate: number;
  readonly problem: string | null;
  readonly note: string | null;
  readonly noted_at: string | null;
  readonly stopped_by: string | null;
  readonly stopped_at: string | null;
  readonly quiet: boolean;
  readonly owned: boolean;
}

function stateOf(name: LogName, row: StateRow | undefined): WatchedState {
  const isRead = row !== undefined && row.stopped_at === null && row.owned;
  return {
    ...name,
    state: row?.stopped_at ? 'stopped' : isRead ? 'watched' : 'waiting',
    lines: Number(row?.lines ?? 0),
    matched: Number(row?.matched ?? 0),
    cut: Number(row?.cut ?? 0),
    lineRate: isRead && !row.quiet ? row.line_rate : 0,
    matchRate: isRead && !row.quiet ? row.match_rate : 0,
    problem: row?.problem ?? null,
    note: row?.note ?? null,
    notedAt: row?.noted_at ?? null,
    stoppedBy: row?.stopped_by ?? null,
    stoppedAt: row?.stopped_at ?? null,
  };
}

/** A log in a line, and what is wrong with it or was lost of it below. */
export function formatWatched(one: WatchedState): string {
  const { target, log, state, stoppedBy } = one;
  const rates = `${perSecond(one.lineRate, 'line')}, ${perSecond(one.matchRate, 'match')}`;
  const how = {
    watched: rates,
    stopped: `stopped by ${stoppedBy} at ${one.stoppedAt}`,
    waiting: 'not read now: no process of Sentry has taken it up',
  }[state];
  const cut = one.cut > 0 ? `, ${count(one.cut, 'line')} too long to be read whole` : '';
  return [
    `${log} of ${target}: ${how}; so far ${count(one.lines, 'line')}, ${one.matched.toLocaleString('en')} that match${cut}`,
    ...(one.problem === null ? [] : [`    Cannot be read: ${one.problem}`]),
    ...(one.note === null ? [] : [`    ${one.notedAt}: ${one.note}`]),
  ].join('\n');
}

export const formatBoard = (states: readonly WatchedState[]): string =>
  states.length === 0
    ? 'No log is watched. Declare them by "watch" of a host in sentry.yaml.'
    : states.map(formatWatched).join('\n');

function perSecond(rate: number, what: 'line' | 'match'): string {
  const shown = rate >= 10 || rate === 0 ? Math.round(rate) : Math.round(rate * 10) / 10;
  return `${shown.toLocaleString('en')} ${what === 'line' ? 'lines' : 'matches'}/s`;
}
