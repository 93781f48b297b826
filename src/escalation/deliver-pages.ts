import { anySignal } from '../core/any-signal.ts';
import { messageOf } from '../core/errors.ts';
import type { IncidentId } from '../core/ids.ts';
import { isSlackUser } from '../core/is-slack-user.ts';
import type { Log } from '../core/log.ts';
import type { Sql } from '../core/sql.ts';
import { within } from '../core/within.ts';
import { outwardText } from '../safety/screen/boundary.ts';
import type { RecordDeps } from './acknowledge.ts';
import type { Delivered, Page, Pager, SlackAccounts } from './ports.ts';
import type { PageRow, PageWord } from './rows.ts';

export interface PageDeps extends RecordDeps {
  readonly pagers: ReadonlyMap<string, Pager>;
  readonly slack: SlackAccounts;
  /** What is known of the incident by now. */
  readonly contentOf: (id: IncidentId) => Promise<Pick<Page, 'severity' | 'target' | 'evidence' | 'url'>>;
  readonly counted: (word: PageWord, ok: boolean) => void;
  readonly log: Log;
  /** A page that does not arrive for so long calls the next level, ms. */
  readonly failedAfterMs?: number;
}

const AT_ONCE = 4;
/** Longer than one word to a service may take, and than what is looked up for it. */
const LEASE_SECONDS = 60;
const ANSWER_MS = 15_000;
const RETRY_MAX_MS = 60_000;
/** What a service refuses for good is tried now and then: somebody may have mended it there. */
const REFUSED_RETRY_MS = 5 * 60_000;
const FAILED_AFTER_MS = 2 * 60_000;

/** The pages of these pagers, or of all others. */
export interface PageQueue {
  readonly pagers: readonly string[];
  readonly others: boolean;
}

/** One for each pager, so that none waits for another that does not answer, and one for what sentry.yaml has no more. */
export function pageQueues(pagers: ReadonlyMap<string, unknown>): readonly PageQueue[] {
  const names = [...pagers.keys()];
  return [...names.map((name) => ({ pagers: [name], others: false })), { pagers: names, others: true }];
}

/**
 * Brings the paging services of a queue to know what the record wants them to: one word for each page at a time, whoever has its lease.
 * Every word may be said twice, for it has the page's own key. Answers how many words were tried.
 */
export async function deliverPages(deps: PageDeps, queue: PageQueue, signal: AbortSignal): Promise<number> {
  let tried = 0;
  for (;;) {
    await skipUnsent(deps);
    const claimed = await claim(deps, queue);
    if (claimed.length === 0 || signal.aborted) return tried;
    await Promise.all(claimed.map((page) => deliver(deps, page, signal)));
    tried += claimed.length;
  }
}

/** Pages of which a service has not been told what it is to know. */
export async function countWaitingPages(sql: Sql): Promise<number> {
  const [row] = await sql<{ readonly waiting: number }>`
    SELECT count(*)::int AS waiting FROM escalation_page WHERE told IS DISTINCT FROM want`;
  return row?.waiting ?? 0;
}

/** What a service never heard of is neither acknowledged nor resolved there. */
async function skipUnsent({ sql }: PageDeps): Promise<void> {
  await sql`
    UPDATE escalation_page SET told = want
     WHERE told IS DISTINCT FROM want AND next_at <= statement_timestamp() AND tried_at IS NULL AND want <> 'trigger'`;
}

type Claimed = PageRow & { readonly lease: string; readonly acknowledged_by: string | null };

/** Whoever is to be called comes before what is to be closed. */
async function claim(deps: PageDeps, { pagers, others }: PageQueue): Promise<readonly Claimed[]> {
  const due = await deps.sql<Pick<PageRow, 'incident_id' | 'level' | 'pager'>>`
    SELECT incident_id, level, pager FROM escalation_page
     WHERE told IS DISTINCT FROM want AND next_at <= statement_timestamp()
       AND (leased_until IS NULL OR leased_until < statement_timestamp())
       AND (pager = ANY (${deps.sql.array([...pagers])}::text[])) <> ${others}
     ORDER BY want <> 'trigger', next_at LIMIT ${AT_ONCE}`;
  return (await Promise.all(due.map((page) => claimOne(deps, page)))).flat();
}

/** Empty: another process has it. */
async function claimOne(
  { sql }: PageDeps,
  { incident_id: id, level, pager }: Pick<PageRow, 'incident_id' | 'level' | 'pager'>,
): Promise<readonly Claimed[]> {
  return sql<Claimed>`
    UPDATE escalation_page p SET leased_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}),
           tried_at = coalesce(p.tried_at, clock_timestamp()), attempts = p.attempts + 1
     WHERE incident_id = ${id} AND level = ${level} AND pager = ${pager}
       AND told IS DISTINCT FROM want AND next_at <= clock_timestamp()
       AND (leased_until IS NULL OR leased_until < clock_timestamp())
    RETURNING p.*, p.leased_until::text AS lease,
      (SELECT acknowledged_by FROM escalation e WHERE e.incident_id = p.incident_id) AS acknowledged_by`;
}

