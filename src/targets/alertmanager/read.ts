import { z } from 'zod';
import { clipLine } from '../../core/clip.ts';
import { count } from '../../core/count.ts';
import { more, withoutBreaks } from '../format.ts';
import { formatLabels, formatMatchers, isFor, isInForce } from './alertmanager.ts';
import { alertmanagerTool, silenceId, someLabels } from './tool.ts';

const MAX_SHOWN = 50;
const MAX_LINE = 400;

/** Which alerts fire. Data: `{ total, active, silenced, alerts: [{ labels, starts_at, state, silenced_by }] }`. */
export const alertmanagerAlerts = alertmanagerTool.read({
  name: 'alertmanager_alerts',
  description:
    'Which alerts fire at Alertmanager (or Grafana) now, with their labels, and which of them are silenced.',
  kind: 'read',
  input: z.strictObject({ labels: someLabels }),
  timeoutMs: 15_000,
  async run(context, { labels = {} }) {
    const all = await context.system.alerts(labels, context);
    const silenced = all.filter(({ status }) => (status.silencedBy ?? []).length > 0).length;
    const active = all.filter(({ status }) => status.state !== 'suppressed').length;
    const shown = all.slice(0, MAX_SHOWN);
    return {
      text: [
        `${count(all.length, 'alert')} ${all.length === 1 ? 'fires' : 'fire'}, ${silenced} of them silenced.`,
        ...shown.map((alert) =>
          line(`${formatLabels(alert.labels)}: ${alert.status.state}, since ${alert.startsAt}`),
        ),
        ...more(all.length, shown.length),
      ].join('\n'),
      data: {
        total: all.length,
        active,
        silenced,
        alerts: shown.map((alert) => ({
          labels: alert.labels,
          starts_at: alert.startsAt,
          state: alert.status.state,
          silenced_by: alert.status.silencedBy ?? [],
        })),
      },
    };
  },
});

/** Which silences are in force. Data: `{ total, silences: [{ id, matchers, until, by, comment }] }`. */
export const alertmanagerSilences = alertmanagerTool.read({
  name: 'alertmanager_silences',
  description:
    'Which silences are in force at Alertmanager (or Grafana): what they are for, until when, by whom.',
  kind: 'read',
  input: z.strictObject({
    labels: someLabels.describe('Only those that are for exactly these labels.'),
    id: silenceId.optional(),
  }),
  timeoutMs: 15_000,
  async run(context, { labels, id }) {
    // Grafana may list more than one may read singly, and the other way round.
    const found = id === undefined ? null : await context.system.silence(id, context);
    const listed = id === undefined ? await context.system.silences(context) : found === null ? [] : [found];
    const all = listed.filter((silence) => isInForce(silence) && (!labels || isFor(silence, labels)));
    const shown = all.slice(0, MAX_SHOWN);
    return {
      text: [
        `${count(all.length, 'silence')} in force.`,
        ...shown.map((each) =>
          line(
            `${each.id}: ${formatMatchers(each)} until ${each.endsAt}, by ${each.createdBy}: ${each.comment}`,
          ),
        ),
        ...more(all.length, shown.length),
      ].join('\n'),
      data: {
        total: all.length,
        silences: shown.map((each) => ({
          id: each.id,
          matchers: formatMatchers(each),
          until: each.endsAt,
          by: each.createdBy,
          comment: each.comment,
        })),
      },
    };
  },
});

const line = (text: string): string => clipLine(withoutBreaks(text), MAX_LINE);
