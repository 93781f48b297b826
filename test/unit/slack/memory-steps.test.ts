import { expect, test } from 'vitest';
import { asIncidentId } from '../../../src/core/ids.ts';
import { stepOf } from '../../../src/slack/views/blocks/steps.ts';

const options = { threadUrl: () => null, approvers: null, oncall: null };
const event = {
  type: 'memory.context.loaded',
  seq: 1,
  incidentId: asIncidentId('INC-1'),
  at: '2026-03-01T10:00:00.000Z',
  role: 'detective',
  turn: 1,
  tokens: 120,
  documents: [],
  missing: null,
} as const;
const loaded = (path: string, trusted: boolean) => ({
  id: path,
  store: 'workspace_runbooks',
  path,
  version: 1,
  trust: trusted ? 'admin_approved' : 'agent_draft',
  trusted,
  tokens: 60,
});
const shown = (change: object) =>
  stepOf({ ...event, ...change }, options)
    ?.spans.map((span) => ('text' in span ? span.text : ''))
    .join('') ?? null;

test('what a model was given from memory is named, drafts counted, the rest told as a number', () => {
  const documents = ['a', 'b', 'c', 'd', 'e'].map((path, n) => loaded(path, n !== 4));
  expect(shown({ documents })).toBe(
    'Memory for the detective: a, b, c, d and 1 more (120 tokens, 1 unreviewed)',
  );
});

test('nothing given makes no line, unless memory did not answer', () => {
  expect(shown({})).toBeNull();
  expect(shown({ missing: 'Memory did not answer.' })).toBe('Memory did not answer. (detective)');
});

test('a problem that came often is one, with how it ended; what may not be told is told without its words', () => {
  const recalled = {
    type: 'memory.recalled',
    when: 'start',
    runbooks: [],
    worked: ['SELECT 1'],
    failed: [],
    missing: null,
  };
  const past = {
    incidentId: 'INC-12',
    title: 'Blocked',
    distance: 0.1,
    times: 12,
    ended: 'fixed 9 times; not fixed 3 times',
  };
  expect(shown({ ...recalled, incidents: [past] })).toBe(
    'Seen before: 12 times, INC-12 Blocked (fixed 9 times; not fixed 3 times)',
  );
  expect(shown({ ...recalled, worked: [], incidents: [], heldBack: 'may_not' })).toBe(
    'A similar incident exists that you may not see.',
  );
  expect(shown({ ...recalled, worked: [], incidents: [], heldBack: 'cannot_tell' })).toBe(
    'A similar incident is left out: Slack does not tell who may see it.',
  );
});
