import type { IncidentEventBody } from '../../src/core/event.ts';
import { asIncidentId, type IncidentId } from '../../src/core/ids.ts';
import type { IncidentState } from '../../src/core/incident.ts';
import type { Sql } from '../../src/core/sql.ts';
import { deliverPages, pageQueues } from '../../src/escalation/deliver-pages.ts';
import { createEscalation, type Escalation, type EscalationDeps } from '../../src/escalation/escalation.ts';
import type { Ladder } from '../../src/escalation/ladder.ts';
import type { Delivered, Page, Pager } from '../../src/escalation/ports.ts';
import type { PageRow } from '../../src/escalation/rows.ts';
import { openDatabase } from '../../src/infra/db/client.ts';
import { createRecords, type IncidentRecords } from '../../src/record/record.ts';
import { scratchDatabase } from './postgres.ts';
import { quiet } from './quiet.ts';

const MINUTE = 60_000;
export const oncall = [{ kind: 'group', name: 'oncall' }] as const;

/** Two levels: after five minutes a mention and a page, after fifteen another. */
export const twoLevels: Ladder = {
  levels: [
    { afterMs: 5 * MINUTE, mention: oncall, page: ['pd'] },
    { afterMs: 15 * MINUTE, mention: [{ kind: 'schedule', name: 'second' }], page: ['pd'] },
  ],
  reasons: ['unsolved', 'unacknowledged', 'approval_expiry', 'failed_verification'],
  unacknowledgedMs: 0,
  approvalExpiryMs: 5 * MINUTE,
  quietHours: [],
};

/** A paging service in memory: what it was told, and what is open there. Fails as `answer` says, after it has heard. */
export interface Bell extends Pager {
  readonly said: string[];
  readonly pages: Page[];
  readonly open: Set<string>;
  /** What it answers instead, now; null: it works. `deaf`: it does not hear it either. */
  fault: { readonly answer: Delivered; readonly deaf: boolean } | null;
  /** Called before it answers. */
  before: (word: string) => Promise<void>;
}

export function bell(name = 'pd'): Bell {
  const rung: Bell = {
    name,
    said: [],
    pages: [],
    open: new Set(),
    fault: null,
    before: async () => undefined,
    trigger: (page) =>
      hear(`trigger ${page.dedupKey}`, () => {
        rung.pages.push(page);
        rung.open.add(page.dedupKey);
      }),
    acknowledge: (key, by) => hear(`acknowledge ${key} ${by}`, () => undefined),
    resolve: (key) => hear(`resolve ${key}`, () => rung.open.delete(key)),
  };
  async function hear(word: string, take: () => unknown): Promise<Delivered> {
    await rung.before(word);
    const { fault } = rung;
    if (fault?.deaf !== true) {
      rung.said.push(word);
      take();
    }
    return fault?.answer ?? { ok: true };
  }
  return rung;
}

export interface EscalationScene {
  readonly sql: Sql;
  readonly records: IncidentRecords;
  readonly pager: Bell;
  /** One more process. */
  process(changes?: Partial<EscalationDeps>): Escalation & { deliver(): Promise<number> };
  incident(changes?: {
    readonly minutesAgo?: number;
    readonly severity?: string;
    readonly title?: string;
  }): Promise<IncidentId>;
  append(id: IncidentId, event: IncidentEventBody): Promise<void>;
  move(id: IncidentId, from: IncidentState, to: IncidentState): Promise<void>;
  /** All that is on record of calls is so much older. */
  later(id: IncidentId, minutes: number): Promise<void>;
  events(id: IncidentId): Promise<readonly IncidentEventBody[]>;
  /** `called 1 unsolved U1,S1`, `failed 1`, `ack U1 taken`, … */
  told(id: IncidentId): Promise<readonly string[]>;
  pages(id: IncidentId): Promise<readonly PageRow[]>;
  close(): Promise<void>;
}

