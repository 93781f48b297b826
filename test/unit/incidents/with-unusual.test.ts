import { expect, test } from 'vitest';
import type { Diagnosis } from '../../../src/core/diagnosis.ts';
import { type UnusualOf, withUnusual } from '../../../src/incidents/unusual-of.ts';
import type { IncidentRecords } from '../../../src/record/record.ts';
import { quiet } from '../../support/quiet.ts';

const incident = { id: 'INC-1', target: 'shop-db' } as const;
const claim = (text: string) => ({ claim: text, toolCallIds: ['tc_1'], quote: null });
const diagnosis = {
  verdict: 'healthy',
  evidence: [claim('412 are in use'), claim('All wait.')],
} as unknown as Diagnosis;
const records = {
  load: async () => ({ toolCalls: [{ id: 'tc_1' }, { id: 'tc_2' }] }),
} as unknown as IncidentRecords;
const unusual: UnusualOf = async (_, calls) =>
  new Map(calls.map(({ id }) => [id, ['412 connections, usually 80 to 120 at this hour (7 days)']]));
const claims = async (unusualOf?: UnusualOf) => {
  const deps = { records, log: quiet, ...(unusualOf ? { unusualOf } : {}) };
  const found = await withUnusual(deps, incident as never, diagnosis);
  expect(found.verdict).toBe('healthy');
  return found.evidence.map(({ claim: text }) => text);
};

test('a claim says once what of its read is unusual, and the verdict stays', async () => {
  expect(await claims(unusual)).toEqual([
    '412 are in use. Unusual: 412 connections, usually 80 to 120 at this hour (7 days).',
    'All wait.',
  ]);
});

test('where nothing is kept, or it cannot be told, the claims stay as they are', async () => {
  const same = ['412 are in use', 'All wait.'];
  expect(await claims()).toEqual(same);
  expect(await claims(() => Promise.reject(new Error('away')))).toEqual(same);
});