async function deliver(deps: PageDeps, page: Claimed, signal: AbortSignal): Promise<void> {
  const delivered = await say(deps, page, signal).catch((error: unknown): Delivered => {
    const reason = messageOf(error);
    return { ok: false, retryable: true, reason };
  });
  deps.counted(page.want, delivered.ok);
  // Whoever stops leaves it to another process, or to the next start.
  if (delivered.ok) await record(deps, page);
  else await recordFailure(deps, page, delivered);
}

async function say(deps: PageDeps, page: Claimed, stop: AbortSignal): Promise<Delivered> {
  const pager = deps.pagers.get(page.pager);
  if (!pager)
    return { ok: false, retryable: false, reason: `sentry.yaml has no pager ${page.pager} any more` };
  const signal = anySignal([stop, AbortSignal.timeout(ANSWER_MS)]);
  const { dedup_key: key } = page;
  if (page.want === 'resolve')
    return pager.resolve(key, 'Sentry: it is over, or was stopped by a person.', signal);
  if (page.want === 'acknowledge') return pager.acknowledge(key, await nameOf(deps, page), signal);
  // One that somebody had taken rings nobody when it is told again: it is a new one.
  if (page.told === 'acknowledge') {
    const closed = await pager.resolve(key, 'Sentry: nobody has it any more. It is paged again.', signal);
    if (!closed.ok) return closed;
  }
  return pager.trigger(await pageOf(deps, page), signal);
}

async function nameOf({ slack }: PageDeps, { acknowledged_by: by }: Claimed): Promise<string> {
  if (by === null || !isSlackUser(by)) return by ?? 'somebody in Slack';
  return within(ANSWER_MS, slack.name(by), () => by);
}

async function pageOf({ contentOf }: PageDeps, page: Claimed): Promise<Page> {
  const { incident_id: incidentId, dedup_key: dedupKey, level, summary, reason } = page;
  return { incidentId, dedupKey, level, summary, reason, ...(await contentOf(incidentId)) };
}

/**
 * What was wanted is told. Whoever was late has said it after another word, perhaps: then it is not known what the service thinks,
 * and what is wanted is said once more.
 */
async function record({ sql, log }: PageDeps, page: Claimed): Promise<void> {
  const { incident_id: id, level, pager, want, lease } = page;
  const rows = await sql`
    UPDATE escalation_page SET told = ${want}, leased_until = NULL, failure = NULL, failing_since = NULL, failed_at = NULL,
           attempts = 0
     WHERE incident_id = ${id} AND level = ${level} AND pager = ${pager} AND leased_until::text = ${lease}
    RETURNING pager`;
  if (rows.length === 0)
    await sql`
      UPDATE escalation_page SET told = NULL, next_at = clock_timestamp()
       WHERE incident_id = ${id} AND level = ${level} AND pager = ${pager} AND told IS DISTINCT FROM ${want}`;
  log.info({ incident: id, level, pager, word: want }, 'a paging service was told');
}

/** Told once in the thread when it goes on: then the next level is called. */
async function recordFailure(
  { sql, records, log, failedAfterMs = FAILED_AFTER_MS }: PageDeps,
  { incident_id: id, level, pager, want, attempts, lease }: Claimed,
  { retryable, retryAfterMs = 0, reason: said }: Extract<Delivered, { ok: false }>,
): Promise<void> {
  const reason = outwardText(said).slice(0, 300);
  const waitMs = retryable
    ? Math.max(retryAfterMs, Math.min(RETRY_MAX_MS, 1_000 * 2 ** Math.min(attempts, 10)))
    : REFUSED_RETRY_MS;
  log.warn({ incident: id, level, pager, word: want, attempts, reason }, 'a paging service was not told');
  await sql.begin(async (tx) => {
    await tx`SELECT incident_id FROM escalation WHERE incident_id = ${id} FOR UPDATE`;
    const [row] = await tx<{ readonly failed: boolean; readonly since: string }>`
      UPDATE escalation_page SET leased_until = NULL, failure = ${reason},
             next_at = clock_timestamp() + make_interval(secs => ${waitMs / 1_000}),
             failing_since = coalesce(failing_since, clock_timestamp())
       WHERE incident_id = ${id} AND level = ${level} AND pager = ${pager} AND leased_until::text = ${lease} AND want = ${want}
      RETURNING failing_since::text AS since, want = 'trigger' AND failed_at IS NULL
        AND (NOT ${retryable} OR failing_since <= clock_timestamp() - make_interval(secs => ${failedAfterMs / 1_000})) AS failed`;
    if (row?.failed !== true) {
      // Another word is wanted by now: it is said as soon as may be.
      await tx`
        UPDATE escalation_page SET leased_until = NULL
         WHERE incident_id = ${id} AND level = ${level} AND pager = ${pager} AND leased_until::text = ${lease}`;
      return;
    }
    await tx`
      UPDATE escalation_page SET failed_at = clock_timestamp()
       WHERE incident_id = ${id} AND level = ${level} AND pager = ${pager}`;
    await tx`UPDATE escalation SET next_at = clock_timestamp() WHERE incident_id = ${id}`;
    await records.append(
      tx,
      id,
      { type: 'page.failed', level, pager, reason },
      `page failed:${level}:${pager}:${row.since}`,
    );
  });
}
