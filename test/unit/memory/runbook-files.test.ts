import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadRunbooks } from '../../../src/runbooks/load-runbooks.ts';
import type { Runbook } from '../../../src/runbooks/runbook.ts';
import { fittingRunbooks, recallFromFiles } from '../../../src/runbooks/runbook-files.ts';
import { anIncident } from '../../support/incidents.ts';

let runbooks: readonly Runbook[];
beforeAll(async () => {
  ({ runbooks } = await loadRunbooks(join(import.meta.dirname, '../../../runbooks')));
});
const recalled = (...change: Parameters<typeof anIncident>) =>
  recallFromFiles(runbooks, anIncident(...change), null, 5).map(({ runbookId }) => runbookId);

describe('runbook files without memory', () => {
  test('each is the first for each of its alerts, with its prose', () => {
    for (const { id, domains, matches } of runbooks)
      for (const alertName of matches.alerts.filter((name) => !name.includes('*'))) {
        const [best] = recallFromFiles(
          runbooks,
          anIncident({ title: alertName, alertName, domain: domains[0] ?? '' }),
          null,
          5,
        );
        expect(best?.runbookId, alertName).toBe(id);
        expect(best?.text).not.toBe('');
        expect(best?.text).not.toContain('yaml step');
      }
  });

  test('an alert that no matcher knows is met by words', () => {
    const title = 'Checkout hangs';
    const annotations = {
      summary: 'Sessions wait for a row lock that another session holds, blocking them.',
    };
    expect(recalled({ title, alertName: 'CheckoutHangs', annotations })).toContain('blocked-sessions');
    expect(recalled({ title: 'xyzzy', alertName: 'Xyzzy' })).toEqual([]);
  });

  test('never of another domain', () => {
    expect(recalled({ domain: 'kubernetes' })).toEqual([]);
  });

  test('a name says more than the kind, and the kind more than a phrase', () => {
    const fits = fittingRunbooks(runbooks, anIncident(), 'deadlocks').map(({ runbook, fit }) => [
      runbook.type,
      fit,
    ]);
    expect(fits[0]).toEqual(['blocked_sessions', 'name']);
    expect(fits).toContainEqual(['deadlocks', 'type']);
    expect(fits.map(([, fit]) => fit)).toEqual(
      fits
        .map(([, fit]) => fit)
        .toSorted(
          (a = '', b = '') => ['name', 'type', 'text'].indexOf(a) - ['name', 'type', 'text'].indexOf(b),
        ),
    );
  });
});
