import { describe, expect, it } from 'vitest';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import type { Incident } from '../../../src/core/incident.ts';
import type { IncidentRecord } from '../../../src/core/incident-record.ts';
import type { JudgedChange, WhatChanged } from '../../../src/core/what-changed.ts';
import { postIncidentReport } from '../../../src/incidents/reports/post-incident.ts';
import { reportMarkdown } from '../../../src/incidents/reports/report-text.ts';
import { SITREP, sitrep } from '../../../src/incidents/reports/sitrep.ts';
import { drawRoot } from '../../../src/slack/views/blocks/root.ts';
import { diagnosisView, stepsView } from '../../../src/slack/views/record-views.ts';
import { aChange, changesLooked, judged, LOOK } from '../../support/changes.ts';
import { aDiagnosis, anIncident, aRecord, eventsOf } from '../../support/incident-record.ts';
import { seenText } from '../../support/seen-text.ts';

const opened = { type: 'incident.opened', source: 'alertmanager', title: 'x' } as const;
const diagnosed = (changes: readonly JudgedChange[]): IncidentEventBody => ({
  type: 'diagnosis.concluded',
  round: 1,
  diagnosis: aDiagnosis({ rootCause: 'the pool is too small', changes }),
});
const recordOf = (
  found: Partial<WhatChanged>,
  more: readonly IncidentEventBody[] = [],
  incident: Partial<Incident> = {},
): IncidentRecord =>
  aRecord({
    incident: anIncident({ target: 'shop-api', ...incident }),
    actions: [],
    events: eventsOf(opened, changesLooked(found), ...more),
  });
const options = { threadUrl: () => null, approvers: null };
const rootText = (...given: Parameters<typeof recordOf>) => seenText(drawRoot(recordOf(...given), options));
const other = aChange({
  ref: 'c2',
  id: 'deploy-2',
  title: 'orders 7 deployed',
  by: null,
  from: null,
  to: null,
});
const blind: Partial<WhatChanged> = {
  answer: 'could_not_look',
  looked: [],
  couldNotLook: [{ source: 'own-look', of: 'shop-api', from: null, to: null, why: 'it did not answer' }],
};
const over = { state: 'resolved', resolvedBy: 'source', endedAt: '2026-11-21T10:30:00.000Z' } as const;

describe('the root', () => {
  it('names the suspect while the cause is looked for, with when, by whom and its address', () => {
    const record = recordOf({ suspects: [aChange()] });
    const root = drawRoot(record, options);
    expect(seenText(root)).toContain(
      'Still looking. Suspect: shop-api 1.4.2 deployed by olivia, 3 min before it began.'.replace(
        '. S',
        '.\nS',
      ),
    );
    expect(JSON.stringify(root.blocks)).toContain('"url":"https://github.example/shop/deployments/1"');
  });

  it('puts two side by side, and calls neither the one', () => {
    const text = rootText({ suspects: [aChange(), other] });
    expect(text).toContain('Suspects, which one is not known: shop-api 1.4.2');
    expect(text).toContain('; orders 7 deployed');
  });

  it('says “Changed” of what a read has shown to be the cause, and keeps no suspect beside it', () => {
    const found = { suspects: [aChange(), other] };
    const text = rootText(found, [diagnosed([judged('cause')])], { cause: 'the pool is too small' });
    expect(text).toContain('Changed: shop-api 1.4.2');
    expect(text).not.toMatch(/Suspect|orders 7/);
  });

  it('calls none a suspect beside a cause that stands without it, and each one where the why is not known', () => {
    const found = { suspects: [aChange(), other] };
    const text = rootText(found, [diagnosed([])], { cause: 'the pool is too small' });
    expect(text).toContain('Changed before it, no sign that it matters: shop-api 1.4.2');
    expect(text).not.toContain('Suspect');
    const unexplained: IncidentEventBody = {
      type: 'diagnosis.concluded',
      round: 1,
      diagnosis: aDiagnosis({ unexplained: 'why it is too small' }),
    };
    expect(rootText(found, [unexplained], { cause: 'the pool is too small' })).toContain(
      'Suspects, which one',
    );
  });

  it('keeps what a read speaks against off it, and in the end every suspect', () => {
    const found = { suspects: [aChange()] };
    expect(rootText(found, [diagnosed([judged('unrelated')])])).not.toContain('1.4.2');
    expect(rootText(found, [diagnosed([])], { ...over, cause: 'a lock' })).not.toContain('1.4.2');
    expect(rootText(found, [diagnosed([judged('cause')])], { ...over, cause: 'a lock' })).toContain(
      'Changed: shop-api 1.4.2',
    );
  });

  it('says of a neighbour’s change that it is one, and tells it after its own', () => {
    const near = aChange({
      touches: 'neighbour',
      through: 'orders-db',
      title: 'orders-db migrated',
      to: null,
    });
    expect(rootText({ suspects: [near] })).toContain('Suspect beside it: orders-db migrated');
    expect(rootText({ suspects: [aChange({ ref: 'c2', id: 'd2' }), near] })).not.toContain('orders-db');
  });

  it('says nothing where nothing is known, or nobody could be asked: that is a press away', () => {
    for (const found of [{}, blind]) expect(rootText(found)).not.toMatch(/change|suspect|looked at/i);
  });

  it('follows no address that is none of the web', () => {
    const root = drawRoot(recordOf({ suspects: [aChange({ url: 'javascript:alert(1)' })] }), options);
    expect(JSON.stringify(root.blocks)).not.toContain('javascript');
  });
});

