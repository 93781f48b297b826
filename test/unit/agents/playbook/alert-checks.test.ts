import { describe, expect, it } from 'vitest';
import { checkVerifyStep } from '../../../../src/actions/recovery/check-verify-step.ts';
import { alertChecks } from '../../../../src/agents/playbook/alert-checks.ts';
import { loadRunbooks } from '../../../../src/runbooks/load-runbooks.ts';
import { allTools } from '../../../../src/targets/all-tools.ts';
import { createRegistry } from '../../../../src/tools/registry.ts';
import { anIncident } from './scripted-work.ts';

const { runbooks, problems } = await loadRunbooks('runbooks', { tools: createRegistry(allTools) });
const of = (alertName: string, part: Parameters<typeof anIncident>[0] = {}) =>
  alertChecks(runbooks, anIncident({ alertName, title: alertName, ...part }));

it('is read from the shipped runbooks, all of which load', () => {
  expect(problems).toEqual([]);
  expect(of('PostgresBlockedSessions')).toMatchObject([
    {
      step: { tool: 'postgres_blocking_tree', measure: { name: 'longest_lock_wait' } },
      runbookId: 'blocked-sessions',
      isCertain: true,
    },
  ]);
});

it.each([
  ['that no runbook lists', 'CheckoutIsSlow'],
  ['of the opposite', 'PostgresTooManyConnectionsRecovered'],
  ['of what is only counted up', 'PostgresDeadlocks'],
  ['of what only two looks tell', 'PostgresCheckpointsTooFrequent'],
])('is not known of an alert %s', (_what, name) => {
  expect(of(name)).toEqual([]);
});

it('may be about something else where the name of the alert says more than its pattern', () => {
  expect(of('RedisTooManyConnections')).toMatchObject([{ isCertain: false }]);
});

describe('of services', () => {
  const check = (title: string, down: readonly string[]) => {
    const [found] = of('HostServiceDown', { domain: 'docker', title });
    if (!found) throw new Error('no check');
    const services = ['shop-worker', 'shop-web'].map((service) => ({
      service,
      running: !down.includes(service),
    }));
    const answer = { kind: 'ok', toolCallId: 'tc_1' as never, text: '', truncated: false } as const;
    return checkVerifyStep(found.step, { ...answer, data: { services } }, []).holds;
  };

  it('is the one that the alert names, whatever became of the others', () => {
    expect(check('shop-worker is down', ['shop-worker'])).toBe(false);
    expect(check('shop-worker is down', ['shop-web'])).toBe(true);
    // One name is no part of another.
    expect(check('shop-worker-2 is down', ['shop-web'])).toBe(false);
  });

  it('is any of them where it names none', () => {
    expect(check('A service is down', ['shop-web'])).toBe(false);
    expect(check('A service is down', [])).toBe(true);
  });
});
