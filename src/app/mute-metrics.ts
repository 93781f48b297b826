import { Gauge, type Registry } from 'prom-client';
import { cacheAnswers } from '../core/cache-answers.ts';
import type { Mute } from '../incidents/mutes/mute.ts';

const FRESH_MS = 5_000;

/** Counts the mutes that stand, and what each has taken. */
export function registerMutes(metrics: Registry, list: () => Promise<readonly Mute[]>): void {
  const registers = [metrics];
  const standing = cacheAnswers(list, FRESH_MS);
  new Gauge({
    name: 'sentry_mutes',
    help: 'Mutes and maintenance windows that stand now.',
    registers,
    async collect() {
      this.set((await standing('')).length);
    },
  });
  new Gauge({
    name: 'sentry_mute_alerts',
    help: 'Alerts that each mute that stands has kept waiting.',
    labelNames: ['mute'],
    registers,
    async collect() {
      // Of what is over there is no sample.
      this.reset();
      for (const { id, alerts } of await standing('')) this.set({ mute: id }, alerts);
    },
  });
}