describe('its windows', () => {
  it('tell every change with its part, who was asked from when to when, and who could not be', () => {
    const record = recordOf({ suspects: [aChange(), other], couldNotLook: blind.couldNotLook ?? [] }, [
      diagnosed([{ ...judged('unrelated', 'c2'), title: 'orders 7 deployed' }]),
    ]);
    const text = seenText(diagnosisView(record, 1) as never);
    expect(text).toContain('What changed');
    expect(text).toContain('Suspect: shop-api 1.4.2');
    expect(text).toContain('Not it, a read speaks against it: orders 7 deployed');
    expect(text).toContain('Asked: GitHub, of shop-api, from ');
    expect(text).toContain('Could not look: my own looks at shop-api: it did not answer');
  });

  it('tell of a look as one step, and not of its call as well', () => {
    const called: IncidentEventBody = {
      type: 'tool.called',
      toolCallId: LOOK,
      role: 'detective',
      tool: 'what_changed',
      purpose: 'what was changed',
      state: 'ok',
      summary: '1 change',
    };
    const record = aRecord({ events: eventsOf(opened, called, changesLooked({ suspects: [aChange()] })) });
    const text = seenText(stepsView(record, null, options) as never);
    expect(text).toContain('Changed before it: shop-api 1.4.2');
    expect(text).not.toContain('1 change');
  });
});

describe('its reports', () => {
  it('name the changes with their part; an address ends where its link does', () => {
    const change = aChange({ url: 'https://ci.example/a)[evil](https://evil.example' });
    const report = postIncidentReport(
      recordOf({ suspects: [change] }, [diagnosed([judged('cause')])], over),
      {
        now: new Date('2026-11-21T11:00:00Z'),
        threadUrl: null,
      },
    );
    const text = reportMarkdown(report, (id) => id);
    expect(text).toContain('## What changed');
    expect(text).toMatch(/- Changed, and a read shows that it is what is wrong: \[shop-api 1\.4\.2 /);
    expect(text).not.toContain('](https://evil');
  });

  it('say that nobody looked where nobody did', () => {
    const report = postIncidentReport(aRecord({ events: eventsOf(opened) }), {
      now: new Date('2026-11-21T11:00:00Z'),
      threadUrl: null,
    });
    expect(reportMarkdown(report, (id) => id)).toContain('## What changed\n\nNobody looked.');
  });

  it('an update names the suspect, within its length', () => {
    const at = { now: new Date('2026-11-21T10:10:00Z'), read: () => null, nextCallAt: null };
    const text = sitrep(recordOf({ suspects: [aChange()] }), at);
    expect(text).toContain('Suspect: shop-api 1.4.2 deployed by olivia, 3 min before it began.');
    expect(text.length).toBeLessThanOrEqual(SITREP);
    expect(sitrep(recordOf(blind), at)).not.toMatch(/suspect|changed:/i);
  });
});
