import { describe, expect, test } from 'vitest';
import { createHomeFacts } from '../../../src/app/home-facts.ts';
import type { Target } from '../../../src/core/target.ts';
import type { BreakerView } from '../../../src/safety/limits/cost-breaker.ts';
import { allTools } from '../../../src/targets/all-tools.ts';
import { kinds } from '../../../src/targets/kinds.ts';
import { quiet } from '../../support/quiet.ts';

const target = (name: string, kind: Target['kind'], domain: Target['domain']): Target => ({
  name,
  kind,
  domain,
  environment: 'test',
  aliases: [],
});
const view: BreakerView = {
  state: 'closed',
  since: '',
  reason: '',
  spentUsd: 0.25,
  reservedUsd: 0,
  limits: { usd: 5, windowMs: 600_000, perIncidentUsd: 10, perDayUsd: 100 },
  todayUsd: 1.5,
};

function factsOf(changes: Partial<Parameters<typeof createHomeFacts>[0]> = {}) {
  return createHomeFacts({
    policy: {
      isAdmin: async (user) => user === 'UADMIN',
      // Two for restarts, and nothing on the ledger database.
      takes: async (user, about) =>
        user !== 'UONCALL' || about.target === 'ledger' ? null : about.tool === 'restart_service' ? 2 : 1,
    },
    targets: [
      target('shop-db', 'postgres', 'postgres'),
      target('ledger', 'postgres', 'postgres'),
      target('web-1', 'host', 'docker'),
    ],
    tools: allTools,
    kinds,
    layers: async () => [],
    breaker: { view: async () => view },
    limits: { usd: 5, windowMs: 600_000, perIncidentUsd: 10, perDayUsd: 100 },
    model: null,
    runbooks: () => 30,
    switchLines: async () => ['Changes are not stopped: approved fixes run.'],
    log: quiet,
    ...changes,
  });
}

describe('the facts of App Home', () => {
  test('say what this person may approve on each target, and with how many more', async () => {
    const { access, isAdmin } = await factsOf()('UONCALL');
    expect(isAdmin).toBe(false);
    expect(access).toEqual([
      'shop-db: you may approve every change.',
      'ledger: you approve nothing.',
      'web-1: you may approve change the file, put the file back, restart the service (with 1 more).',
    ]);
    expect((await factsOf()('USTRANGER')).access).toEqual(
      ['shop-db', 'ledger', 'web-1'].map((name) => `${name}: you approve nothing.`),
    );
    expect((await factsOf()('UADMIN')).access[0]).toMatch(/^Admin/);
  });

  test('make nobody an admin, and say so, when Slack cannot tell', async () => {
    const away = async () => Promise.reject(new Error('Slack is away'));
    const { isAdmin, access } = await factsOf({ policy: { isAdmin: away, takes: away } })('UADMIN');
    expect(isAdmin).toBe(false);
    expect(access).toEqual(['What you may approve cannot be told now: Slack is away']);
  });

  test('count the tools by kind of system, and name those that change something', async () => {
    const { tools, cost } = await factsOf()('UONCALL');
    // One that works on several kinds is told with each.
    const told = allTools.flatMap(({ targetKinds }) => targetKinds ?? ['everywhere']);
    expect(tools.reduce((sum, { reading, changing }) => sum + reading + changing.length, 0)).toBe(
      told.length,
    );
    expect(tools.find(({ domain }) => domain === 'hosts')?.changing).toContain('change the file');
    expect(cost.join()).toContain('$1.50 of $100.00');
    expect(cost.join()).toContain('$0.25 of $5.00');
  });
});
