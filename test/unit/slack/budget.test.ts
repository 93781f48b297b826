import { describe, expect, it } from 'vitest';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
import { momentOf, overruns, weighSlot } from '../../support/budget.ts';
import { recordAt, recordedIncidents } from '../../support/recorded-incidents.ts';

const options = {
  threadUrl: () => 'https://example.slack.com/x',
  approvers: '@oncall',
  ring: ['S0ONCALL'],
  mayDig: true,
  mayReadAgain: true,
  mayUndo: () => true,
  mayChangeMind: true,
  mayTell: () => true,
  mayName: () => true,
};

describe('what a thread shows without a press', () => {
  it.each(recordedIncidents)('$name: is within its budget at every moment', (recorded) => {
    /** The worst of each, and after which event. */
    const worst = new Map<string, { readonly is: number; readonly limit: number; readonly after: string }>();
    for (let length = 1; length <= recorded.events.length; length += 1) {
      const record = recordAt(recorded, length);
      const thread = draw(record, options).map(weighSlot);
      const found = overruns(thread, momentOf(record));
      for (const { what, is, limit } of found)
        if (is > (worst.get(what)?.is ?? -1))
          worst.set(what, { is, limit, after: recorded.events[length - 1]?.type ?? '' });
    }
    expect(Object.fromEntries(worst)).toEqual({});
  });
});
