import { z } from 'zod';
import { count } from '../../core/count.ts';
import { defineKind, type EntryOf } from '../kind.ts';
import { adviseHttp } from '../prometheus/advise.ts';
import { type HttpConfig, httpFields, readHttp } from '../prometheus/config.ts';
import { type Alertmanager, connectAlertmanager } from './alertmanager.ts';
import { createSilence } from './create-silence.ts';
import { expireSilence } from './expire-silence.ts';
import { alertmanagerAlerts, alertmanagerSilences } from './read.ts';

const WITHIN_MS = 10_000;
const within = () => ({ timeoutMs: WITHIN_MS, signal: AbortSignal.timeout(WITHIN_MS) });

const fields = {
  ...httpFields,
  /** The longest silence that may be proposed; 0: none. */
  max_silence_hours: z.number().int().min(0).max(168).default(24),
} as const;

interface Config extends HttpConfig {
  readonly maxSilenceHours: number;
}

/** Alertmanager, and Grafana at `/api/alertmanager/grafana`: which alerts fire, and which are silenced. */
export const alertmanager = defineKind<Config, Alertmanager>({
  name: 'alertmanager',
  plural: 'Alertmanagers',
  // As Prometheus, it knows of the problems of others.
  domains: [],
  fields,
  read({ max_silence_hours: maxSilenceHours, ...entry }: EntryOf<typeof fields>, env) {
    const read = readHttp(entry, env);
    return 'url' in read ? { ...read, maxSilenceHours } : read;
  },
  settings: ({ maxSilenceHours }) => ({ maxSilenceHours }),
  reader: ({ username }) => username,
  connect: (config) => ({
    system: connectAlertmanager(config, config.maxSilenceHours * 60),
    identity: async () => ({ systemIdentifier: `alertmanager:${config.url}`, timelineId: 0 }),
    close: async () => undefined,
  }),
  refuses: ({ maxSilenceHours }): Readonly<Record<string, string>> =>
    maxSilenceHours > 0
      ? {}
      : Object.fromEntries(
          [createSilence, expireSilence].map(({ name }) => [
            name,
            'Its max_silence_hours is 0 in sentry.yaml.',
          ]),
        ),
  async doctor(_, { system }) {
    const [version, alerts, silences] = await Promise.all([
      system.version(within()),
      system.alerts({}, within()),
      system.silences(within()),
    ]);
    return `Alertmanager${version === null ? '' : ` ${version}`}, ${count(alerts.length, 'alert')}, ${count(silences.length, 'silence')} in force`;
  },
  async facts(system) {
    const version = await system.version(within());
    return version === null ? {} : { alertmanager: version };
  },
  // What it counts is not its own.
  usual: null,
  watch: () => null,
  logs: () => [],
  advise: adviseHttp,
  looks: [{ tool: 'alertmanager_alerts', why: 'Which alerts fire' }],
  tools: [alertmanagerAlerts, alertmanagerSilences, createSilence, expireSilence],
});
