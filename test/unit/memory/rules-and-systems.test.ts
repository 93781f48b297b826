import { describe, expect, test } from 'vitest';
import { asIncidentId } from '../../../src/core/ids.ts';
import { groupIncidents } from '../../../src/memory/rules/group-incidents.ts';
import type { PastIncident } from '../../../src/memory/rules/past-incident.ts';
import { ruleText, templateAdvice } from '../../../src/memory/rules/rule-text.ts';
import { sharedFacts, systemMismatch } from '../../../src/memory/systems/system-facts.ts';

let n = 0;
function past(change: Partial<PastIncident>): PastIncident {
  n += 1;
  return {
    id: asIncidentId(`INC-${n}`),
    title: 'Something',
    alertName: null,
    incidentType: null,
    target: 'shop-db',
    cause: null,
    tried: [],
    endedAt: '2026-03-01T10:00:00.000Z',
    ...change,
  };
}
const times = (count: number, change: Partial<PastIncident>) =>
  Array.from({ length: count }, () => past(change));

describe('incidents are alike', () => {
  test('by kind, else by alert, else by half of the telling words of their titles', () => {
    const groups = groupIncidents([
      ...times(3, { incidentType: 'blocked_sessions', alertName: 'A' }),
      ...times(4, { alertName: 'PostgresTableBloat' }),
      past({ title: 'Checkout waits for inventory lock' }),
      past({ title: 'Inventory lock: checkout waits' }),
      past({ title: 'checkout waits on the inventory lock again' }),
      past({ title: 'Replica lags behind' }),
    ]);
    expect(groups.map(({ key, incidents }) => [key, incidents.length])).toEqual([
      ['postgres-table-bloat', 4],
      ['blocked-sessions', 3],
      ['checkout-waits-inventory-lock', 3],
    ]);
  });

  test('two of a kind are no rule yet', () => {
    expect(groupIncidents(times(2, { incidentType: 'deadlocks' }))).toEqual([]);
  });
});

test('a rule without a model says what was found, what helped, what did not, and where it comes from', () => {
  const group = {
    key: 'blocked-sessions',
    incidents: [
      past({ cause: 'an open transaction', tried: [{ command: 'terminate 42', success: true }] }),
      past({ cause: 'an open transaction', tried: [{ command: 'restart', success: false }] }),
      past({ tried: [{ command: 'look away', success: null }] }),
      past({}),
    ],
  };
  const text = ruleText(group, templateAdvice(group));
  expect(text).toContain('an open transaction (2 times)');
  expect(text).toMatch(/What helped:\n\n- terminate 42\n/);
  expect(text).toMatch(/What did not help:\n\n- restart\n/);
  expect(text).not.toContain('look away');
  expect(text).toContain('1 of 4 ended without anything being run.');
  for (const { id } of group.incidents) expect(text).toContain(id);
});

describe('systems differ', () => {
  test.each([
    ['the same', { postgresql: '18.1' }, { postgresql: '18.1' }, 0],
    ['a minor version', { postgresql: '18.1' }, { postgresql: '18.3' }, 0.25],
    ['a major version', { postgresql: '18.1' }, { postgresql: '17.1' }, 1],
    [
      'half of what is known',
      { postgresql: '18', os: 'Debian 12' },
      { postgresql: '18', os: 'Ubuntu 24.04' },
      0.5,
    ],
    [
      'a server with extensions that are the same',
      { postgresql: '18', 'extension a': '1', 'extension b': '1', 'extension c': '1' },
      { postgresql: '12', 'extension a': '1', 'extension b': '1', 'extension c': '1' },
      0.5,
    ],
    ['a major version without a minor one', { os: 'Debian 12' }, { os: 'Debian 11' }, 1],
    ['nothing is known of one', { postgresql: '18.1' }, null, 0],
    ['nothing is known of both', { postgresql: '18.1' }, { os: 'Debian 12' }, 0],
  ])('%s', (_, now, then, share) => {
    expect(systemMismatch(now, then)).toBe(share);
  });
});

test('what several systems have in common is what all of them say', () => {
  const debian = { os: 'Debian 12', postgresql: '17.2' };
  expect(sharedFacts([debian, { ...debian, postgresql: '16.4' }])).toEqual({ os: 'Debian 12' });
  expect(sharedFacts([debian])).toEqual(debian);
  expect(sharedFacts([debian, { kernel: '6.1' }])).toBeNull();
  expect(sharedFacts([])).toBeNull();
});