export async function escalationScene(): Promise<EscalationScene> {
  const database = await scratchDatabase({ migrate: true });
  const db = openDatabase(database.url, { max: 10 });
  const { sql } = db;
  const records = createRecords(sql);
  const pager = bell();
  const deps: EscalationDeps = {
    sql,
    records,
    ladder: twoLevels,
    pagers: new Map([['pd', pager]]),
    schedules: new Map([
      [
        'second',
        { name: 'second', onCall: async () => [{ name: 'Ben', email: 'ben@shop.example', slackUser: null }] },
      ],
    ]),
    slack: {
      groupId: async (name) => `S${name.toUpperCase()}`,
      userByEmail: async (email) => (email === 'ben@shop.example' ? 'UBEN' : null),
      name: async (id) => (id === 'UANN' ? 'Ann' : id),
    },
    fallback: oncall,
    contentOf: async () => ({ severity: 'critical', target: 'box', evidence: ['seen'], url: null }),
    counted: () => undefined,
    log: quiet,
  };
  const scene: EscalationScene = {
    sql,
    records,
    pager,
    process(changes = {}) {
      const own = { ...deps, ...changes };
      return {
        ...createEscalation(own),
        deliver: async () => {
          const { signal } = new AbortController();
          const tried = pageQueues(own.pagers).map((queue) => deliverPages(own, queue, signal));
          return (await Promise.all(tried)).reduce((sum, each) => sum + each, 0);
        },
      };
    },
    async incident({ minutesAgo = 6, severity = 'critical', title = 'box: it is broken' } = {}) {
      const [row] = await sql<{ readonly id: string }>`
        INSERT INTO incident (title, severity, domain, target, source, fingerprint, labels, annotations, opened_at, state)
        VALUES (${title}, ${severity}, 'postgres', 'box', 'test', ${Math.random().toString(36)}, '{}', '{}',
                clock_timestamp() - make_interval(mins => ${minutesAgo}), 'diagnosing') RETURNING id`;
      const id = asIncidentId(row?.id ?? '');
      await scene.append(id, { type: 'incident.opened', source: 'test', title });
      return id;
    },
    async append(id, event) {
      await sql.begin((tx) => records.append(tx, id, event));
    },
    async move(id, from, to) {
      await sql`
        UPDATE incident SET state = ${to}, stopped_from = ${to === 'stopped' ? from : null},
          ended_at = CASE WHEN ${to === 'resolved' || to === 'ignored'} THEN clock_timestamp() END WHERE id = ${id}`;
      await scene.append(id, { type: 'state.changed', from, to, reason: 'test' });
    },
    async later(id, minutes) {
      const by = `${minutes} minutes`;
      await sql`UPDATE incident SET opened_at = opened_at - ${by}::interval, updated_at = clock_timestamp() WHERE id = ${id}`;
      await sql`UPDATE event SET at = at - ${by}::interval WHERE incident_id = ${id}`;
      await sql`UPDATE escalation SET since = since - ${by}::interval, acknowledged_at = acknowledged_at - ${by}::interval,
                  released_at = released_at - ${by}::interval, hurried_at = hurried_at - ${by}::interval WHERE incident_id = ${id}`;
      await sql`UPDATE escalation_call SET at = at - ${by}::interval WHERE incident_id = ${id}`;
      await sql`UPDATE escalation_page SET next_at = next_at - ${by}::interval, asked_at = asked_at - ${by}::interval,
                  failing_since = failing_since - ${by}::interval, failed_at = failed_at - ${by}::interval,
                  leased_until = leased_until - ${by}::interval WHERE incident_id = ${id}`;
    },
    events: async (id) => (await records.load(id))?.events ?? [],
    async told(id) {
      return (await scene.events(id)).flatMap((event) => {
        if (event.type === 'person.called')
          return [`called ${event.level} ${event.reason} ${[...event.mentions, ...event.names].join()}`];
        if (event.type === 'page.failed') return [`failed ${event.level}`];
        if (event.type === 'incident.acknowledged') return [`ack ${event.by} ${event.how}`];
        if (event.type === 'incident.released') return [`released ${event.by}`];
        if (event.type === 'page.reassigned') return [`reassigned ${event.to}`];
        if (event.type === 'call.waits') return ['waits'];
        return [];
      });
    },
    pages: async (id) =>
      sql<PageRow>`SELECT * FROM escalation_page WHERE incident_id = ${id} ORDER BY level, pager`,
    async close() {
      await db.close();
      await database.drop();
    },
  };
  return scene;
}
