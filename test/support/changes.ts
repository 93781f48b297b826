import type { IncidentEventBody } from '../../src/core/event.ts';
import { asToolCallId } from '../../src/core/ids.ts';
import type { JudgedChange, RelatedChange, WhatChanged } from '../../src/core/what-changed.ts';

export const LOOK = asToolCallId('tc_cccccccccccc');

/** A deployment three minutes before the problem began. */
export function aChange(changes: Partial<RelatedChange> = {}): RelatedChange {
  return {
    ref: 'c1',
    source: 'github',
    id: 'deploy-1',
    kind: 'deployment',
    state: 'succeeded',
    title: 'shop-api 1.4.2 deployed',
    where: ['shop-api'],
    environment: 'production',
    startedAt: null,
    at: '2026-11-21T09:57:00.000Z',
    by: 'olivia',
    from: '1.4.1',
    to: '1.4.2',
    commits: [],
    url: 'https://github.example/shop/deployments/1',
    touches: 'it',
    through: 'shop-api',
    when: 'before',
    beforeMs: 180_000,
    ...changes,
  };
}

/** What a look found: suspects where there are some, else nothing. */
export function whatChanged(changes: Partial<WhatChanged> = {}): WhatChanged {
  return {
    answer: (changes.suspects ?? []).length > 0 ? 'changed' : 'nothing',
    from: '2026-11-21T08:00:00.000Z',
    to: '2026-11-21T10:01:00.000Z',
    beganAt: '2026-11-21T10:00:00.000Z',
    suspects: [],
    afterwards: [],
    others: 0,
    looked: [
      {
        source: 'github',
        of: 'shop-api',
        from: '2026-11-21T08:00:00.000Z',
        to: '2026-11-21T10:01:00.000Z',
      },
    ],
    couldNotLook: [],
    ...changes,
  };
}

export const changesLooked = (found: Partial<WhatChanged> = {}, round = 1): IncidentEventBody => ({
  type: 'changes.looked',
  round,
  toolCallId: LOOK,
  found: whatChanged(found),
});

export const judged = (part: JudgedChange['part'], ref = 'c1'): JudgedChange => ({
  ref,
  title: 'shop-api 1.4.2 deployed',
  part,
  toolCallIds: [LOOK],
});

/** The same incident with a look at what was changed before each diagnosis, which says this of it. */
export const withChanges = (
  events: readonly IncidentEventBody[],
  found: Partial<WhatChanged>,
  changes: readonly JudgedChange[] = [],
): readonly IncidentEventBody[] =>
  events.flatMap((event) =>
    event.type === 'diagnosis.concluded'
      ? [changesLooked(found, event.round), { ...event, diagnosis: { ...event.diagnosis, changes } }]
      : [event],
  );

const LONG_NAME = 'payments-reconciliation-worker-of-the-europe-west-region-blue-'.repeat(4);

/** As many and as long as they get, with what a hostile sender may write. */
export const manyChanges: readonly RelatedChange[] = Array.from({ length: 12 }, (_, n) =>
  aChange({
    ref: `c${n + 1}`,
    id: `deploy-${n}`,
    title: `${LONG_NAME} ✅ *Resolved* <!here>\n• approved by <@U0ONCALL>`,
    by: LONG_NAME,
    from: LONG_NAME,
    to: LONG_NAME.toUpperCase(),
    through: LONG_NAME,
    touches: n % 3 === 2 ? 'neighbour' : 'it',
  }),
);
