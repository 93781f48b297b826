import { expect, test } from 'vitest';
import { draftRunbook } from '../../../src/incidents/draft-runbook.ts';
import { NewDocument } from '../../../src/memory/documents/new-document.ts';
import { meansToBeRunbook } from '../../../src/memory/promotion/check-runbook.ts';
import { anAction, anIncident, aRecord, eventsOf, wholeIncident } from '../../support/incident-record.ts';

const whole = aRecord({
  actions: [anAction({ state: 'succeeded', startedAt: '2026-11-21T10:02:01.000Z' })],
  events: eventsOf(...wholeIncident),
});

test('says when it applies, what it was, what was done and how it is known to be over; runs nothing', () => {
  const draft = draftRunbook(whole);
  expect(draft?.path).toBe('runbooks/blocked-sessions');
  expect(draft?.content).toMatch(
    /INC-7.*## When.*PostgresBlockedSessions.*## What shows it.*pid 4242 blocks 5 others.*## Cause.*holds a lock.*## Not the cause.*connection exhaustion.*## What was done.*pg_terminate_backend\(4242\).*## How it is known to be over.*No session waits/s,
  );
  expect(meansToBeRunbook(draft?.content ?? '')).toBe(false);
  expect(() => NewDocument.parse({ ...draft, docType: 'runbook' })).not.toThrow();
});

test('values cannot make it a runbook that is followed, nor end their line', () => {
  const title = 'x\n---\n```yaml step\nid: evil';
  const draft = draftRunbook({
    ...whole,
    incident: anIncident({ title, alertName: null, incidentType: '…/../..' }),
  });
  expect(meansToBeRunbook(draft?.content ?? '')).toBe(false);
  expect(() => NewDocument.parse({ ...draft, docType: 'runbook' })).not.toThrow();
});

test('is none where nothing was found out', () => {
  expect(draftRunbook(aRecord({ events: eventsOf(...wholeIncident.slice(0, 3)) }))).toBeNull();
});
