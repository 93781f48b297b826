/** Whether it is worth waiting for meaning, by how long it took of late. */
export interface Patience {
  /** `wait`: it will probably be there in time. `probe`: it will not, but ask, to know when that changes. `skip`: neither. */
  decide(withinMs: number): 'wait' | 'probe' | 'skip';
  /** How long an answer took, or how long it had not come when the search went on without. */
  took(ms: number): void;
}

const REMEMBERED = 7;
const PROBE_EVERY = 8;

/**
 * On a machine that is busy, every search would wait in vain for as long as it may, and the embedding would take the
 * processor from what it is waited for by: then searches go on by words at once, and only some ask.
 */
export function createPatience(): Patience {
  let last: readonly number[] = [];
  let skipped = 0;
  return {
    decide(withinMs) {
      const usual = last.toSorted((a, b) => a - b)[Math.floor(last.length / 2)];
      if (usual === undefined || last.length < REMEMBERED || usual <= withinMs) return 'wait';
      skipped += 1;
      return skipped % PROBE_EVERY === 0 ? 'probe' : 'skip';
    },
    took(ms) {
      last = [...last, ms].slice(-REMEMBERED);
    },
  };
}
