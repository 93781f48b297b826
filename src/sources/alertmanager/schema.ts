import { z } from 'zod';

const text = z.string({ error: 'expected a string' });
const texts = z.record(z.string(), text, { error: 'expected an object of strings' });

const time = text.refine((value) => !Number.isNaN(Date.parse(value)), {
  error: 'expected a time like 2026-01-31T12:00:00Z',
});

const status = z.enum(['firing', 'resolved'], { error: 'expected "firing" or "resolved"' });

/** One alert of a group. `fingerprint` is Alertmanager's own, over all labels (absent before 0.17). */
const AlertmanagerAlert = z.object({
  status,
  labels: texts.refine((labels) => Object.keys(labels).length > 0, { error: 'expected at least one label' }),
  annotations: texts.default({}),
  startsAt: time,
  endsAt: time.nullish(),
  generatorURL: text.nullish(),
  fingerprint: text.nullish(),
});
export type AlertmanagerAlert = z.infer<typeof AlertmanagerAlert>;

/** https://prometheus.io/docs/alerting/latest/configuration/#webhook_config, version 4; only what is used. */
export const AlertmanagerWebhook = z.object(
  {
    externalURL: text.nullish(),
    /** What all alerts share. Alertmanager repeats it in each; some senders of its format do not. */
    commonLabels: texts.nullish(),
    commonAnnotations: texts.nullish(),
    alerts: z
      .array(AlertmanagerAlert, {
        error: 'expected the array of alerts of an Alertmanager webhook (version 4)',
      })
      .min(1, 'expected at least one alert'),
  },
  { error: 'expected the JSON object of an Alertmanager webhook (version 4)' },
);
export type AlertmanagerWebhook = z.infer<typeof AlertmanagerWebhook>;
