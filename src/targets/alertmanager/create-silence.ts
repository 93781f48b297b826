import { z } from 'zod';
import type { ActionOutcome } from '../../core/action.ts';
import { severityLabels } from '../../core/alert.ts';
import { clipLine } from '../../core/clip.ts';
import { count } from '../../core/count.ts';
import { OpsError, refuse } from '../../core/errors.ts';
import { severityOf } from '../../core/severity.ts';
import { SILENCE_TOOL } from '../../core/silence-tool.ts';
import { sha256 } from '../../safety/sha256.ts';
import type { ToolContext } from '../../tools/define.ts';
import { bootClock, passed } from '../boot-clock.ts';
import { more, withoutBreaks } from '../format.ts';
import { labelValues } from '../prometheus/tool.ts';
import {
  type Alertmanager,
  type FiringAlert,
  formatLabels,
  isFor,
  type Labels,
  type Silence,
} from './alertmanager.ts';
import { nothing, outcomeOf } from './outcome.ts';
import { alertmanagerTool } from './tool.ts';

interface Input {
  readonly labels: Labels;
  readonly minutes: number;
  readonly incident: string;
}

/** What must not have moved: which alerts it hits, where it hits more than one. Those come and go that are the very thing. */
type Guard = { readonly hits: string };

const MAX_SHOWN = 5;

const isUnsaid = (labels: Labels): boolean => severityLabels.every((name) => !labels[name]);

const input = z.strictObject({
  labels: labelValues
    .refine((labels) => (labels['alertname'] ?? '') !== '', 'alertname says which alert is silenced')
    // A warning that becomes critical must not stay unheard for who has not said so.
    .refine(
      (labels) => labels['severity'] !== undefined,
      'severity says how bad an alert is silenced; empty: they carry none',
    )
    .refine(
      (labels) => Object.entries(labels).every(([name, value]) => value !== '' || name === 'severity'),
      'only severity may be empty',
    )
    .describe(
      'The labels of the alerts, each exactly: alertname, severity (empty: they carry none), and those that say which thing is ill.',
    ),
  minutes: z.number().int().min(1).max(10_080).describe('How long, from when it is approved.'),
  incident: z
    .string()
    .regex(/^INC-\d{1,9}$/)
    .describe('The incident it is for, which its comment names.'),
});

