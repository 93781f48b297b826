import { z } from 'zod';
import { timeOf } from '../time-of.ts';

const text = z.string({ error: 'expected a string' });
const texts = z.record(z.string(), text, { error: 'expected an object of strings' });

/** ISO 8601, or null: a time that cannot be read is no reason to lose an alert. */
const time = z.unknown().transform(timeOf).optional();

const status = z.enum(['firing', 'resolved'], { error: 'expected "firing" or "resolved"' });

/** What Alertmanager's own API answers: one that is silenced still fires. Whether it is over, its end says. */
const apiStatus = z
  .object({ state: z.enum(['active', 'suppressed', 'unprocessed']) })
  .transform(() => undefined);

/**
 * One alert of a group, or as Prometheus sends it to `/api/v2/alerts`, or Alertmanager answers there: then without a status, and over once
 * `endsAt` is past.
 * `fingerprint` is Alertmanager's own, over all labels (absent before 0.17).
 */
export const AlertmanagerAlert = z.object(
  {
    status: z.union([status, apiStatus], { error: 'expected "firing" or "resolved"' }).nullish(),
    labels: texts.refine((labels) => Object.keys(labels).length > 0, {
      error: 'expected at least one label',
    }),
    annotations: texts.default({}),
    startsAt: time,
    endsAt: time,
    generatorURL: text.nullish(),
    fingerprint: text.nullish(),
  },
  { error: 'expected the object of an alert' },
);
export type AlertmanagerAlert = z.infer<typeof AlertmanagerAlert>;

/** https://prometheus.io/docs/alerting/latest/configuration/#webhook_config, version 4; only what is used. */
export const AlertmanagerWebhook = z.object(
  {
    externalURL: text.nullish(),
    groupKey: text.nullish().catch(null),
    groupLabels: texts.nullish().catch(null),
    /** What all alerts share. Alertmanager repeats it in each; some senders of its format do not. */
    commonLabels: texts.nullish(),
    commonAnnotations: texts.nullish(),
    alerts: z
      .array(z.unknown(), {
        error: 'expected the array of alerts of an Alertmanager webhook (version 4)',
      })
      .min(1, 'expected at least one alert'),
  },
  { error: 'expected the JSON object of an Alertmanager webhook (version 4)' },
);
export type AlertmanagerWebhook = z.infer<typeof AlertmanagerWebhook>;
