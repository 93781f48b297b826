import { describe, expect, it } from 'vitest';
import { withChanges } from '../../../../src/agents/playbook/add-changes.ts';
import type { Diagnosis } from '../../../../src/core/diagnosis.ts';
import { asToolCallId } from '../../../../src/core/ids.ts';
import type { ChangeSourceSeen, RelatedChange, WhatChanged } from '../../../../src/core/what-changed.ts';
import { formatWhatChanged } from '../../../../src/tools/changes/format-what-changed.ts';
import { aDiagnosis } from '../../../support/incident-record.ts';

const ASKED = asToolCallId('tc_asked0000000');
const deploy = (ref: string, version: string, more: Partial<RelatedChange> = {}): RelatedChange => ({
  ref,
  source: 'generic',
  id: ref,
  kind: 'deployment',
  state: 'succeeded',
  title: `shop-api ${version} deployed`,
  where: ['shop-api'],
  environment: null,
  startedAt: null,
  at: '2026-11-21T09:57:00.000Z',
  by: 'olivia',
  from: null,
  to: version,
  commits: [],
  url: null,
  touches: 'it',
  through: 'shop-api',
  when: 'before',
  beforeMs: 180_000,
  ...more,
});
const down: ChangeSourceSeen = {
  source: 'argo-cd',
  of: 'shop-api',
  from: null,
  to: null,
  why: 'It has never told anything.',
};

const found = (
  suspects: readonly RelatedChange[],
  couldNotLook: readonly ChangeSourceSeen[] = [],
): WhatChanged => ({
  answer: suspects.length > 0 ? 'changed' : 'could_not_look',
  from: '2026-11-21T08:00:00.000Z',
  to: '2026-11-21T10:05:00.000Z',
  beganAt: '2026-11-21T10:00:00.000Z',
  suspects,
  afterwards: [],
  others: 0,
  looked: [],
  couldNotLook,
});

const CAUSE = aDiagnosis({ origin: 'runbook', remedy: 'End pid 4242.', unknown: [] });
const CANNOT: Diagnosis = { ...CAUSE, verdict: 'cannot_tell', confidence: 0, remedy: 'Ask its team.' };
const after = (diagnosis: Diagnosis, ...answer: Parameters<typeof found>): Diagnosis =>
  withChanges({ changes: { toolCallId: ASKED, found: found(...answer) } }, diagnosis);

describe('what a runbook found', () => {
  it('has the suspects as a last claim, with a line of the answer that shows it', () => {
    const suspects = [deploy('c1', '1.4.2'), deploy('c2', '1.4.1', { beforeMs: 3_600_000 })];
    const { evidence, remedy, confidence } = after(CAUSE, suspects);
    expect(evidence.slice(0, -1)).toEqual(CAUSE.evidence);
    const claim = evidence.at(-1);
    expect(claim).toMatchObject({
      claim:
        'Changed before it: shop-api 1.4.2 deployed by olivia, 3 min before it began; shop-api 1.4.1 deployed by olivia, 60 min before it began.',
      toolCallIds: [ASKED],
    });
    expect(formatWhatChanged(found(suspects))).toContain(claim?.quote ?? 'nothing');
    expect({ remedy, confidence }).toEqual({ remedy: CAUSE.remedy, confidence: CAUSE.confidence });
  });

  it('begins its advice with the suspect where the cause cannot be told', () => {
    expect(after(CANNOT, [deploy('c1', '1.4.2')]).remedy).toBe(
      'Look at “shop-api 1.4.2 deployed by olivia” first: that was 3 min before it began. Ask its team.',
    );
  });

  it('names what touched a neighbour only where nothing touched it', () => {
    const near = deploy('c1', '7.0.1', { touches: 'neighbour', through: 'shop-cache' });
    expect(after(CANNOT, [near]).remedy).toContain('7.0.1');
    expect(after(CANNOT, [deploy('c2', '1.4.2'), near]).evidence.at(-1)?.claim).not.toContain('7.0.1');
  });

  it.each<[string, Diagnosis, readonly string[]]>([
    [
      'who would have told and did not',
      after(CAUSE, [], [down]),
      ['Whether shop-api was changed, Argo CD could not tell: It has never told anything.'],
    ],
    [
      'that nobody could be asked',
      withChanges({ changes: null }, CAUSE),
      ['What was changed before it could not be asked.'],
    ],
    ['nothing where nobody is expected to tell', after(CAUSE, []), []],
    ['nothing where nobody can ask', withChanges({}, CAUSE), []],
  ])('says under what is not known: %s', (_, { unknown, evidence }, expected) => {
    expect(unknown).toEqual(expected);
    expect(evidence).toEqual(CAUSE.evidence);
  });

  it('is left alone where all is well', () => {
    const well: Diagnosis = { ...CAUSE, verdict: 'healthy' };
    expect(after(well, [deploy('c1', '1.4.2')], [down])).toEqual(well);
  });
});
