import { describe, expect, test } from 'vitest';
import { createHomeSources } from '../../../src/app/home-facts.ts';
import { targetsSeen } from '../../../src/app/home-gaps.ts';
import { asActionId, asIncidentId, asToolCallId } from '../../../src/core/ids.ts';
import type { Target } from '../../../src/core/target.ts';
import { allTools } from '../../../src/targets/all-tools.ts';
import { kinds } from '../../../src/targets/kinds.ts';
import { homeDeps, homeReaderOf } from '../../support/home-deps.ts';
import { anAction, anIncident, aToolCall } from '../../support/incident-record.ts';

const target = (name: string, kind: Target['kind'], domain: Target['domain']): Target => ({
  name,
  kind,
  domain,
  environment: 'test',
  aliases: [],
});
const sources = (changes: Partial<Parameters<typeof homeDeps>[0]> = {}) =>
  createHomeSources(
    homeDeps({
      policy: {
        isAdmin: async (user) => user === 'UADMIN',
        // Two for restarts, and nothing on the ledger database.
        takes: async (user, about) =>
          user !== 'UONCALL' || about.target === 'ledger' ? null : about.tool === 'restart_service' ? 2 : 1,
        mayDecide: async (user) =>
          user === 'UONCALL' ? undefined : { ok: false, code: 'NO', reason: 'You may not.' },
        mayAsk: async (user) => (user === 'UONCALL' ? undefined : { ok: false, code: 'NO', reason: 'No.' }),
      },
      targets: [
        target('shop-db', 'postgres', 'postgres'),
        target('ledger', 'postgres', 'postgres'),
        target('web-1', 'host', 'docker'),
      ],
      tools: allTools,
      kinds,
      ...changes,
    }),
  );

