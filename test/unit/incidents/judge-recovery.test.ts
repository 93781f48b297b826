import { describe, expect, it } from 'vitest';
import {
  judgeRecovery,
  longestGreenGap,
  type Watch,
  type WatchReading,
} from '../../../src/incidents/recovery/judge-recovery.ts';

const second = 1_000;

/** Looks a second apart: `g` green, `r` red, `?` unread, `.` no look. */
function looks(text: string, values: readonly (number | null)[] = []): readonly WatchReading[] {
  return text.split('').flatMap((mark, at): readonly WatchReading[] => {
    if (mark === '.') return [];
    const holds = mark === 'g' ? true : mark === 'r' ? false : null;
    return [{ holds, values: [values[at] ?? null], at: at * second }];
  });
}

function judge(text: string, rest: Partial<Watch> = {}, values: readonly (number | null)[] = []) {
  return judgeRecovery({
    plan: { holdMs: 3 * second, timeoutMs: 20 * second },
    readings: looks(text, values),
    ranAt: 0,
    steady: [],
    wentAwayMs: 0,
    neverRan: false,
    isSourceOver: false,
    sourceWaitMs: 0,
    ...rest,
  }).kind;
}

describe('a recovery', () => {
  it.each([
    ['is not called by the first green look', 'rg', 'wait'],
    ['is not called before it has held for the plan’s time', 'rggg', 'wait'],
    ['is called when it has', 'rgggg', 'recovered'],
    ['needs three looks, however far apart', 'rg....g', 'wait'],
    ['begins anew after a red look', 'ggrgg', 'wait'],
    ['begins anew after a look that failed', 'ggg?gg', 'wait'],
    // Green for four seconds before it came back: twice that is asked for now.
    ['that came back has to hold for twice as long', 'rggggrggggg', 'wait'],
    ['that came back and then held for twice as long is one', 'rgggrgggggggg', 'recovered'],
    ['is none while it is red', 'rrrr', 'wait'],
    ['is none at the end of the time', 'rrrrrrrrrrrrrrrrrrrrr', 'still_red'],
    ['cannot be told of what could not be read', 'rrrrrrrrrrrrrrrrrrrr?', 'unread'],
    ['may come late and is waited for', '....................g', 'wait'],
    ['that comes and goes to the end is none', 'gggrgggrgggrgggrgggrgggrgggrgggr', 'still_red'],
  ] as const)('%s', (_name, text, kind) => {
    expect(judge(text)).toBe(kind);
  });

  it('begins anew after a time in which nobody looked', () => {
    expect(judge(`gg${'.'.repeat(200)}g`)).toBe('wait');
    expect(judge(`gg${'.'.repeat(200)}gggg`)).toBe('recovered');
  });

  it('is not waited for when nothing ran', () => {
    expect(judge('r', { neverRan: true })).toBe('still_red');
    expect(judge('g', { neverRan: true })).toBe('wait');
  });

  it('begins anew when a counter has risen meanwhile', () => {
    expect(judge('gggg', { steady: [0] }, [1, 1, 1, 1])).toBe('recovered');
    expect(judge('gggg', { steady: [0] }, [1, 1, 1, 2])).toBe('wait');
    expect(judge('gggg', { steady: [0] }, [null, null, null, null])).toBe('recovered');
  });

  it('is none when it is up at each look, and is another one each time', () => {
    const turns = Array.from({ length: 22 }, (_, at) => at);
    expect(judge('g'.repeat(20), { steady: [0] }, turns)).toBe('wait');
    expect(judge('g'.repeat(21), { steady: [0] }, turns)).toBe('restarted');
    // It stays the same from the middle of its time on: held for twice as long as any run before.
    expect(
      judge(
        'g'.repeat(21),
        { steady: [0] },
        turns.map((at) => Math.min(at, 10)),
      ),
    ).toBe('recovered');
    // A number that falls is another one as well.
    expect(judge('g'.repeat(21), { steady: [0] }, turns.toReversed())).toBe('restarted');
  });

  it('has to hold for twice as long as it stayed away by itself before', () => {
    expect(judge('ggggg', { wentAwayMs: 5 * second })).toBe('wait');
    expect(judge('ggggggggggg', { wentAwayMs: 5 * second })).toBe('recovered');
  });

  it('waits for a source that still fires, and cannot tell in the end', () => {
    const waiting = { sourceWaitMs: 4 * second };
    expect(judge('gggg', waiting)).toBe('wait');
    expect(judge('gggg', { ...waiting, isSourceOver: true })).toBe('recovered');
    expect(judge('gggggggg', waiting)).toBe('source_fires');
    expect(judge('gggggr', waiting)).toBe('wait');
  });
});

describe('the longest time it stayed away by itself', () => {
  it.each([
    ['is none where it never went away', 'rrrr', 0],
    ['is none while it is still away', 'rggg', 0],
    ['is from the first healthy read to the next that is not', 'rggrgr', 2],
    ['is only what was looked at', `rgg${'.'.repeat(300)}r`, 1],
  ] as const)('%s', (_name, text, seconds) => {
    expect(longestGreenGap(looks(text))).toBe(seconds * second);
  });
});
