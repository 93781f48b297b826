import { z } from 'zod';
import { OpsError } from '../../core/errors.ts';
import { jsonOf } from '../../core/json-of.ts';
import { formatConditions } from '../../core/matcher.ts';
import type { SessionOptions } from '../../tools/ports.ts';
import type { HttpConfig } from '../prometheus/config.ts';
import { type HttpQuestion, httpCalls } from '../prometheus/connect/http-api.ts';

export type Labels = Readonly<Record<string, string>>;

/** https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml; Grafana's own answers in the same form. */
const FiringAlerts = z.array(
  z.object({
    fingerprint: z.string(),
    labels: z.record(z.string(), z.string()),
    startsAt: z.string(),
    status: z.object({ state: z.string(), silencedBy: z.array(z.string()).nullish() }),
  }),
);

const Matcher = z.object({
  name: z.string(),
  value: z.string(),
  isRegex: z.boolean().default(false),
  // Before 0.22 there was no other.
  isEqual: z.boolean().default(true),
});

const Silence = z.object({
  id: z.string(),
  matchers: z.array(Matcher),
  endsAt: z.string(),
  createdBy: z.string().default(''),
  comment: z.string().default(''),
  status: z.object({ state: z.string() }),
});

export type FiringAlert = z.infer<typeof FiringAlerts>[number];
export type Silence = z.infer<typeof Silence>;

/** A silence to be made: alerts that carry exactly these labels. An empty value: they do not carry it. */
export interface NewSilence {
  readonly labels: Labels;
  readonly minutes: number;
  readonly comment: string;
}

/** Alertmanager, or Grafana as one. Everything throws OpsError, see `HttpCalls`; besides `_REFUSED`, `_NO_API` and `_<status>`. */
export interface Alertmanager {
  /** How long a silence may last, in minutes; 0: none is made. */
  readonly maxMinutes: number;
  /** Null: it does not say. */
  version(options: SessionOptions): Promise<string | null>;
  /** Those that fire and carry exactly these labels, silenced or not. */
  alerts(labels: Labels, options: SessionOptions): Promise<readonly FiringAlert[]>;
  /** Those in force, or about to be. */
  silences(options: SessionOptions): Promise<readonly Silence[]>;
  /** Null: it knows none of that id (any more). */
  silence(id: string, options: SessionOptions): Promise<Silence | null>;
  /** Its id. */
  create(silence: NewSilence, options: SessionOptions): Promise<string>;
  expire(id: string, options: SessionOptions): Promise<void>;
}

/** Whom Alertmanager shows as the author. */
export const AUTHOR = 'Sentry';

export const isInForce = ({ status }: Silence): boolean => status.state !== 'expired';

export function connectAlertmanager(
  config: Pick<HttpConfig, 'url' | 'headers'>,
  maxMinutes: number,
): Alertmanager {
  const { send, fault } = httpCalls(config, 'Alertmanager');

  async function ask(question: HttpQuestion, options: SessionOptions): Promise<unknown> {
    const { status, text } = await send(question, options);
    if (status < 300) return jsonOf(text);
    const said = text.slice(0, 500).trim();
    if (status === 400 || status === 422 || status === 429)
      throw fault('REFUSED', `Alertmanager refuses it: ${said || status}`, 'Correct what is asked for.');
    throw fault(String(status), `Alertmanager answered ${status}.`, 'Look into its own log.');
  }
  const parsed = <T>(shape: z.ZodType<T>, answer: unknown): T => {
    const { success, data } = shape.safeParse(answer);
    if (success) return data;
    throw fault(
      'NO_API',
      'What answers is not the API of Alertmanager.',
      'Check the url of the target in sentry.yaml; Grafana’s ends in /api/alertmanager/grafana.',
    );
  };
  const one = (id: string): string => `/api/v2/silence/${encodeURIComponent(id)}`;

  return {
    maxMinutes,
    async version(options) {
      const shape = z.object({ versionInfo: z.object({ version: z.string() }).nullish() });
      const status = parsed(shape, await ask({ method: 'GET', path: '/api/v2/status' }, options));
      return status.versionInfo?.version ?? null;
    },
    async alerts(labels, options) {
      const { alertname } = labels;
      const params: Record<string, string> = alertname
        ? { filter: formatConditions([{ name: 'alertname', op: '=', value: alertname }]) }
        : {};
      const answer = await ask({ method: 'GET', path: '/api/v2/alerts', params }, options);
      return parsed(FiringAlerts, answer).filter((alert) => carries(alert.labels, labels));
    },
    async silences(options) {
      const answer = await ask({ method: 'GET', path: '/api/v2/silences' }, options);
      return parsed(z.array(Silence), answer).filter(isInForce);
    },
    async silence(id, options) {
      try {
        return parsed(Silence, await ask({ method: 'GET', path: one(id) }, options));
      } catch (error) {
        if (error instanceof OpsError && error.code === 'ALERTMANAGER_404') return null;
        throw error;
      }
    },
    async create({ labels, minutes, comment }, options) {
      const now = Date.now();
      const body = {
        matchers: matchersOf(labels),
        startsAt: new Date(now).toISOString(),
        endsAt: new Date(now + minutes * 60_000).toISOString(),
        createdBy: AUTHOR,
        comment,
      };
      const answer = await ask({ method: 'POST', path: '/api/v2/silences', body }, options);
      return parsed(z.object({ silenceID: z.string().min(1) }), answer).silenceID;
    },
    async expire(id, options) {
      await ask({ method: 'DELETE', path: one(id) }, options);
    },
  };
}

/** Labels have exactly these values, to the letter: none is a pattern. */
const matchersOf = (labels: Labels) =>
  Object.entries(labels).map(([name, value]) => ({ name, value, isRegex: false, isEqual: true }));

/** A label that an alert lacks is empty, as for Alertmanager itself. */
function carries(alert: Labels, labels: Labels): boolean {
  return Object.entries(labels).every(
    ([name, value]) => (Object.hasOwn(alert, name) ? alert[name] : '') === value,
  );
}

/** Whether a silence is for exactly these labels, no more and no less. */
export function isFor({ matchers }: Silence, labels: Labels): boolean {
  const names = Object.keys(labels);
  return (
    matchers.length === names.length &&
    matchers.every(
      ({ name, value, isRegex, isEqual }) =>
        !isRegex && isEqual && Object.hasOwn(labels, name) && labels[name] === value,
    )
  );
}

/** As Alertmanager writes them: `alertname="DiskFull", severity=~"warning|info"`. */
export const formatMatchers = ({ matchers }: Silence): string =>
  formatConditions(
    matchers.map(({ name, value, isRegex, isEqual }) => ({
      name,
      op: isRegex ? (isEqual ? '=~' : '!~') : isEqual ? '=' : '!=',
      value,
    })),
  );

/** In one order, whichever they were given in: the database keeps another, and what is approved has to read the same. */
export const formatLabels = (labels: Labels): string =>
  formatConditions(
    Object.entries(labels)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, value]) => ({ name, op: '=', value })),
  );