describe('the facts of App Home', () => {
  test('say what this person may approve on each target, and with how many more', async () => {
    expect(await sources().access('UONCALL')).toEqual([
      'shop-db: you may approve every change.',
      'ledger: you approve nothing.',
      'web-1: you may approve change the file, put the file back, restart the service (with 1 more).',
    ]);
    expect(await sources().access('USTRANGER')).toEqual(
      ['shop-db', 'ledger', 'web-1'].map((name) => `${name}: you approve nothing.`),
    );
    expect((await sources().access('UADMIN'))[0]).toMatch(/^Admin/);
  });

  test('make nobody an admin, and say so, when Slack cannot tell', async () => {
    const away = async () => Promise.reject(new Error('Slack is away'));
    const home = sources({
      policy: { isAdmin: away, takes: away, mayDecide: away, mayAsk: async () => undefined },
    });
    expect((await home.facts(homeReaderOf('UADMIN'))).isAdmin).toBe(false);
    expect(await home.access('UADMIN')).toEqual(['What you may approve cannot be told now: Slack is away']);
  });

  test('name each tool once, with the kinds of system it works on, and the cost of today', async () => {
    const groups = sources().tools();
    const named = groups.flatMap(({ tools }) => tools.map(({ name }) => name));
    expect([...named].sort()).toEqual(allTools.map(({ name }) => name).sort());
    expect(groups.map(({ domain }) => domain)).toContain('hosts');
    expect(groups.flatMap(({ tools }) => tools).every(({ says }) => says.length > 0)).toBe(true);
    const { cost } = await sources({ model: 'claude' }).facts(homeReaderOf('UONCALL'));
    expect(cost.says).toBe('$1.50 of $100.00 today, breaker closed.');
  });

  test('show the proposals that this person may approve and read of, and no other', async () => {
    const [mine, hidden, over, given] = ['1', '2', '3', '4'].map((n) =>
      anAction({
        id: asActionId(`act_${n}`),
        planId: asActionId(`act_${n}`),
        incidentId: asIncidentId(`INC-${n}`),
      }),
    );
    if (!mine || !hidden || !over || !given) throw new Error('four');
    const home = sources({
      record: {
        ...homeDeps({}).record,
        proposals: async () => [mine, hidden, over, { ...given, approvedBy: ['UONCALL'] }],
      },
      records: {
        incident: async (id) => anIncident({ id, state: id === 'INC-3' ? 'resolved' : 'awaiting_approval' }),
        plan: async () => [mine],
      },
    });
    const shown = async (user: string) =>
      (await home.facts(homeReaderOf(user, [], async ({ id }) => id !== 'INC-2'))).approvals.map(
        ({ action }) => action.id,
      );
    expect(await shown('UONCALL')).toEqual(['act_1']);
    expect(await shown('USTRANGER')).toEqual([]);
  });

  test('count what could not be read over incidents, with what mends it, until it has worked', async () => {
    const incidents = ['INC-1', 'INC-2', 'INC-3'].map((id) => anIncident({ id: asIncidentId(id) }));
    const failed = (id: string, incidentId: string) =>
      aToolCall({
        id: asToolCallId(id),
        incidentId: asIncidentId(incidentId),
        role: 'detective',
        tool: 'http_get',
        target: 'shop-db',
        state: 'failed',
        code: 'URL_NOT_ALLOWED',
        input: { url: 'https://docs.example.com/locks' },
        output: 'docs.example.com is not on the list.',
        startedAt: '2026-01-01T10:00:00.000Z',
      });
    const calls = [failed('tc_1', 'INC-1'), failed('tc_2', 'INC-2')];
    const withGaps = (worked: string | null) =>
      sources({
        record: {
          ...homeDeps({}).record,
          unread: async () =>
            incidents.map(({ id }, at) => ({
              incidentId: id,
              target: 'shop-db',
              unread: calls
                .slice(at, at + 1)
                .map((call) => ({ toolCallId: call.id, way: 'grant', reason: '' })),
            })),
          toolCalls: async () => calls,
          lastWorked: async () => (worked ? [{ tool: 'http_get', target: 'shop-db', at: worked }] : []),
        },
      });
    const [gap, ...more] = await withGaps('2026-01-01T09:00:00.000Z').gaps(
      homeReaderOf('UONCALL', incidents),
    );
    expect(more).toEqual([]);
    expect(gap).toMatchObject({ target: 'shop-db', incidents: 2, of: 3 });
    expect(gap?.exact).toContain('docs.example.com');
    expect(await withGaps('2026-01-01T11:00:00.000Z').gaps(homeReaderOf('UONCALL', incidents))).toEqual([]);
    // What has to be granted is for those who may have more read.
    expect(await withGaps(null).gaps(homeReaderOf('USTRANGER', incidents))).toEqual([]);
  });

  test('tell of each target whether it answered the last time, whoever looked', () => {
    const at = (hour: number) => `2026-01-01T${String(hour).padStart(2, '0')}:00:00.000Z`;
    const look = (name: string, code: string | null, hour: number) =>
      aToolCall({
        target: name,
        state: code ? 'failed' : 'ok',
        code,
        tool: 'postgres_activity',
        finishedAt: at(hour),
      });
    const seen = targetsSeen(
      ['well', 'away', 'denied', 'back', 'silent', 'new'].map((name) => ({ name })),
      [
        look('well', null, 11),
        look('away', 'TIMEOUT', 11),
        look('denied', 'NOT_PERMITTED', 11),
        look('back', 'TIMEOUT', 9),
      ],
      [
        { target: 'back', seenAt: at(11) },
        { target: 'silent', seenAt: at(8) },
      ],
      new Date(at(12)),
    );
    expect(seen.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'well answers',
      'away away',
      'denied answers',
      'back answers',
      'silent silent',
      'new unseen',
    ]);
  });

  test('find the words that errors have most often, in the incidents named and no others', async () => {
    const asked: string[][] = [];
    const home = sources({
      record: {
        ...homeDeps({}).record,
        episodes: async (ids) => {
          asked.push([...ids]);
          return ['deadlock on orders', 'orders: disk is full', 'orders again'].map((error, n) => ({
            incidentId: asIncidentId('INC-7'),
            error,
            success: n > 0,
          }));
        },
      },
    });
    const { words, succeeded, failed } = await home.tried(homeReaderOf('UONCALL', [anIncident()]));
    expect(words[0]).toEqual(['orders', 3]);
    expect({ succeeded, failed }).toEqual({ succeeded: 2, failed: 1 });
    expect(asked).toEqual([['INC-7']]);
  });
});
