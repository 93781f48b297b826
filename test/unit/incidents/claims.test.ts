import { describe, expect, it } from 'vitest';
import type { Diagnosis } from '../../../src/core/diagnosis.ts';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import { asToolCallId, type ToolCallId } from '../../../src/core/ids.ts';
import { type CheckedDiagnosis, checkEvidence } from '../../../src/incidents/claims/evidence.ts';
import { objectionsTo } from '../../../src/incidents/objections.ts';
import { aDiagnosis, anIncident, aToolCall, eventsOf } from '../../support/incident-record.ts';

const TREE_ID = asToolCallId('tc_tree00000000');
const ROOT = 'root: pid 26614 (shop_app@shop_db, shop-backoffice) blocks 3 (1 directly)';
const tree = aToolCall({
  id: TREE_ID,
  tool: 'postgres_blocking_tree',
  output: [
    '3 sessions blocked by 1 root blocker; longest wait 5m 2s, depth 2.',
    ROOT,
    '  backend_start 2026-11-22T03:17:47.089955Z, idle in transaction, in this state 302s, transaction 302s old',
    '  last ran: UPDATE products SET price_cents = price_cents + 10 WHERE id = 1',
    'waiter pid | waits | depth | blocked by | for | application | query',
    '26618 | 302s | 1 | 26614 | ShareLock | shop-checkout | UPDATE products SET stock = stock - 1',
    '26619 | 302s | 2 | 26618 | ExclusiveLock on products | shop-checkout | UPDATE products SET stock = stock - 1',
    '26617 | 302s | 2 | 26618 | ExclusiveLock on products | shop-checkout | UPDATE products SET stock = stock - 1',
  ].join('\n'),
  result: {
    blocked_count: 3,
    root_count: 1,
    longest_wait_seconds: 301.6,
    root: { pid: 26614, application_name: 'shop-backoffice', blocked_count: 3 },
    blocked: [{ pid: 26618 }, { pid: 26619 }, { pid: 26617 }],
  },
});

const CONNECTIONS_ID = asToolCallId('tc_connections0');
const USED =
  '19 of 25 usable connections (76%), 6 free; max_connections 30, of which reserved for superusers 3.';
const connections = aToolCall({
  id: CONNECTIONS_ID,
  tool: 'postgres_connections',
  output: [USED, 'by state: idle 12, active 7', 'temporary files 2.1 GiB, 4,012 of them'].join('\n'),
  result: { used: 19, free: 6, usable: 25, used_percent: 76, idle_count: 12, temp_bytes: 2_254_857_830 },
});

const DISK_ID = asToolCallId('tc_kernel000000');
const KILLED = 'Nov 22 03:14:09 app-1 kernel: Out of memory: Killed process 4711 (java) total-vm:8388608kB';
const kernel = aToolCall({
  id: DISK_ID,
  tool: 'read_file',
  output: `dmesg, its last 2 lines.\n${KILLED}`,
  result: null,
});

const calls = [tree, connections, kernel];
const incident = anIncident({ openedAt: '2026-11-22T03:20:00.000Z' });
const called = calls.map(
  ({ id, tool }): IncidentEventBody => ({
    type: 'tool.called',
    toolCallId: id,
    role: 'detective',
    tool,
    purpose: null,
    state: 'ok',
    summary: '',
  }),
);
const record = {
  incident,
  events: eventsOf({ type: 'incident.opened', source: 'x', title: 'x' }, ...called),
  toolCalls: calls,
};

type Said = readonly [claim: string, quote: string, ids?: readonly ToolCallId[]];

const cited = (rows: readonly Said[]) =>
  rows.map(([claim, quote, ids = [TREE_ID]]) => ({ claim, quote, ids }));

function check(said: readonly Said[], more: Partial<Diagnosis> = {}): CheckedDiagnosis {
  const evidence = said.map(([claim, quote, ids = [TREE_ID]]) => ({ claim, quote, toolCallIds: ids }));
  return checkEvidence(aDiagnosis({ origin: 'model', evidence, ruledOut: [], ...more }), record);
}