/** Has Alertmanager keep alerts of exactly these labels quiet for a while. They go on firing, and are shown as silenced. */
export const createSilence = alertmanagerTool.active<Input, Guard>({
  name: SILENCE_TOOL,
  description:
    'Silences alerts at Alertmanager (or Grafana) for a while: it notifies nobody of them, Sentry included. It mends nothing. For alerts that are known and being seen to.',
  kind: 'active',
  verbs: {
    does: 'Silence',
    did: 'Silenced',
    button: 'Silence at the source',
    frees: 'People from calls about what they know.',
    costs: 'Nobody is told of these alerts meanwhile.',
  },
  input,
  timeoutMs: 20_000,
  neverUnasked: true,
  // The next one is asked for when this one has ended.
  isRepeatable: true,
  command: ({ labels, minutes, incident }) =>
    `silence {${formatLabels(labels)}} for ${duration(minutes)}, comment ${JSON.stringify(commentOf(incident))}`,
  rules({ system: { maxMinutes } }, { minutes }) {
    return minutes > maxMinutes
      ? refuse(
          'TOO_LONG',
          `A silence there lasts ${duration(maxMinutes)} at most (max_silence_hours in sentry.yaml).`,
        )
      : undefined;
  },
  async preflight(context, { labels, minutes, incident }) {
    const [hit, own] = await Promise.all([
      context.system.alerts(labels, context),
      ownSilence(context, labels, incident),
    ]);
    if (own)
      throw new OpsError('GONE', `They are silenced already, until ${own.endsAt}.`, {
        hint: 'Wait until that silence ends, or undo it.',
      });
    if (hit.length === 0)
      throw new OpsError(
        'GONE',
        'No alert with these labels fires there now, so there is nothing to silence.',
        {
          hint: 'Look which Alertmanager has it, and whether it is over.',
        },
      );
    const unsaid = severityLabels.find((name) =>
      hit.some((alert) => alert.labels[name] && !Object.hasOwn(labels, name)),
    );
    if (unsaid !== undefined)
      throw new OpsError(
        'TOO_WIDE',
        `These alerts say how bad they are in "${unsaid}", which is not among the labels.`,
        {
          hint: `Name ${unsaid} as well: one that gets worse must not stay unheard.`,
        },
      );
    return {
      guard: guardOf(labels, hit),
      clock: bootClock(),
      lines: [
        `${formatLabels(labels)}: exactly these labels, nothing is a pattern`,
        ...hitLines(labels, hit),
        `until ${duration(minutes)} after it runs; what fires then notifies again`,
      ],
      blastRadius:
        'Alertmanager notifies nobody of these alerts meanwhile, nor of others with the same labels that begin. Nothing else is silenced.',
      undo: 'The Undo button ends this very silence.',
      risk:
        severityLabels.some((name) => severityOf(labels[name]) === 'critical') || isUnsaid(labels)
          ? 'high'
          : 'medium',
      losesNothing: true,
    };
  },
  objects: ({ labels, minutes }) => [
    { kind: 'alerts', key: keyOf(formatLabels(labels)), label: `${nameOf(labels)} for ${duration(minutes)}` },
  ],
  async run(context, { labels, minutes, incident }, guard, deadline): Promise<ActionOutcome> {
    // Asked twice, it is the same silence: Alertmanager itself would make a second one.
    const own = await ownSilence(context, labels, incident);
    if (own) return succeeded(own);
    const hit = await context.system.alerts(labels, context);
    if (guardOf(labels, hit).hits !== guard.hits) return nothing('other alerts would be silenced by now.');
    if (passed(bootClock(), deadline)) return nothing('the deadline had passed.');
    if (hit.length === 0) return nothing('no such alert fires there any more.');
    try {
      const id = await context.system.create({ labels, minutes, comment: commentOf(incident) }, context);
      // What it answered is certain, whether or not it can be read now: that it is in force is looked for afterwards.
      const made = await context.system.silence(id, context).catch(() => null);
      if (made && !isFor(made, labels))
        return {
          kind: 'unknown',
          text: `Alertmanager made silence ${id}, and it is not for what was asked for: look at it there.`,
        };
      return made ? succeeded(made) : { kind: 'succeeded', text: 'Silenced.', data: { id } };
    } catch (error) {
      return outcomeOf(error);
    }
  },
  look: async (context, { labels, incident }) =>
    (await ownSilence(context, labels, incident)) ? 'done' : 'not_done',
  inverse: (data) => (data === null ? null : { tool: 'alertmanager_expire_silence', input: data }),
  effect: ({ labels }) => ({
    steps: [
      {
        tool: 'alertmanager_silences',
        input: { labels },
        holds: 'result.total >= 1',
        says: 'The silence is in force',
      },
      {
        tool: 'alertmanager_alerts',
        input: { labels },
        holds: 'result.active == 0',
        says: 'Alertmanager notifies nobody of them',
      },
    ],
    holdMs: 1_000,
    timeoutMs: 60_000,
  }),
});

const guardOf = (labels: Labels, hit: readonly FiringAlert[]): Guard => ({
  hits: hit.length > 1 ? sha256(JSON.stringify(hit.map(apart(labels)).toSorted())) : '',
});

/** Who looks into Alertmanager finds the incident by it, and Sentry finds its own silence again. */
const commentOf = (incident: string): string => `${incident}: silenced by Sentry, approved there`;

const ownSilence = async (
  context: ToolContext<Alertmanager>,
  labels: Labels,
  incident: string,
): Promise<Silence | undefined> =>
  (await context.system.silences(context)).find(
    (silence) => silence.comment === commentOf(incident) && isFor(silence, labels),
  );

const succeeded = ({ id, endsAt }: Silence): ActionOutcome => ({
  kind: 'succeeded',
  text: `Silenced until ${endsAt}.`,
  data: { id },
});

/** What an alert carries beyond the labels it is silenced by: what tells those that are hit apart. */
const apart =
  (labels: Labels) =>
  (alert: FiringAlert): string =>
    formatLabels(
      Object.fromEntries(Object.entries(alert.labels).filter(([name]) => !Object.hasOwn(labels, name))),
    );

function hitLines(labels: Labels, hit: readonly FiringAlert[]): readonly string[] {
  if (hit.length === 1) return ['silences the 1 alert with these labels that fires now, 0 others'];
  const shown = hit.slice(0, MAX_SHOWN);
  return [
    `silences ${count(hit.length, 'alert')} that fire now, which differ in other labels:`,
    ...shown.map((alert) => clipLine(withoutBreaks(apart(labels)(alert)), 300)),
    ...more(hit.length, shown.length),
  ];
}

function nameOf({ alertname = '', ...labels }: Labels): string {
  const values = Object.values(labels).filter((value) => value !== '');
  return clipLine(`${alertname}${values.length > 0 ? ` (${values.join(', ')})` : ''}`, 150);
}

/** Of the same alerts, whoever writes their labels in whichever order. */
export const keyOf = (matchers: string): string =>
  sha256(matchers.split(', ').toSorted().join(', ')).slice(0, 32);

const duration = (minutes: number): string => (minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`);
