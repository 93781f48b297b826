import { expect, test } from 'vitest';
import type { IncidentEvent } from '../../../src/core/event.ts';
import { asIncidentId } from '../../../src/core/ids.ts';
import type { Incident } from '../../../src/core/incident.ts';
import { mutedNow } from '../../../src/core/muted-now.ts';
import { formatStanding } from '../../../src/incidents/questions/format-state.ts';
import { sayText } from '../../../src/slack/outbound/tell.ts';
import { drawRoot } from '../../../src/slack/views/blocks/root.ts';
import { begunSlot, endedSlot } from '../../../src/slack/views/draw-mute.ts';
import { anIncident } from '../../support/incidents.ts';

const at = '2026-03-01T10:00:00.000Z';
const event = (seq: number, body: object): IncidentEvent =>
  ({ seq, incidentId: asIncidentId('INC-1'), at, ...body }) as IncidentEvent;
const muted = event(1, {
  type: 'incident.muted',
  mute: 'M3',
  by: 'U0123',
  matcher: 'alertname="X"',
  reason: '<!channel> *deploy*',
  until: '2026-03-01T12:00:00.000Z',
});
const record = (change: Partial<Incident>, ...events: readonly IncidentEvent[]) => ({
  incident: anIncident({ mutedBy: 'M3', ...change }),
  alerts: [],
  events,
  toolCalls: [],
  actions: [],
  episodes: [],
  denials: [],
});

test('a thread that stands says until when it waits, and by whom', () => {
  const root = drawRoot(record({}, muted));
  expect(JSON.stringify(root.blocks)).toContain('Muted until ');
  expect(root.text).not.toContain('<!channel>');
  expect(formatStanding(anIncident({ mutedBy: 'M3' }))).toBe('Muted (M3)');
});

test('what ended while it waited, and what goes on, waits no more', () => {
  expect(mutedNow(record({}, muted))?.mute).toBe('M3');
  expect(mutedNow(record({ mutedBy: null }, muted))).toBeNull();
  const ended = event(2, { type: 'state.changed', from: 'open', to: 'resolved', reason: '' });
  expect(mutedNow(record({ state: 'resolved' }, muted, ended))).toBeNull();
  expect(mutedNow(record({ state: 'resolved' }, ended, { ...muted, seq: 3 }))?.mute).toBe('M3');
});

test('the lines of a mute mention nobody, whatever is written in it', () => {
  const mute = {
    id: 'M3',
    matcher: `title="<!here> ${'x'.repeat(4_000)}"`,
    by: 'U0123',
    reason: `<!channel>\n*bold* ${'y'.repeat(9_000)}`,
    begunAt: at,
    until: '2026-03-03T12:00:00.000Z',
    endedBy: 'U0456',
    closedAt: at,
    alerts: 12,
    incidents: 4,
    firing: 3,
  };
  const [begun, ended] = [begunSlot(mute, '@olivia'), endedSlot(mute, '@noah')];
  for (const slot of [begun, ended]) {
    expect(slot.text).not.toMatch(/<!|<@/);
    expect(slot.text.length).toBeLessThan(1_500);
    expect(JSON.stringify(slot.blocks)).not.toMatch(/"type":"(?:user|usergroup|broadcast)"/);
  }
  expect(ended.text).toContain('12 alerts of 4 incidents came, 3 still fire: opening them.');
});

test('a time is told in the reader’s zone, with its day where that is not plain', () => {
  const far = { ...muted, until: '2026-03-02T12:00:00.000Z' } as IncidentEvent;
  expect(JSON.stringify(drawRoot(record({}, far)).blocks)).toContain('{date_short_pretty} {time}');
  expect(JSON.stringify(drawRoot(record({}, muted)).blocks)).not.toContain('{date_short_pretty}');
  const said = sayText('Muted until 2026-03-01 12:00 UTC (M3): x. And 2026-03-02 13:00 UTC');
  const blocks = JSON.stringify(said.blocks);
  expect(blocks).toContain(`"timestamp":${Date.parse('2026-03-01T12:00:00Z') / 1_000}`);
  expect(blocks).toContain(`"timestamp":${Date.parse('2026-03-02T13:00:00Z') / 1_000}`);
  expect(blocks).toContain('" (M3): x. And "');
});