describe('a true claim survives', () => {
  it.each(
    cited([
      ['Three sessions wait behind pid 26614.', ROOT],
      ['The root has waited about 5 minutes.', ROOT],
      ['The transaction is 5m old.', ROOT],
      ['It is idle in transaction for more than 4 minutes.', ROOT],
      ['shop-backoffice blocks 3 sessions, 1 directly.', ROOT],
      ['The session of shop_app has been idle_in_transaction for 302 seconds.', ROOT],
      ['It began at 03:17.', ROOT],
      ['Its last statement was `UPDATE products SET price_cents = price_cents + 10 WHERE id = 1`.', ROOT],
      ['Both waiters of depth 2 wait for an ExclusiveLock on products.', ROOT],
      ['No session waits for shop-billing.', ROOT, [CONNECTIONS_ID, TREE_ID]],
      ['About 75 % of the connections are used.', USED, [CONNECTIONS_ID]],
      ['Three quarters are used: 19/25, 76%.', USED, [CONNECTIONS_ID]],
      ['6 connections are free.', USED, [CONNECTIONS_ID]],
      ['Temporary files take 2 GB.', 'temporary files 2.1 GiB, 4,012 of them', [CONNECTIONS_ID]],
      ['There are 4012 temporary files.', 'temporary files 2.1 GiB, 4,012 of them', [CONNECTIONS_ID]],
      ['There are about 4,000 temporary files.', 'temporary files 2.1 GiB, 4,012 of them', [CONNECTIONS_ID]],
      ['The OOM killer terminated it: process 4711 was killed.', KILLED, [DISK_ID]],
      ['java was killed with 8 GB.', KILLED, [DISK_ID]],
      ['The root is not blocked itself.', ROOT],
      ['３ sessions wait behind it.', ROOT],
      ['A single root blocks three sessions.', ROOT],
      ['At least 3 and at most 3 sessions are blocked.', ROOT],
      ['More than 2 sessions are blocked.', ROOT],
      ['The longest wait is over four minutes, under 6 min.', ROOT],
      ['Sessions have been blocked for minutes.', ROOT],
      ['pid-26614 began at 3 am, at 3:17 a.m. to be exact.', ROOT],
      ['(1) pid 26614 blocks three; (2) it is idle in transaction.', ROOT],
      [
        'More than half of the connections are used, three quarters of the usable ones.',
        USED,
        [CONNECTIONS_ID],
      ],
      ['Over 70 % of the connections are used.', USED, [CONNECTIONS_ID]],
      ['Temporary files take less than 3 GB.', 'temporary files 2.1 GiB, 4,012 of them', [CONNECTIONS_ID]],
    ]),
  )('$claim', ({ claim, quote, ids }) => {
    // The one that names what nobody has shown is of another family.
    const expected = claim.includes('shop-billing') ? [expect.anything()] : [];
    expect(check([[claim, quote, ids]]).dropped).toEqual(expected);
  });
});

describe('a false claim falls, though its quote is true', () => {
  it.each<readonly [string, string, readonly ToolCallId[] | undefined, RegExp]>([
    ['The disk is full.', USED, [CONNECTIONS_ID], /says nothing of it/],
    ['A cosmic ray flipped a bit.', ROOT, undefined, /says nothing of it/],
    ['4000 sessions wait for 9 h.', ROOT, undefined, /4000/],
    ['Three sessions have waited for 9 hours.', ROOT, undefined, /9 hours/],
    ['pid 26615 holds the lock.', ROOT, undefined, /26615/],
    ['shop-billing holds the lock.', ROOT, undefined, /shop-billing/],
    ['public.invoices is locked.', ROOT, undefined, /public\.invoices/],
    ['`DELETE FROM orders` holds the lock.', ROOT, undefined, /DELETE FROM orders/],
    ['Nobody is blocked.', ROOT, undefined, /says otherwise: blocked count 3/],
    ['No sessions are blocked.', ROOT, undefined, /blocked count 3/],
    ['Everything is healthy; nobody waits.', ROOT, undefined, /longest wait/],
    ['There are zero blocked sessions.', ROOT, undefined, /otherwise/],
    ['19 sessions are blocked.', ROOT, [TREE_ID, CONNECTIONS_ID], /blocked count 3/],
    ['95 % of the connections are used.', USED, [CONNECTIONS_ID], /95 %/],
    ['Temporary files take 20 GB.', 'temporary files 2.1 GiB, 4,012 of them', [CONNECTIONS_ID], /20 GB/],
    ['It began at 02:04.', ROOT, undefined, /02:04/],
    ['Pid 26614 blocks ４０００ sessions.', ROOT, undefined, /4000/],
    ['Pid 26614 blocks ٤٠٠٠ sessions.', ROOT, undefined, /4000/],
    ['Pid 26614 blocks 4⁴ sessions.', ROOT, undefined, /44/],
    ['Pid 26614 blocks 4 000 sessions.', ROOT, undefined, /000/],
    ['Pid 26614 blocks 3.000 sessions.', ROOT, undefined, /3\.000/],
    ['Pid 26614 blocks -3 sessions.', ROOT, undefined, /-3/],
    ['Pid 26614 blocks NaN sessions.', ROOT, undefined, /NaN/],
    ['Pid 26614 blocks ∞ sessions.', ROOT, undefined, /∞/],
    ['Pid 26614 blocks hundreds of sessions.', ROOT, undefined, /hundreds/],
    ['Pid 26614 blocks a million sessions.', ROOT, undefined, /million/],
    ['The root holds the lосk.', ROOT, undefined, /lосk/],
    ['Sessions are not blocked.', ROOT, undefined, /blocked count 3/],
    ['Sessions aren’t blocked.', ROOT, undefined, /blocked count 3/],
    ['Pid 26614 is the root. The vendor confirmed that.', ROOT, undefined, /“The vendor confirmed that\.”/],
    ['The pid.', 'pid', undefined, /quotes too little/],
    ['It is idle in transaction.', 'idle in', undefined, /quotes too little/],
  ])('%s', (claim, quote, ids, reason) => {
    expect(check([[claim, quote, ids ?? [TREE_ID]]]).dropped).toEqual([
      { claim, reason: expect.stringMatching(reason) },
    ]);
  });
});

