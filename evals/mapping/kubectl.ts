import type { RecordedOutput } from '../replay/scenario.ts';
import type { MappedOutput, Mapping } from './mapping.ts';
import { type SeenContainer, type SeenPod, whyUnhealthy } from './seen-pod.ts';

// What `kubectl describe pod` and `kubectl logs` print, as tools for models record it.

const DESCRIBE = 'kubectl_describe';
/** The run before the last restart first. */
const LOGS = [
  'kubectl_previous_logs',
  'kubectl_logs',
  'kubectl_logs_all_containers',
  'fetch_pod_logs',
] as const;

function described(outputs: readonly RecordedOutput[]): readonly MappedOutput[] {
  return outputs
    .filter(({ tool }) => tool === DESCRIBE)
    .flatMap(({ output }) => {
      const pod = describedPod(output);
      return pod === null ? [] : whyUnhealthy({ ...pod, log: logOf(outputs, pod.name) });
    });
}

interface Field {
  readonly value: string;
  /** What is indented below it. */
  readonly lines: readonly string[];
}
type Fields = ReadonlyMap<string, Field>;

/** Null: another text than that of a pod. */
function describedPod(text: string): SeenPod | null {
  const top = fieldsOf(text.split('\n'), 0);
  const value = (name: string): string => top.get(name)?.value ?? '';
  const containers = top.get('Containers');
  if (value('Name') === '' || value('Namespace') === '' || containers === undefined) return null;
  const [node = ''] = value('Node').split('/');
  const events = (top.get('Events')?.lines ?? [])
    .filter((line) => /^\s+(?:Normal|Warning)\s/.test(line))
    .map((line) => line.trim());
  return {
    name: value('Name'),
    namespace: value('Namespace'),
    workload: workloadOf(value('Controlled By'), `${value('Labels')} ${top.get('Labels')?.lines.join(' ')}`),
    node: node === '' || node === '<none>' ? null : node,
    refused: isRefused(top) ? (events.findLast((line) => line.includes('FailedScheduling')) ?? null) : null,
    containers: [...fieldsOf(containers.lines, 2)].map(([name, { lines }]) =>
      containerOf(name, fieldsOf(lines, 4)),
    ),
    events,
    log: [],
  };
}

/** The fields at one depth of an indented text; of two with a name, the first. */
function fieldsOf(lines: readonly string[], depth: number): Fields {
  const head = new RegExp(`^ {${depth}}([^\\s:][^:]*):(?:\\s+(.*))?$`);
  const found = new Map<string, { value: string; lines: string[] }>();
  let current: { value: string; lines: string[] } | undefined;
  for (const line of lines) {
    const [, name, value = ''] = head.exec(line.trimEnd()) ?? [];
    if (name === undefined) {
      if (line.startsWith(' '.repeat(depth + 1))) current?.lines.push(line);
      continue;
    }
    current = { value: value.trim(), lines: [] };
    if (!found.has(name)) found.set(name, current);
  }
  return found;
}

function containerOf(name: string, fields: Fields): SeenContainer {
  const [state, last] = [fields.get('State'), fields.get('Last State')];
  const told = (field: Field | undefined, what: string): string =>
    fieldsOf(field?.lines ?? [], 6).get(what)?.value ?? '';
  const ended = [state, last].find((field) => field?.value === 'Terminated');
  return {
    name,
    image: fields.get('Image')?.value ?? null,
    restarts: Number(fields.get('Restart Count')?.value ?? 0),
    waits:
      state?.value === 'Waiting' ? { reason: told(state, 'Reason'), message: told(state, 'Message') } : null,
    ended: ended ? { reason: told(ended, 'Reason'), exitCode: Number(told(ended, 'Exit Code')) } : null,
  };
}

const isRefused = (top: Fields): boolean =>
  (top.get('Conditions')?.lines ?? []).some((line) => /^\s+PodScheduled\s+False\b/.test(line));

/** A replica set is named after its deployment, with the hash that its pods carry as a label. */
function workloadOf(controller: string, labels: string): string | null {
  const [, kind, name = ''] = /^(\w+)\/(\S+)$/.exec(controller) ?? [];
  if (kind === undefined) return null;
  if (kind !== 'ReplicaSet') return name;
  const [, hash = ''] = /\bpod-template-hash=(\S+)/.exec(labels) ?? [];
  return hash !== '' && name.endsWith(`-${hash}`) ? name.slice(0, -hash.length - 1) : null;
}

/** Of a pod; what the tool says of its own query is no word of it. */
function logOf(outputs: readonly RecordedOutput[], pod: string): readonly string[] {
  const [text = ''] = LOGS.flatMap((tool) =>
    outputs.filter((one) => one.tool === tool && one.args['pod_name'] === pod).map(({ output }) => output),
  );
  const [, inner = text] = /^stdout:\n(.*?)\n*(?:stderr:.*)?$/s.exec(text) ?? [];
  const [own = ''] = inner.split(/(?:^|\n)={20,}\n/);
  return own.split('\n').filter((line) => line.trim() !== '');
}

export const kubernetesOfKubectl: readonly Mapping[] = [
  { from: [DESCRIBE, ...LOGS], to: 'kubernetes_why_unhealthy', read: described },
];
