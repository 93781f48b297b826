import { z } from 'zod';

const Name = z.string().min(1).optional().catch(undefined);
const Subject = z.object({ name: Name, namespace: Name, kind: Name, subject_type: Name }).catch({});

/** What alerts of other systems are about, where they say it elsewhere than in labels. */
const Alert = z.object({
  /** Robusta's findings. https://docs.robusta.dev/master/configuration/exporting/exporting-data.html */
  request: z.object({ subject: Subject.optional() }).catch({}).optional(),
  issue: z.object({ subject_name: Name, subject_namespace: Name, subject_type: Name }).catch({}).optional(),
  /** Datadog's tags. https://docs.datadoghq.com/containers/kubernetes/tag/ */
  commonAnnotations: z
    .object({ kube_namespace: Name, kube_deployment: Name, kube_stateful_set: Name, kube_pod: Name })
    .catch({})
    .optional(),
});

const LABEL_OF: Readonly<Record<string, string>> = {
  pod: 'pod',
  deployment: 'deployment',
  statefulset: 'statefulset',
  daemonset: 'daemonset',
  job: 'job_name',
  node: 'node',
  service: 'service',
};

/** The labels by which kube-state-metrics would name it. */
export function subjectLabels(incident: unknown): Readonly<Record<string, string>> {
  const { request, issue, commonAnnotations: tags } = Alert.catch({}).parse(incident);
  const subject = request?.subject;
  const named = [
    [subject?.kind ?? subject?.subject_type, subject?.name],
    [issue?.subject_type, issue?.subject_name],
  ].map(([kind, name]) => [LABEL_OF[kind?.toLowerCase() ?? ''], name]);
  const found = [
    ['namespace', subject?.namespace ?? issue?.subject_namespace ?? tags?.kube_namespace],
    ['deployment', tags?.kube_deployment],
    ['statefulset', tags?.kube_stateful_set],
    ['pod', tags?.kube_pod],
    ...named,
  ];
  return Object.fromEntries(found.filter(([label, name]) => label !== undefined && name !== undefined));
}