it('a quote that is a piece of one line is shown as the whole line', () => {
  const { diagnosis } = check([['Pid 26614 blocks 3.', 'pid 26614 (shop_app']]);
  expect(diagnosis.evidence[0]?.quote).toBe(ROOT);
});

describe('a cause', () => {
  const good: Said = ['Pid 26614 blocks 3 sessions.', ROOT];
  const problems = (rootCause: string, more: Partial<Diagnosis> = {}): readonly string[] =>
    check([good], { rootCause, ...more }).unsupported;

  it('stands that says no more than its claims cite', () => {
    expect(
      problems('Session 26614 of shop-backoffice left its transaction open and blocks three sessions.'),
    ).toEqual([]);
  });

  it.each([
    ['The disk of shop-db is full.', /says nothing of it/],
    ['Session 26614 blocks 900 sessions.', /900/],
    ['Session 9999 blocks the others.', /9999/],
    ['Session 26614 is fine: nobody waits.', /otherwise/],
    ['19 of 25 connections are used by session 26614.', /19|25/],
  ])('that says more does not: %s', (rootCause, problem) => {
    expect(problems(rootCause)).toEqual([expect.stringMatching(problem)]);
  });

  it('is none that the same diagnosis rules out', () => {
    const rootCause = 'Session 26614 holds the lock on products.';
    expect(
      problems(rootCause, { ruledOut: ['session 26614 holds the lock on products: it does not'] }),
    ).toEqual([expect.stringMatching(/rules this cause out/)]);
    const hypotheses = [{ cause: rootCause, forIds: [], againstIds: [TREE_ID], end: 'ruled_out' as const }];
    expect(problems(rootCause, { hypotheses })).toHaveLength(1);
  });

  it('is given back with what does not stand, once; a sound one is not', () => {
    const evidence = [{ claim: good[0], quote: good[1], toolCallIds: [TREE_ID] }];
    const said = (rootCause: string) => aDiagnosis({ origin: 'model', evidence, rootCause, ruledOut: [] });
    expect(objectionsTo(said('Session 9999 blocks the others.'), record)).toContain('“9999”');
    expect(objectionsTo(said('Session 26614 blocks the others.'), record)).toBeNull();
  });
});

it('an explanation is ruled in or out by calls that happened; the symptom is there by a call of this round', () => {
  const { diagnosis } = check([['Pid 26614 blocks 3.', ROOT]], {
    rootCause: 'Session 26614 blocks three.',
    hypotheses: [
      { cause: 'a vacuum', forIds: [], againstIds: [asToolCallId('tc_madeup000000')], end: 'ruled_out' },
      { cause: 'the lock', forIds: [TREE_ID], againstIds: [], end: 'ruled_in' },
    ],
    symptomNow: { present: true, toolCallId: asToolCallId('tc_madeup000000') },
  });
  expect(diagnosis.hypotheses).toMatchObject([
    { end: 'open', againstIds: [] },
    { end: 'ruled_in', forIds: [TREE_ID] },
  ]);
  expect(diagnosis.symptomNow).toBeUndefined();
});
