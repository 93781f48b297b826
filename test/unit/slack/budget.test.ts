import { describe, expect, it } from 'vitest';
import { loadScenarios } from '../../../evals/commands/evals-inputs.ts';
import { incidentOf } from '../../../evals/replay/incident-of.ts';
import type { IncidentRecord } from '../../../src/core/incident-record.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
import type { DrawOptions, Slot } from '../../../src/slack/views/blocks/slot.ts';
import { whoIsRung } from '../../../src/slack/views/ring.ts';
import { momentOf, needOf, overruns, PINGS, pingsOf, weighSlot } from '../../support/budget.ts';
import { judged, manyChanges, withChanges } from '../../support/changes.ts';
import { type Recorded, recordAt, recordedIncidents, ways } from '../../support/recorded-incidents.ts';

const options = {
  threadUrl: () => 'https://example.slack.com/x',
  approvers: '@oncall',
  mayDig: true,
  mayReadAgain: true,
  mayUndo: () => true,
  mayChangeMind: true,
  mayTell: () => true,
  mayName: () => true,
};

/** As `createDrawOptions` has it, with a group on call. */
function optionsOf(record: IncidentRecord): DrawOptions {
  const asks = record.actions.findLast(({ state }) => state === 'proposed');
  const may = { oncall: 'S0ONCALL', approvers: [], isQuiet: false };
  return { ...options, ring: asks ? whoIsRung(record, asks.proposedAt, may) : [] };
}

/** What is seen of an incident after each of its events, as far as a draw may see it. */
function* moments(
  recorded: Recorded,
): Generator<{ record: IncidentRecord; slots: readonly Slot[]; after: string }> {
  for (let length = 1; length <= recorded.events.length; length += 1) {
    const record = recordAt(recorded, length);
    yield { record, slots: draw(record, optionsOf(record)), after: recorded.events[length - 1]?.type ?? '' };
  }
}

/** The worst of each that is longer than it may be, and after which event. */
function worstOf(recorded: Recorded): Readonly<Record<string, unknown>> {
  const worst = new Map<string, { readonly is: number; readonly limit: number; readonly after: string }>();
  for (const { record, slots, after } of moments(recorded))
    for (const { what, is, limit } of overruns(slots.map(weighSlot), momentOf(record)))
      if (is > (worst.get(what)?.is ?? -1)) worst.set(what, { is, limit, after });
  return Object.fromEntries(worst);
}

/** Each mention beyond what is allowed; and those that were heard, by the need that they are for. */
function pingsIn(recorded: Recorded): {
  readonly wrong: readonly string[];
  readonly heard: readonly string[];
} {
  const seen = new Set<string>();
  const heard = new Set<string>();
  const wrong: string[] = [];
  for (const { record, slots } of moments(recorded))
    for (const slot of slots.filter((each) => !seen.has(each.slot))) {
      seen.add(slot.slot);
      const pings = pingsOf(slot);
      const rule = PINGS.find((each) => each.slot.test(slot.slot));
      if (pings.length > (rule?.most ?? 0)) wrong.push(`${slot.slot} mentions ${pings.join(', ')}`);
      for (const id of pings) {
        const need = `${id}: ${needOf(slot.slot, record)}`;
        if (heard.has(need)) wrong.push(`${slot.slot} mentions again ${need}`);
        heard.add(need);
      }
    }
  return { wrong, heard: [...heard] };
}

/** Every alert that is recorded for the evals, told by one way of an incident after another. */
const alerts = (await loadScenarios(undefined)).map((scenario, at): Recorded => {
  const { title, alertName, severity, domain, target, labels, annotations } = incidentOf(
    scenario,
    Date.parse('2026-11-21T10:00:00Z'),
  );
  const way = ways[at % ways.length] as Recorded;
  return {
    ...way,
    name: `${scenario.id}: ${way.name}`,
    incident: { title, alertName, severity, domain, target, labels, annotations, ...way.incident },
    actions: way.actions?.map((action) => ({ ...action, target: target ?? action.target })) ?? undefined,
  } as Recorded;
});

describe('what a thread shows without a press', () => {
  it.each(recordedIncidents)('$name: is within its budget at every moment', (recorded) => {
    expect(worstOf(recorded)).toEqual({});
  });

  it('of every alert that is recorded is within its budget at every moment', () => {
    expect(alerts.length).toBeGreaterThan(150);
    const over = alerts.map((each) => [each.name, worstOf(each)] as const);
    expect(over.filter(([, worst]) => Object.keys(worst).length > 0)).toEqual([]);
  });
});

/** What was changed before them: two suspects, twelve with names as long as they get, one that caused it, and nobody to ask. */
const changed = recordedIncidents.flatMap((recorded): readonly Recorded[] =>
  (
    [
      ['many suspects', withChanges(recorded.events, { suspects: manyChanges, afterwards: manyChanges })],
      ['one of them', withChanges(recorded.events, { suspects: manyChanges }, [judged('cause')])],
      [
        'nobody to ask',
        withChanges(recorded.events, {
          answer: 'could_not_look',
          looked: [],
          couldNotLook: [
            { source: 'own-look', of: 'shop-db', from: null, to: null, why: 'no right '.repeat(60) },
          ],
        }),
      ],
    ] as const
  ).map(([what, events]) => ({ ...recorded, name: `${recorded.name}: ${what}`, events })),
);

describe('what was changed before', () => {
  it('is told within the budget of every moment, and rings nobody', () => {
    const over = changed.map((each) => [each.name, worstOf(each), pingsIn(each).wrong] as const);
    expect(over.filter(([, worst, wrong]) => Object.keys(worst).length > 0 || wrong.length > 0)).toEqual([]);
  });
});

describe('whom a thread mentions', () => {
  it.each(recordedIncidents)('$name: only for what needs somebody, nobody twice for one need', (recorded) => {
    expect(pingsIn(recorded).wrong).toEqual([]);
  });

  it('is who is on call where a card waits, and by each level of the ladder', () => {
    const heard = (name: string) =>
      pingsIn(recordedIncidents.find((each) => each.name === name) as Recorded).heard;
    expect(heard('one repair, approved and fixed')).toEqual(['S0ONCALL: action:act_aaaaaaaaaaaa']);
    expect(heard('denied, and another way that is fixed')).toHaveLength(2);
    expect(heard('fixed, and fired again')).toHaveLength(2);
    expect(heard('escalated, with calls and a page that fails')).toEqual([
      'S0ONCALL: level 1, unsolved',
      'S0ONCALL: level 2, unacknowledged',
    ]);
    // Two cards, of two causes.
    expect(heard('a hint, and another cause')).toHaveLength(2);
  });

  it('reads no mention in what is quoted', () => {
    const blocks = [{ type: 'section', text: { type: 'plain_text', text: '<!here> <@U1>' } }] as never;
    expect(pingsOf({ text: '&lt;!here&gt;', blocks })).toEqual([]);
    expect(pingsOf({ text: '<!here> <@U1> <!subteam^S1>', blocks })).toEqual(['@here', 'U1', 'S1']);
  });
});
