import { expect, it } from 'vitest';
import { specialists } from '../../../../bench/recorded-latencies.ts';
import { CAUSE_MS } from '../../../../src/agents/claude/create-claude.ts';
import { SIDE_BY_SIDE_MS, TEST_CONCLUDES_MS } from '../../../../src/agents/claude/side-by-side.ts';
import { CREDENTIAL_TTL_MS } from '../../../../src/safety/vault/credentials.ts';

/** For what comes before a model is asked: what was changed, what is around, what a runbook reads. */
const BEFORE_MS = 60_000;

it('a credential outlives whoever looks for the cause, several at once and who weighs what they found included', () => {
  expect(CAUSE_MS).toBeGreaterThan(SIDE_BY_SIDE_MS);
  expect(BEFORE_MS + CAUSE_MS).toBeLessThanOrEqual(CREDENTIAL_TTL_MS);
});

it('who tests an explanation has the time that agents of this kind were seen to take', () => {
  for (const messages of specialists)
    expect(messages.reduce((sum, { ms }) => sum + ms, 0)).toBeLessThan(TEST_CONCLUDES_MS);
});
