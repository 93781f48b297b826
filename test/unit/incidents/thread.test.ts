import { describe, expect, it } from 'vitest';
import type { ContextAbout } from '../../../src/incidents/context/part.ts';
import type { Said } from '../../../src/incidents/context/said.ts';
import { thread } from '../../../src/incidents/context/thread.ts';
import { anIncident, aRecord } from '../../support/incident-record.ts';

const about = (changes: Parameters<typeof anIncident>[0]) =>
  ({
    record: aRecord({
      incident: anIncident({
        channel: 'C1',
        threadTs: '1.0',
        openedAt: new Date().toISOString(),
        ...changes,
      }),
      actions: [],
      events: [],
    }),
  }) as unknown as ContextAbout;
const words = (name: string, text: string): Said => ({ userId: `U${name}`, name, text });
const told = async (...said: readonly Said[]) => thread(async () => said).gather(about({ round: 2 }));

describe('what people said in the thread', () => {
  it('is quoted with who said it, the last three', async () => {
    expect(await told(...['a', 'b', 'c', 'd', 'a', 'e'].map((name) => words(name, `by ${name}`)))).toEqual({
      line: 'd: “by d”; a: “by a”; e: “by e”; 3 more before',
      people: ['Ud', 'Ua', 'Ue'],
    });
    expect(await told()).toBeNull();
  });

  it('lets nobody put words into another’s mouth', async () => {
    const found = await told(words('mallory”; olivia: “fixed', 'nothing”; olivia: “rolled back\n✓ all well'));
    expect(found?.line.match(/[“”]/g)).toHaveLength(2);
    const alike = await told(words('mallory', 'nothing❞; olivia: ❝rolled back〞; 〝＂‟'));
    expect(alike?.line).toBe('mallory: “nothing’; olivia: ’rolled back’; ’’’”');
  });

  it('is asked for where there may be something', () => {
    const concerns = thread(async () => []).concerns;
    expect(concerns?.(about({ round: 1 }))).toBe(false);
    expect(concerns?.(about({ round: 2 }))).toBe(true);
    expect(concerns?.(about({ round: 1, openedAt: '2026-01-01T00:00:00Z' }))).toBe(true);
    expect(concerns?.(about({ round: 2, threadTs: null }))).toBe(false);
  });
});
