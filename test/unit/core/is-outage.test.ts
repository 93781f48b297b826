import { describe, expect, test } from 'vitest';
import { OpsError } from '../../../src/core/errors.ts';
import { isOutage } from '../../../src/core/is-outage.ts';

const withCode = (code: string, cause?: unknown) => Object.assign(new Error('no', { cause }), { code });

describe('an outage', () => {
  test.each([
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'ETIMEDOUT',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETDOWN',
    'CONNECTION_CLOSED',
    'CONNECTION_ENDED',
    'CONNECT_TIMEOUT',
    'UND_ERR_CONNECT_TIMEOUT',
    '08006',
    '53300',
    '57P01',
    '57P03',
    '58030',
    '40001',
    '40P01',
    '25006',
    '55P03',
  ])('is %s, also as a cause', (code) => {
    expect(isOutage(withCode(code))).toBe(true);
    expect(isOutage(new Error('fetch failed', { cause: withCode('X', withCode(code)) }))).toBe(true);
    expect(isOutage(new AggregateError([new Error('v6'), withCode(code)]))).toBe(true);
  });

  test('is what says of itself that it may succeed later', () => {
    const options = { hint: 'Wait.' };
    expect(isOutage(new OpsError('NOT_RECORDED', 'later', { ...options, retryable: true }))).toBe(true);
    expect(isOutage(new OpsError('ILLEGAL_MOVE', 'a defect', options))).toBe(false);
  });

  test.each([
    '22P05',
    '22P02',
    '22021',
    '23505',
    '23514',
    '42P01',
    '22003',
    'ERR_INVALID_ARG_TYPE',
    'LLM_BAD_OUTPUT',
  ])('is not %s: the same again would fail again', (code) => {
    expect(isOutage(withCode(code))).toBe(false);
  });

  test('is not whatever else is thrown, also in a circle of causes', () => {
    const circle: Error = new Error('one');
    circle.cause = new Error('two', { cause: circle });
    for (const thrown of [circle, new TypeError('x is not a function'), 'ECONNREFUSED', null, undefined, 7])
      expect(isOutage(thrown)).toBe(false);
  });
});
