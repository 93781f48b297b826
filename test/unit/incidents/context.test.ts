import { describe, expect, it } from 'vitest';
import { contextData } from '../../../src/agents/claude/context-data.ts';
import type { Investigation } from '../../../src/agents/ports.ts';
import { contextLines, type GatheredPart } from '../../../src/core/context.ts';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import { EMPTY_RECALL } from '../../../src/core/memory.ts';
import { gatherContext } from '../../../src/incidents/context/gather.ts';
import { links } from '../../../src/incidents/context/links.ts';
import type { ContextAbout, ContextPart } from '../../../src/incidents/context/part.ts';
import { contextParts } from '../../../src/incidents/context/parts.ts';
import { why } from '../../../src/incidents/questions/why.ts';
import { diagnosisView } from '../../../src/slack/views/record-views.ts';
import { aDiagnosis, anIncident, aRecord, eventsOf } from '../../support/incident-record.ts';

const aboutAlerts = (...alerts: object[]): ContextAbout => ({
  record: {
    ...aRecord({ incident: anIncident({ target: 'shop-db' }), actions: [], events: [] }),
    alerts: alerts as never,
  },
  recall: EMPTY_RECALL,
  neighbours: [],
  signal: new AbortController().signal,
});
const alert = (annotations: object, url: string | null = null) => ({ labels: {}, annotations, url });
const part = (name: string, gather: ContextPart['gather'], more: Partial<ContextPart> = {}): ContextPart => ({
  name,
  label: name,
  limitMs: 60_000,
  gather,
  ...more,
});
const hangs = () => new Promise<never>(() => undefined);

describe('gathering', () => {
  it('waits for no part that is not awaited, and tells its answer when it comes', async () => {
    let answer: (found: { line: string }) => void = () => undefined;
    const slow = new Promise<{ line: string }>((resolve) => {
      answer = resolve;
    });
    const { now, later } = await gatherContext(
      [part('slow', () => slow), part('quick', () => ({ line: 'here' }), { awaited: true })],
      aboutAlerts(),
    );
    expect(now).toMatchObject([
      { name: 'slow', state: 'late', line: '' },
      { name: 'quick', state: 'found', line: 'here' },
    ]);
    answer({ line: 'at last' });
    expect(await later).toMatchObject([{ state: 'found', line: 'at last' }, { state: 'found' }]);
  });

  it('gives up an awaited part that hangs at its own limit, and tells it that it is over', async () => {
    let given: AbortSignal | undefined;
    const hung = part('hung', ({ signal }) => ((given = signal), hangs()), { awaited: true, limitMs: 1 });
    const { now, later } = await gatherContext([hung], aboutAlerts());
    expect(now).toMatchObject([{ state: 'late' }]);
    expect(given?.aborted).toBe(true);
    expect(later).toBeNull();
  });

  it('takes a part that fails for a gap, and one that found nothing for none', async () => {
    const { now } = await gatherContext(
      [
        part('throws', () => {
          throw new Error('away');
        }),
        part('rejects', () => Promise.reject(new Error('gone'))),
        part('nothing', () => null),
        part('of another', () => ({ line: 'x' }), { concerns: () => false }),
      ],
      aboutAlerts(),
    );
    expect(now.map(({ name, state, line }) => [name, state, line])).toEqual([
      ['throws', 'could_not', 'away'],
      ['rejects', 'could_not', 'gone'],
      ['nothing', 'nothing', ''],
    ]);
  });
});

