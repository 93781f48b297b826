import { z } from 'zod';
import { type Severity, severities } from '../../src/core/alert.ts';
import { asIncidentId } from '../../src/core/ids.ts';
import type { Domain, Incident } from '../../src/core/incident.ts';
import type { Json } from '../../src/core/tool-call.ts';
import { subjectLabels } from '../mapping/subject.ts';
import type { Scenario } from './scenario.ts';

const Texts = z
  .record(z.string(), z.unknown())
  .catch({})
  .transform((record) =>
    Object.fromEntries(
      Object.entries(record).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    ),
  );
const Text = z.string().optional().catch(undefined);

/** The alert in the shapes that occur: as Alertmanager groups them, as a finding with its request, or as a question. */
const AlertText = z.object({
  title: Text,
  severity: Text,
  user_prompt: Text,
  commonLabels: Texts.default({}),
  commonAnnotations: Texts.default({}),
  /** How old the incident was when its tools were called, seconds. */
  age_seconds: z.number().min(0).optional().catch(undefined),
  request: z.object({ title: Text, description: Text }).catch({}).default({}),
  issue: z
    .object({
      name: Text,
      title: Text,
      description: Text,
      aggregation_key: Text,
      raw: z.unknown().optional(),
    })
    .catch({ raw: undefined })
    .default({ raw: undefined }),
});

/** What a scenario's author calls the fault they made: the answer, which no real alert would carry. */
const TELLTALE = /failure_mode$/;

/** The incident that a scenario's alert would open, as old as it was then. `now`: ms. */
export function incidentOf(scenario: Scenario, now: number): Incident {
  const alert = AlertText.parse(scenario.incident);
  const raw = z
    .object({ labels: Texts.default({}), annotations: Texts.default({}) })
    .catch({ labels: {}, annotations: {} })
    .parse(alert.issue.raw ?? {});
  const labels = withoutTelltale({
    ...subjectLabels(scenario.incident),
    ...raw.labels,
    ...alert.commonLabels,
  });
  const description = alert.request.description || alert.issue.description;
  const annotations = withoutTelltale({
    ...raw.annotations,
    ...alert.commonAnnotations,
    ...(description ? { description } : {}),
  });
  const title = alert.title ?? alert.user_prompt ?? alert.request.title ?? alert.issue.title;
  const openedAt = new Date(now - (alert.age_seconds ?? 0) * 1_000).toISOString();
  return {
    id: asIncidentId('INC-1'),
    state: 'diagnosing',
    stoppedFrom: null,
    title: title ?? alert.issue.name ?? annotations['summary'] ?? labels['alertname'] ?? scenario.title,
    alertName: labels['alertname'] ?? alert.issue.name ?? alert.issue.aggregation_key ?? null,
    severity: severityOf(alert.severity ?? labels['severity'] ?? scenario.severity),
    domain: scenario.domain ?? domainOf(scenario, labels),
    target: scenario.target ?? 'recorded-system',
    incidentType: null,
    routine: null,
    fingerprint: scenario.id,
    labels,
    annotations,
    occurrences: 1,
    members: 1,
    membersFiring: 1,
    round: 1,
    cause: null,
    confidence: null,
    verdict: null,
    nextStep: null,
    words: null,
    sourceResolvedAt: null,
    resolvedBy: null,
    closedBy: null,
    asksAgainAt: null,
    flappingUntil: null,
    mutedBy: null,
    mergedInto: null,
    effort: null,
    detailsDeletedAt: null,
    investigator: null,
    costUsd: 0,
    requesters: [],
    channel: null,
    threadTs: null,
    openedAt,
    updatedAt: openedAt,
    endedAt: null,
  };
}

function withoutTelltale(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => !TELLTALE.test(name)));
}

function severityOf(word: string | undefined): Severity {
  return severities.find((severity) => severity === word?.toLowerCase()) ?? 'unknown';
}

/** The domain a target would be configured with, by what was recorded from it. */
function domainOf({ tool_outputs }: Scenario, labels: Readonly<Record<string, string>>): Domain {
  const tools = tool_outputs.map(({ tool }) => tool).join(' ');
  if (labels['source_type'] === 'database' || labels['engine'] === 'postgres' || /postgres|rds/.test(tools))
    return 'postgres';
  if (/kubectl|kubernetes|eks|pod_logs/.test(tools) || labels['container_runtime'] === 'kubernetes')
    return 'kubernetes';
  return labels['container_runtime'] === 'podman' ? 'podman' : 'docker';
}

/** A JSON object's entries, empty for anything else. */
export function entriesOf(value: Json): Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, Json>>)
    : {};
}
