import { describe, expect, it } from 'vitest';
import { DiagnosisReport, TriageReport } from '../../../src/agents/claude/reports.ts';
import { tidyDiagnosis, tidyTriage } from '../../../src/agents/claude/tidy-report.ts';

const diagnosis = (changes: object) =>
  DiagnosisReport.safeParse(
    tidyDiagnosis({ verdict: 'cause_found', rootCause: 'A lock.', confidence: 0.9, ...changes }),
  );

describe('a diagnosis written otherwise', () => {
  it.each([
    [0.95, 0.95],
    ['0.95', 0.95],
    ['95%', 0.95],
    ['95 %', 0.95],
    [95, 0.95],
    [1, 1],
    ['1 %', 0.01],
    [0, 0],
  ])('confidence %j means %d', (confidence, means) => {
    expect(diagnosis({ confidence }).data?.confidence).toBeCloseTo(means, 10);
  });

  it.each(['high', '', null, 9_500, -1, Number.NaN, {}])('confidence %j is asked for again', (confidence) => {
    expect(diagnosis({ confidence }).success).toBe(false);
  });

  it('keeps to the measure: long texts are cut, lists end at twelve', () => {
    const { data } = diagnosis({
      rootCause: 'x'.repeat(5_000),
      ruledOut: Array(40).fill('no'),
      unknown: 'one',
    });
    expect(data?.rootCause).toHaveLength(1_000);
    expect(data?.ruledOut).toHaveLength(12);
    expect(data?.unknown).toEqual(['one']);
  });

  it('may leave the why open, on one line, and leaves nothing open unless it says so', () => {
    expect(diagnosis({ unexplained: ' why it\nstopped ' }).data?.unexplained).toBe('why it stopped');
    expect(diagnosis({}).data?.unexplained).toBe(null);
  });

  it('without a verdict is a cause only when it is given one and is more likely than not', () => {
    expect(diagnosis({ verdict: undefined }).data?.verdict).toBe('cause_found');
    expect(diagnosis({ verdict: undefined, confidence: 0.2 }).data?.verdict).toBe('cannot_tell');
  });

  it.each([
    [
      { value: 60, unit: '%' },
      { value: 60, unit: '%' },
    ],
    ['60 %', { value: 60, unit: '%' }],
    ['2.5 s', { value: 2.5, unit: 's' }],
    ['low', null],
    [{ unit: '%' }, null],
    [{ value: null, unit: '%' }, null],
    [undefined, null],
  ])('reads %j as the bound of its symptom', (bound, read) => {
    const symptomNow = { present: true, toolCallId: 'tc_1', bound };
    expect(diagnosis({ symptomNow }).data?.symptomNow).toEqual({ ...symptomNow, bound: read });
  });

  it.each([[{ verdict: 'banana' }], [{ rootCause: 42 }], [{ rootCause: ' ' }], [{ evidence: [7] }]])(
    '%j has no plain meaning and is asked for again',
    (changes) => {
      expect(diagnosis(changes).success).toBe(false);
    },
  );

  it.each([null, 'It is a lock.', 7, []])('%j is no report', (input) => {
    expect(DiagnosisReport.safeParse(tidyDiagnosis(input)).success).toBe(false);
  });
});

it('a triage takes what is missing from the alert, and never ignores by accident', () => {
  const read = (input: unknown) => TriageReport.parse(tidyTriage('error')(input));
  expect(read({})).toMatchObject({ severity: 'error', incidentType: null, routine: false, ignore: false });
  expect(read({ severity: 'CRITICAL', incident_type: 'Blocked sessions', ignore: 'yes' })).toMatchObject({
    severity: 'critical',
    incidentType: 'blocked_sessions',
    ignore: false,
  });
});
