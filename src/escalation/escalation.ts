import type { Severity } from '../core/alert.ts';
import { count } from '../core/count.ts';
import type { EventBus } from '../core/event-bus.ts';
import type { IncidentId } from '../core/ids.ts';
import { isSlackUser } from '../core/is-slack-user.ts';
import type { PageNews } from '../core/page-news.ts';
import type { IncidentRecords } from '../record/record.ts';
import {
  acknowledgeIn,
  assignIncident,
  pageNow,
  type RecordDeps,
  releaseIncident,
  type Said,
  takeIncident,
} from './acknowledge.ts';
import { countPaged, formatPaged } from './count-paged.ts';
import { countWaitingPages, deliverPages, type PageDeps, pageQueues } from './deliver-pages.ts';
import type { DueCall } from './due-call.ts';
import { dueIncidents, SWEEP_LIMIT } from './due-incidents.ts';
import { hearNews } from './hear-news.ts';
import { afterQuiet, type Ladder } from './ladder.ts';
import { readFacts } from './read-facts.ts';
import { type Found, settleCall } from './settle-call.ts';
import { type HandOver, handOverShifts } from './shift-changes.ts';
import {
  type CalleeDeps,
  type Callees,
  createWhoToCall,
  NOBODY_CALLED,
  type WhoToCall,
} from './who-to-call.ts';

export interface EscalationDeps extends PageDeps, CalleeDeps {
  readonly ladder: Ladder;
  readonly records: Pick<IncidentRecords, 'append'>;
  /** Hands the shift to whoever comes on call by a schedule; nobody is handed anything without it. */
  readonly handOver?: HandOver;
  readonly everyMs?: number;
}

/** Who is called for an incident, and who has it. */
export interface Escalation {
  /** *I have it*: nobody else is called. */
  take(id: IncidentId, by: string): Promise<Said>;
  /** Somebody is given it by another one, who is named. */
  assign(id: IncidentId, to: string, by: string): Promise<Said>;
  release(id: IncidentId, by: string): Promise<Said>;
  pageNow(id: IncidentId): Promise<Said>;
  /** A person has written in its thread: somebody is at it. */
  wrote(id: IncidentId, by: string): Promise<void>;
  /** What a paging service tells of a page; see `hearNews`. */
  hear(news: PageNews, pagers: readonly string[]): Promise<boolean>;
  /** The pagers of the next level with some above this one. */
  pagersAfter(level: number): readonly string[];
  /** Whether nobody is called for something this bad at that moment, by the quiet hours. */
  isQuiet(severity: Severity, at: Date): boolean;
  /** Whether somebody is mentioned as soon as something needs a person, only after a while, or never. */
  readonly calls: 'at_once' | 'later' | 'never';
  /** Who would be called first by now; null: nobody ever is. */
  onCall(): Promise<Callees | null>;
  /** For people: whether anybody is called, and how many pages wait. Names no incident. */
  lines(): Promise<readonly string[]>;
  /** Looks at an incident now, and makes what is due. */
  look(id: IncidentId): Promise<void>;
  start(bus: EventBus): void;
  stop(): Promise<void>;
}

/** How often is looked for what is due; what a person presses is looked at at once. */
const EVERY_MS = 2_000;
/** How often is looked for schedules that are to be asked who has come on. */
const SHIFTS_EVERY_MS = 15_000;
/** So many incidents at the same time: one that waits for who is on call holds up no other. */
const AT_ONCE = 4;
/** Every so many sweeps, all that is open is compared, for what was changed while nobody looked. */
const WHOLE_SWEEP = 150;

