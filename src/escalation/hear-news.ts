import { isSlackUser } from '../core/is-slack-user.ts';
import { isEnded } from '../core/machine.ts';
import { parsePageKey } from '../core/page-key.ts';
import type { PageNews } from '../core/page-news.ts';
import type { Tx } from '../core/sql.ts';
import { acknowledgeIn, type RecordDeps } from './acknowledge.ts';
import { type Read, readFacts } from './read-facts.ts';
import type { PageRow } from './rows.ts';

/** By so much a service's clock may be behind the database's. */
const CLOCKS_APART_MS = 60_000;

/**
 * Takes in what a paging service tells of a page of ours. `pagers`: the names of those it may be of. False: we have never sent such a
 * page, so it is somebody else's problem that has a key like ours. The same news twice changes nothing.
 */
export async function hearNews(
  deps: RecordDeps,
  news: PageNews,
  pagers: readonly string[],
): Promise<boolean> {
  const key = parsePageKey(news.dedupKey);
  if (key === null) return false;
  return deps.sql.begin(async (tx) => {
    // A time later than now would make all that is told afterwards old news.
    const [page] = await tx<PageRow & { readonly asked_at: string; readonly done_at: string }>`
      SELECT *, least(${news.at}::timestamptz, clock_timestamp()) AS done_at FROM escalation_page
       WHERE dedup_key = ${news.dedupKey} AND pager = ANY (${tx.array([...pagers])}::text[])
         AND incident_id = ${key.incidentId} AND tried_at IS NOT NULL LIMIT 1`;
    if (!page) return false;
    const read = await readFacts(tx, key.incidentId);
    // Of an earlier page with the same key.
    const isOld = Date.parse(news.at) < Date.parse(page.asked_at) - CLOCKS_APART_MS;
    if (read && !isOld && !isEnded(read.incident.state))
      await take(tx, deps, read, page, { ...news, doneAt: page.done_at });
    return true;
  });
}

async function take(
  tx: Tx,
  deps: RecordDeps,
  read: Read,
  page: PageRow,
  news: PageNews & { readonly doneAt: string },
): Promise<void> {
  const { kind, by, to, doneAt: at } = news;
  // It was given back since.
  if (read.facts.releasedAt !== null && read.facts.releasedAt >= new Date(at)) return;
  const { pager, dedup_key: dedupKey } = page;
  const { acknowledged_by: holder, acknowledged_at: since } = read.row;
  const holds = read.facts.acknowledged?.holds === true;
  const isThere = holds && holder !== null && !isSlackUser(holder);
  const isKnown = since !== null && isThere && new Date(since) >= new Date(at);
  // The same delivery again, of a clock ahead of ours, has another time by now.
  const isSaid = isThere && holder === by && (kind === 'acknowledged' || page.want === 'resolve');
  switch (kind) {
    case 'acknowledged':
    case 'resolved': {
      // What Sentry itself or the service did has no person behind it.
      if (by === null || isKnown || isSaid) return;
      const told = kind === 'resolved' ? 'resolve' : 'acknowledge';
      return acknowledgeIn(tx, deps, read, { by, how: 'there', at, there: { pager, dedupKey, told } });
    }
    case 'reassigned': {
      if (to === null) return;
      const event = { type: 'page.reassigned', to, by, pager } as const;
      const isNew = await deps.records.append(
        tx,
        read.incident.id,
        event,
        `reassigned:${dedupKey}:${pager}:${news.at}`,
      );
      // Whoever had it there has it no more; the service calls the other.
      if (isNew && isThere && !isKnown)
        await acknowledgeIn(tx, deps, read, {
          by: to,
          how: 'there',
          at,
          there: { pager, dedupKey, told: 'acknowledge' },
        });
      return;
    }
    case 'released':
      if (isThere && !isKnown) return giveBack(tx, deps, read, holder, at);
      // Somebody has it in Slack: the service is told again.
      if (holds)
        await tx`
          UPDATE escalation_page SET told = 'trigger', next_at = clock_timestamp()
           WHERE incident_id = ${read.incident.id} AND dedup_key = ${dedupKey} AND pager = ${pager} AND want = 'acknowledge'`;
      return;
    case 'echo':
      return;
  }
}

async function giveBack(
  tx: Tx,
  { records }: RecordDeps,
  { incident }: Read,
  by: string,
  at: string,
): Promise<void> {
  await tx`
    UPDATE escalation SET acknowledged_by = NULL, acknowledged_at = NULL, holds = false, released_at = ${at}::timestamptz,
           next_at = clock_timestamp() WHERE incident_id = ${incident.id}`;
  await records.append(tx, incident.id, { type: 'incident.released', by });
}
