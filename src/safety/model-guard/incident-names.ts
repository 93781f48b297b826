import { createHmac } from 'node:crypto';
import { type PersonalNames, restoreNames } from '../screen/redact-personal.ts';

/** Eight digits: two of a hundred values share one once in 20,000 incidents, and then the second takes the next number. */
const NUMBERS = 100_000_000;

/**
 * Placeholders for people and hosts, made from the value itself: the same in every role, process and restart of an
 * incident, so that a history stays byte for byte what it was; another in another incident; no guessing back without `key`.
 */
export function createIncidentNames(key: string, incidentId: string): PersonalNames {
  const names = new Map<string, string>();
  const values = new Map<string, string>();
  return {
    placeholderOf(kind, value) {
      const what = `${kind} ${value.toLowerCase()}`;
      const known = names.get(what);
      if (known !== undefined) return known;
      const digest = createHmac('sha256', key).update(`${incidentId}\n${what}`).digest();
      for (let number = digest.readUInt32BE(0) % NUMBERS; ; number = (number + 1) % NUMBERS) {
        const name = `[redacted:${kind}#${number}]`;
        if (values.has(name)) continue;
        names.set(what, name);
        values.set(name, value);
        return name;
      }
    },
    restore: (text) => restoreNames(text, values),
  };
}
