import { expect, it } from 'vitest';
import type { Action } from '../../../src/core/action.ts';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import type { OutboundStore } from '../../../src/slack/outbound/store.ts';
import type { SlackDeps } from '../../../src/slack/ports.ts';
import { createDrawOptions } from '../../../src/slack/views/draw-options.ts';
import { anAction, anIncident, aRecord, eventsOf } from '../../support/incident-record.ts';
import { quiet } from '../../support/quiet.ts';

const user = (id: string) => ({ kind: 'user', id }) as const;
const deps = {
  log: quiet,
  config: {
    approvers: [user('UDEFAULT')],
    approversOf: async ({ tool }: Action) => [user(tool === 'first' ? 'UFIRST' : 'ULATER')],
    oncallGroup: null,
  },
  workspace: { directory: { name: async (id: string) => id }, access: { mayTell: async () => true } },
  records: { incidents: async () => [] },
  escalation: { isQuiet: () => false },
  plans: { fieldsOf: () => [] },
  afterwards: { mayUndo: () => false },
  digDeeper: null,
} as unknown as SlackDeps;
const store = { places: async () => new Map() } as unknown as OutboundStore;
const limit: IncidentEventBody = {
  type: 'plan.none',
  reason: 'Two restarts an hour are allowed.',
  asksAgainAt: '2026-11-21T11:00:00.000Z',
  severity: 'critical',
};

/** Whom the wait mentions that is the last event. */
async function rung(actions: readonly (readonly [tool: string, afterMs: number])[]) {
  const events = eventsOf(limit);
  const [wait] = events;
  const proposed = actions.map(([tool, afterMs]) =>
    anAction({
      tool,
      state: 'void',
      proposedAt: new Date(Date.parse(wait?.at ?? '') + afterMs).toISOString(),
    }),
  );
  const incident = anIncident({ severity: 'critical', state: 'reported' });
  const options = await createDrawOptions(deps, store)(aRecord({ incident, actions: proposed, events }));
  return options.ringAt?.(wait?.seq ?? 0);
}

it('where nobody is on call, a critical wait mentions those who decide where no rule says otherwise', async () => {
  expect(await rung([])).toEqual(['UDEFAULT']);
});

it('and those who decided on what was proposed before it, not on what came later', async () => {
  expect(
    await rung([
      ['first', -60_000],
      ['later', 60_000],
    ]),
  ).toEqual(['UFIRST']);
  expect(await rung([['later', 60_000]])).toEqual(['UDEFAULT']);
});