export function createEscalation(deps: EscalationDeps): Escalation {
  const stopping = new AbortController();
  const ends: (() => Promise<void>)[] = [];
  const whoToCall = createWhoToCall(deps);
  const lookAt = (id: IncidentId): Promise<void> => look(deps, whoToCall, id);
  let sweeps = 0;

  async function sweep(): Promise<void> {
    const ids = await dueIncidents(deps.sql, sweeps % WHOLE_SWEEP === 0);
    // What is left over is found by the next one.
    if (ids.length < SWEEP_LIMIT) sweeps += 1;
    const rest = ids[Symbol.iterator]();
    const failures: unknown[] = [];
    const worker = async (): Promise<void> => {
      for (const id of rest) {
        if (stopping.signal.aborted) return;
        await lookAt(id).catch((error: unknown) => failures.push(error));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    if (failures.length > 0) throw failures[0];
  }

  const nextPaging = (reached: number): number | null => {
    const at = deps.ladder.levels.findIndex(({ page }, level) => level >= reached && page.length > 0);
    return at < 0 ? null : at + 1;
  };
  const thenLook = async (id: IncidentId, saying: Promise<Said>): Promise<Said> => {
    const said = await saying;
    if (said.ok) await lookAt(id);
    return said;
  };

  return {
    take: (id, by) => thenLook(id, takeIncident(deps, id, by)),
    assign: (id, to, by) => thenLook(id, assignIncident(deps, id, to, by)),
    release: (id, by) => thenLook(id, releaseIncident(deps, id, by)),
    pageNow: (id) => thenLook(id, pageNow(deps, id, nextPaging)),
    wrote: (id, by) => wrote(deps, id, by),
    hear: (news, pagers) => hearNews(deps, news, pagers),
    pagersAfter: (level) => deps.ladder.levels[(nextPaging(level) ?? 0) - 1]?.page ?? [],
    get calls() {
      return whenCalled(deps.ladder);
    },
    onCall: async () => {
      const [first] = deps.ladder.levels;
      return first === undefined ? null : whoToCall(first.mention);
    },
    isQuiet: (severity, at) => afterQuiet(deps.ladder.quietHours, severity, at)?.getTime() !== at.getTime(),
    lines: () => formatWaiting(deps),
    look: lookAt,
    start(bus) {
      const everyMs = deps.everyMs ?? EVERY_MS;
      ends.push(bus.subscribe({ on: {}, everyMs, sweep }));
      const { handOver } = deps;
      if (handOver !== undefined && deps.schedules.size > 0)
        ends.push(
          bus.subscribe({
            on: {},
            everyMs: SHIFTS_EVERY_MS,
            sweep: () => handOverShifts({ ...deps, handOver }),
          }),
        );
      if (deps.pagers.size > 0 || deps.ladder.levels.some(({ page }) => page.length > 0))
        for (const queue of pageQueues(deps.pagers))
          ends.push(
            bus.subscribe({
              on: {},
              everyMs,
              sweep: async () => void (await deliverPages(deps, queue, stopping.signal)),
            }),
          );
    },
    async stop() {
      stopping.abort();
      await Promise.all(ends.map((end) => end()));
    },
  };
}

function whenCalled({ levels: [first], reasons }: Ladder): Escalation['calls'] {
  const calls = reasons.includes('unsolved') && reasons.includes('failed_verification');
  if (first === undefined || !calls) return 'never';
  return first.afterMs === 0 && first.mention.length > 0 ? 'at_once' : 'later';
}

async function formatWaiting({ sql, ladder }: EscalationDeps): Promise<readonly string[]> {
  if (ladder.levels.length === 0) return [NOBODY_CALLED];
  const pages = await countWaitingPages(sql);
  const paged = ladder.levels.some(({ page }) => page.length > 0) ? formatPaged(await countPaged(sql)) : null;
  return [
    ...(pages > 0 ? [`${count(pages, 'page')} that a paging service has not been told of yet.`] : []),
    ...(paged === null ? [] : [paged]),
  ];
}

/** So many calls of one incident are made at once at most: one for each level, and what a person did between. */
const MOST_STEPS = 25;

async function look(deps: EscalationDeps, whoToCall: WhoToCall, id: IncidentId): Promise<void> {
  const find = async ({ level }: DueCall, holder: string | null): Promise<Callees> =>
    level > 0 ? whoToCall(deps.ladder.levels[level - 1]?.mention ?? []) : holderOnly(holder);
  let found: Found | null = null;
  for (let n = 0; n < MOST_STEPS; n += 1) {
    const settled = await settleCall(deps, id, found);
    if (settled.kind === 'settled') return;
    found =
      settled.kind === 'find' ? { call: settled.call, who: await find(settled.call, settled.holder) } : null;
  }
}

/** At a paging service they are known by name only. */
function holderOnly(holder: string | null): Callees {
  return holder !== null && isSlackUser(holder)
    ? { mentions: [holder], names: [], groups: [], problem: null }
    : { mentions: [], names: holder === null ? [] : [holder], groups: [], problem: null };
}

async function wrote(deps: RecordDeps, id: IncidentId, by: string): Promise<void> {
  await deps.sql.begin(async (tx) => {
    const read = await readFacts(tx, id);
    if (
      !read ||
      read.facts.acknowledged?.holds ||
      read.incident.state === 'resolved' ||
      read.incident.state === 'ignored'
    )
      return;
    await acknowledgeIn(tx, deps, read, { by, how: 'acted', at: null });
  });
}