describe('the parts', () => {
  const told = async (about: ContextAbout) =>
    Object.fromEntries(
      (await gatherContext(contextParts, about)).now.map(({ name, state, line }) => [name, [state, line]]),
    );

  it('tell what the alert carries, and that memory could not be asked', async () => {
    const about = aboutAlerts(
      alert({ runbook_url: 'https://wiki.example/db' }, 'https://prom.example/graph?g0.expr=pg_up%20%3C%201'),
    );
    expect(
      await told({
        ...about,
        recall: { ...EMPTY_RECALL, missing: 'Chroma is down' },
        neighbours: [{ name: 'cache', kind: 'redis' }],
      }),
    ).toEqual({
      'past-incidents': ['could_not', 'Chroma is down'],
      runbooks: ['could_not', 'Chroma is down'],
      neighbours: ['found', 'cache (redis)'],
      expression: ['found', 'pg_up < 1'],
      links: [
        'found',
        'runbook https://wiki.example/db, source https://prom.example/graph?g0.expr=pg_up%20%3C%201',
      ],
    });
  });

  it('tell nothing of an alert that carries nothing', async () => {
    expect(new Set(Object.values(await told(aboutAlerts(alert({})))).map(([state]) => state))).toEqual(
      new Set(['nothing']),
    );
  });

  it.each([
    'javascript:alert(1)',
    'https://olivia:hunter2@wiki.example/',
    'https://wiki.example/<!channel>',
    'see https://wiki.example/',
    `https://wiki.example/${'a'.repeat(300)}`,
    'file:///etc/passwd',
  ])('link to no %s', (text) => {
    expect(links.gather(aboutAlerts(alert({ runbook_url: text })))).toBeNull();
  });
});

describe('what was gathered', () => {
  const parts: readonly GatheredPart[] = [
    { name: 'runbooks', label: 'Runbooks', state: 'nothing', ms: 1, line: '' },
    { name: 'links', label: 'Links', state: 'found', ms: 1, line: 'runbook https://wiki.example/db' },
    { name: 'status', label: 'Status pages', state: 'late', ms: 9, line: '' },
  ];
  const gathered = { type: 'context.gathered', round: 1, parts } as const;
  const diagnosed = {
    type: 'diagnosis.concluded',
    round: 1,
    diagnosis: aDiagnosis({ rootCause: 'the disk' }),
  } as const;
  const recordOf = (...bodies: readonly IncidentEventBody[]) =>
    aRecord({ incident: anIncident({ target: 'shop-db' }), actions: [], events: eventsOf(...bodies) });
  const opened = { type: 'incident.opened', source: 'alertmanager', title: 'x' } as const;
  const lines = [
    '– Runbooks: nothing',
    '✓ Links: runbook https://wiki.example/db',
    '⏱ Status pages: no answer in time',
  ];

  it('is a checklist in why and in Evidence; an older record has none', () => {
    const record = recordOf(opened, gathered, diagnosed);
    expect(why(record)).toContain(['*Gathered around it*', ...lines.map((line) => `• ${line}`)].join('\n'));
    const shown = JSON.stringify(diagnosisView(record, 1));
    for (const line of lines) expect(shown).toContain(line);
    const old = recordOf(opened, diagnosed);
    expect(why(old)).not.toContain('Gathered');
    expect(JSON.stringify(diagnosisView(old, 1))).not.toContain('Gathered');
  });

  it('is told as the last word of it has it', () => {
    const late = {
      ...gathered,
      parts: [{ ...(parts[2] as GatheredPart), state: 'found', line: 'all up' }],
    } as const;
    expect(contextLines(recordOf(opened, gathered, late).events)).toEqual(['✓ Status pages: all up']);
  });

  it('is given to the model in few words, with its gaps', () => {
    expect(contextData({ gathered: parts } as unknown as Investigation)).toEqual({
      context: ['Links: runbook https://wiki.example/db', 'Status pages: no answer in time'],
    });
    const many = Array.from({ length: 20 }, () => ({
      ...(parts[1] as GatheredPart),
      line: 'a '.repeat(400),
    }));
    expect(JSON.stringify(contextData({ gathered: many } as unknown as Investigation)).length).toBeLessThan(
      1_200,
    );
    expect(contextData({} as Investigation)).toEqual({});
  });
});
