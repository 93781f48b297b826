import { type SystemFacts, systemMismatch } from '../systems/system-facts.ts';

/** What was learnt on an entirely different system may not hold here: its score is lowered by this share. */
const OTHER_SYSTEM = 0.2;

/**
 * What a memory's score is multiplied by, 0.8 to 1, for having been learnt on another system than the one at hand. 1 when
 * either is not known, so that nothing changes for memories without a system.
 *
 * @param now what the target runs
 * @param then what the memory was learnt on
 */
export function systemFactor(now: SystemFacts | null, then: SystemFacts | null): number {
  return 1 - OTHER_SYSTEM * systemMismatch(now, then);
}
