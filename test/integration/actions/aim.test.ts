import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aimOf } from '../../../src/actions/proposals/aim.ts';
import type { Diagnosis } from '../../../src/core/diagnosis.ts';
import { asToolCallId } from '../../../src/core/ids.ts';
import { postgresTerminateBackend } from '../../../src/targets/postgres/active/terminate-backend.ts';
import { boxAlert, findsNothing } from '../../support/core.ts';
import { createRig, type Rig } from './rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await createRig();
});
afterAll(async () => rig.stop());

const criterion = { steps: [], holdMs: 1, timeoutMs: 1 };
const input = { pid: 42, backend_start: '2026-11-21T10:00:00.000000Z' };
const shown = [asToolCallId('tc_000000000000')];

/** What becomes of ending session 42 after this diagnosis. */
async function aimedAfter(diagnosis: Partial<Diagnosis>): Promise<unknown> {
  const { accept, sql, records } = rig.core;
  const { incidentId } = await accept(boxAlert());
  if (!incidentId) throw new Error('not accepted');
  const event = {
    type: 'diagnosis.concluded',
    round: 1,
    diagnosis: { ...findsNothing, origin: 'model', verdict: 'cause_found', criterion, ...diagnosis },
  } as const;
  await sql.begin((tx) => records.append(tx, incidentId, event));
  return aimOf(sql, { incidentId } as never, postgresTerminateBackend as never, input, undefined, 'repair');
}

describe('what may be acted on', () => {
  test.each<readonly [string, Partial<Diagnosis>]>([
    ['the cause', { rootCause: 'Session 42 holds the lock.' }],
    [
      'a claim with evidence',
      { evidence: [{ claim: 'pid 42 is idle in its transaction', toolCallIds: shown, quote: null }] },
    ],
    ['a runbook’s own remedy', { origin: 'runbook', remedy: 'End session 42.' }],
  ])('is named by %s', async (_, diagnosis) => {
    expect(await aimedAfter(diagnosis)).toEqual({ purpose: 'repair', criterion });
  });

  test.each<readonly [string, Partial<Diagnosis>]>([
    ['the remedy of a model', { rootCause: 'Session 17 holds the lock.', remedy: 'End session 42.' }],
    ['a claim without evidence', { evidence: [{ claim: 'pid 42 is idle', toolCallIds: [], quote: null }] }],
    [
      'a number that is no pid',
      {
        rootCause: 'Session 17 has held the lock for 42 s.',
        evidence: [{ claim: '42 sessions wait', toolCallIds: shown, quote: '42 | 3 s | 1 | 17' }],
      },
    ],
    [
      'what would change a model’s mind, and what it ruled out',
      { wouldChangeMyMind: 'pid 42', ruledOut: ['session 42'] },
    ],
  ])('is not named by %s', async (_, diagnosis) => {
    expect(await aimedAfter(diagnosis)).toMatchObject({ ok: false, code: 'NOT_BLAMED' });
  });
});
