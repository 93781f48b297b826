import { describe, expect, it } from 'vitest';
import { caseIn } from '../../../evals/recovery/load-cases.ts';
import type { Played } from '../../../evals/recovery/play.ts';
import { scoreRecovery } from '../../../evals/recovery/score-recovery.ts';
import type { Incident, Verdict } from '../../../src/core/incident.ts';
import { anIncident, aRecord } from '../../support/incidents.ts';

const change = (name: string, isRight: boolean) => `  ${name}:
    tool: ${name}
    input: {}
    is_right: ${isRight}
    preflight: { guard: null, lines: [], blast_radius: it, undo: none, risk: low }
    outcome: { kind: succeeded, text: done }
`;
const given = '{ reads: [{ tool: look }], cause: it }';
const text = (ends: string) => `id: one
title: One
alert: one
world: [{ is_gone: false }]
changes:
${change('mend', true)}${change('kick', false)}planners: { oracle: ${given}, wrong: ${given} }
ends: [${ends}]
why: so
`;

function played({
  incident = {},
  verdict,
  gone = false,
  shown = [],
  asked = [],
  ...rest
}: Partial<Played> & {
  readonly incident?: Partial<Incident>;
  readonly verdict?: Verdict;
  readonly gone?: boolean;
  /** Got a card, and ran. */
  readonly shown?: readonly string[];
  readonly asked?: readonly string[];
}): Played {
  const plain = aRecord(anIncident({ state: 'reported', ...incident }), 'it');
  const call = (tool: string) => ({ tool, input: {}, role: 'surgeon', toolCallId: 'tc_1' });
  return {
    wasFalselyFixed: false,
    isUnfinished: false,
    record: {
      ...plain,
      actions: shown.map(call) as never,
      toolCalls: [...shown, ...asked].map(call) as never,
      events: verdict === undefined ? [] : ([{ type: 'verification.concluded', verdict }] as never),
    },
    system: {
      tools: [],
      ran: shown,
      ranAt: () => null,
      goneSince: () => (gone ? 0 : null),
      changeOf: (tool) => tool,
    },
    ...rest,
  };
}

const score = (ends: string, of: Parameters<typeof played>[0]) =>
  scoreRecovery(caseIn('one.yaml', text(ends)), played(of));
const fixed = { state: 'resolved', resolvedBy: 'confirmed' } as const;

describe('the score of a play', () => {
  it('is whole for the ending that is true', () => {
    expect(score('fixed', { incident: fixed, gone: true, shown: ['mend'] })).toMatchObject({
      score: 1,
      outcome: 'right',
      falseFixed: false,
    });
    expect(score('not_fixed', { verdict: 'not_fixed', shown: ['mend'] })).toMatchObject({ score: 1 });
    expect(score('nothing_ran', {})).toMatchObject({ score: 1, ending: 'nothing_ran' });
  });

  it('is nothing for fixed while the problem is there, though the case expects fixed', () => {
    expect(score('fixed', { incident: fixed, gone: false, shown: ['mend'] })).toMatchObject({
      score: 0,
      outcome: 'wrong',
      falseFixed: true,
    });
  });

  it('is nothing for one that was called fixed too early, whatever became of it', () => {
    const of = { wasFalselyFixed: true, verdict: 'not_fixed', shown: ['mend'] } as const;
    expect(score('not_fixed', of)).toMatchObject({ score: 0, outcome: 'wrong', falseFixed: true });
  });

  it('is nothing for not fixed while the problem is gone, which is no false fixed', () => {
    expect(score('fixed', { verdict: 'not_fixed', gone: true, shown: ['mend'] })).toMatchObject({
      score: 0,
      outcome: 'wrong',
      falseFixed: false,
    });
  });

  it('is a quarter for what says nothing untrue and reaches less', () => {
    expect(score('fixed', { verdict: 'cannot_tell', shown: ['mend'] })).toMatchObject({
      score: 0.25,
      outcome: 'cautious',
    });
    expect(score('not_fixed', { isUnfinished: true, shown: ['mend'] })).toMatchObject({
      ending: 'unfinished',
      score: 0.25,
    });
  });

  it('counts a wrong proposal that got a card and a right one that got none', () => {
    const of = { incident: fixed, gone: true, shown: ['kick'], asked: ['mend'] };
    expect(score('fixed', of)).toMatchObject({
      score: 0.5,
      wrongProposals: ['kick'],
      refusedRight: ['mend'],
    });
    expect(score('fixed', { incident: fixed, gone: true, shown: ['mend'], asked: ['kick'] })).toMatchObject({
      score: 1,
      wrongProposals: [],
      refusedRight: [],
    });
  });
});

describe('a case', () => {
  it.each([
    [
      'that proposes what it has not',
      text('fixed').replace('cause: it }', 'cause: it, proposes: [nothing] }'),
      /there is no change "nothing"/,
    ],
    ['with a word that means nothing', `${text('fixed')}hold: 5\n`, /hold/],
    ['under another name', text('fixed').replace('id: one', 'id: two'), /calls itself two/],
    ['that is no YAML', 'id: [', /is no YAML/],
  ])('%s is refused, and says why', (_what, source, why) => {
    expect(() => caseIn('one.yaml', source)).toThrow(why);
  });
});
