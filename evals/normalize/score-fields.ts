import { z } from 'zod';
import type { Alert } from '../../src/core/alert.ts';
import type { AlertSource } from '../../src/sources/ports.ts';
import { defaultSource } from '../../src/sources/registry.ts';

/** A payload with what it tells; a field that is not there is not scored. */
export const Sample = z.object({
  id: z.union([z.string(), z.number()]).transform(String),
  /** Whose it is and of what form: `zabbix_webhook`, `slack_alertmanager`. */
  kind: z.string(),
  form: z.string().default('webhook'),
  payload: z.unknown(),
  expected: z.object({
    title: z.string().optional(),
    /** Any of these is right, too. */
    title_any: z.array(z.string()).default([]),
    severity: z.string().optional(),
    status: z.enum(['firing', 'resolved']).optional(),
    /** Any of these is right: the target or the service. */
    target_any: z.array(z.string()).optional(),
    /** Those that must be there. */
    labels: z.record(z.string(), z.string()).optional(),
    n_firing: z.number().optional(),
    n_resolved: z.number().optional(),
  }),
});
export type Sample = z.infer<typeof Sample>;

export interface FieldScore {
  readonly kind: string;
  readonly scored: number;
  readonly right: number;
  readonly statuses: number;
  readonly statusesRight: number;
  /** `sample: field`. */
  readonly wrong: readonly string[];
}

/** Whose payloads are called otherwise than our sources. */
const called: Readonly<Record<string, string>> = {
  prometheus: defaultSource.name,
  opensre: 'generic',
  signalfx: 'splunk-observability',
};

/** By kind of sample; a payload that nobody reads has nothing right. */
export async function scoreFields(
  samples: readonly Sample[],
  sources: readonly AlertSource[],
): Promise<readonly FieldScore[]> {
  const scores = new Map<string, FieldScore>();
  for (const sample of samples) {
    const read = await sourceOf(sample, sources)?.read(sample.payload, { receivedAt: new Date() });
    const answers = compare(sample.expected, read?.ok ? read.alerts : []);
    const wrong = answers.filter(([, right]) => !right).map(([field]) => `${sample.id}: ${field}`);
    const status = answers.filter(([field]) => field === 'status');
    const kind = `${sample.kind} (${sample.form})`;
    const known = scores.get(kind) ?? { kind, scored: 0, right: 0, statuses: 0, statusesRight: 0, wrong: [] };
    scores.set(kind, {
      kind,
      scored: known.scored + answers.length,
      right: known.right + answers.length - wrong.length,
      statuses: known.statuses + status.length,
      statusesRight: known.statusesRight + status.filter(([, right]) => right).length,
      wrong: [...known.wrong, ...wrong],
    });
  }
  return [...scores.values()];
}

function sourceOf({ kind, form }: Sample, sources: readonly AlertSource[]): AlertSource | undefined {
  const named = (name: string) => sources.find((source) => source.name === name);
  if (form.startsWith('slack')) return named('slack');
  const words = kind.replaceAll('_', '-');
  const [first = ''] = words.split('-');
  return (
    named(called[first] ?? '') ??
    sources
      .filter(({ name }) => words === name || words.startsWith(`${name}-`))
      .toSorted((a, b) => b.name.length - a.name.length)[0] ??
    sources.find(({ name }) => name.startsWith(`${first}-`))
  );
}

function compare(
  expected: Sample['expected'],
  alerts: readonly Alert[],
): ReadonlyArray<readonly [field: string, right: boolean]> {
  const [alert] = alerts;
  const { title, title_any, severity, status, target_any, labels, n_firing, n_resolved } = expected;
  const count = (which: Alert['status']) => alerts.filter((each) => each.status === which).length;
  const said = [alert?.sourceSeverity, alert?.severity].map((word) => word?.toLowerCase());
  const targets = [alert?.target, alert?.labels['service'], alert?.labels['service_name']];
  const answers: ReadonlyArray<readonly [string, boolean | undefined]> = [
    ['title', title === undefined ? undefined : [title, ...title_any].includes(alert?.title ?? '')],
    // “high (urgency)” tells where the word is from.
    [
      'severity',
      severity &&
        [severity, severity.replace(/ \(.*\)$/, '')].some((word) => said.includes(word.toLowerCase())),
    ],
    ['status', status && alert?.status === status],
    ['target', target_any?.some((target) => targets.includes(target))],
    ['labels', labels && Object.entries(labels).every(([name, value]) => alert?.labels[name] === value)],
    ['n_firing', n_firing === undefined ? undefined : count('firing') === n_firing],
    ['n_resolved', n_resolved === undefined ? undefined : count('resolved') === n_resolved],
  ].map(([field, right]) => [
    String(field),
    right === undefined || right === '' ? undefined : right === true,
  ]);
  return answers.filter((answer): answer is readonly [string, boolean] => answer[1] !== undefined);
}
