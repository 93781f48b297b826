import { expect, it } from 'vitest';
import { asIncidentId } from '../../../src/core/ids.ts';
import type { Episode, Recall } from '../../../src/core/memory.ts';
import { seenBefore } from '../../../src/core/seen-before.ts';

const past = (id: string): Recall['incidents'][number] => ({
  incidentId: asIncidentId(id),
  title: 't',
  target: null,
  incidentType: null,
  severity: 'critical',
  distance: 0.1,
  storedAt: '2026-11-01T00:00:00Z',
  times: 1,
  ended: 'fixed',
  document: '',
});
const episode = (command: string, success: boolean | null): Episode => ({
  incidentId: null,
  timestamp: '2026-11-20T10:00:00Z',
  error: '',
  diagnosis: '',
  command,
  result: '',
  success,
});

it('says how often a problem was seen, what helped last and what did not', () => {
  expect(
    seenBefore({
      incidents: [past('INC-1'), past('INC-2')],
      episodes: { similar: [episode('end 7', null), episode('end 4711', true)], failedCommands: ['restart'] },
    }),
  ).toBe('Seen 2 times before; last fixed by “end 4711” on 2026-11-20; did not help: “restart”.');
  expect(seenBefore({ incidents: [], episodes: { similar: [], failedCommands: [] } })).toBeNull();
});
