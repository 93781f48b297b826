import type { MappedOutput } from './mapping.ts';

/** What another system's tool shows of a pod. */
export interface SeenPod {
  readonly name: string;
  readonly namespace: string;
  /** Whose pod it is, where that is told; then `replicas` may be as well. */
  readonly workload: string | null;
  readonly replicas?: Readonly<Record<'desired' | 'available' | 'unavailable', number>>;
  readonly node: string | null;
  /** The scheduler's words, where it found no node. */
  readonly refused: string | null;
  readonly containers: readonly SeenContainer[];
  readonly events: readonly string[];
  readonly log: readonly string[];
}

export interface SeenContainer {
  readonly name: string;
  readonly image: string | null;
  readonly restarts: number;
  readonly waits: { readonly reason: string; readonly message: string } | null;
  /** Its last end. */
  readonly ended: { readonly reason: string; readonly exitCode: number } | null;
}

/**
 * What a pod in trouble shows of why its workload is not healthy, as asked of the pod and of the workload; nothing of a pod that is well: the others
 * may not be. Whether the newest revision is to blame is not told, and `last_good` is null as there is none to name.
 */
export function whyUnhealthy(pod: SeenPod): readonly MappedOutput[] {
  const found =
    pod.refused === null ? pod.containers.map(troubleOf).find((one) => one !== null) : refused(pod.refused);
  if (found === undefined || found === null) return [];
  const { reason, state, message, container } = found;
  const { name, namespace, workload, replicas, node, events, log } = pod;
  const restarts = pod.containers.reduce((sum, one) => sum + one.restarts, 0);
  const code = container?.ended?.exitCode ?? null;
  const says = [
    `${name}: ${reason === 'out_of_memory' ? `${state}, out of memory` : state}`,
    ...(code === null || code === 0 ? [] : [`exit code ${code}`]),
    ...(restarts > 0 ? [`started again ${restarts} times`] : []),
    ...(node === null ? [] : [`on ${node}`]),
  ].join(', ');
  const line = message === '' ? says : `${says}: ${message.replace(/\s+/g, ' ')}`;
  const data = {
    namespace,
    name: workload ?? name,
    ...replicas,
    reason,
    says: line,
    healthy: false,
    pod: {
      name,
      trouble: reason,
      ready: false,
      state,
      message,
      container: container?.name ?? null,
      image: container?.image ?? null,
      restarts,
      exit_code: code,
      node,
    },
    log: log.join('\n'),
    log_lines: [...log],
    events: [...events],
    unschedulable: reason === 'unschedulable' ? [...reasonsOf(message)] : [],
    last_good: null,
    diff: [],
  };
  const text = [
    line,
    ...(log.length === 0 ? [] : [`The log of ${name} ends with:`, ...log]),
    ...(events.length === 0 ? [] : ['Events:', ...events]),
  ].join('\n');
  return [...new Set([name, workload ?? name])].map((asked) => ({
    args: { namespace, name: asked },
    text,
    data,
  }));
}

interface Trouble {
  readonly reason: string;
  readonly state: string;
  readonly message: string;
  readonly container: SeenContainer | null;
}

const refused = (message: string): Trouble => ({
  reason: 'unschedulable',
  state: 'Unschedulable',
  message,
  container: null,
});

/** In the cluster's own words; what it does not call a trouble is none. */
function troubleOf(container: SeenContainer): Trouble | null {
  const { reason: state = '', message = '' } = container.waits ?? {};
  const as = (reason: string): Trouble => ({ reason, state, message, container });
  if (/^(?:ErrImage\w*|ImagePullBackOff|InvalidImageName)$/.test(state)) return as('image');
  if (state === 'CrashLoopBackOff')
    return as(container.ended?.reason === 'OOMKilled' ? 'out_of_memory' : 'crash_loop');
  return null;
}

/** `0/2 nodes are available: 2 Insufficient cpu.` gives `Insufficient cpu`. */
function reasonsOf(message: string): readonly string[] {
  const [, reasons = ''] = /nodes are available:\s*(.*?)\.?\s*(?:preemption:.*)?$/s.exec(message) ?? [];
  return reasons
    .replace(/\.$/, '')
    .split(/,\s*(?=\d+\s)/)
    .map((each) => each.replace(/^\d+\s+(?:node\(s\)\s+)?/, '').trim())
    .filter((each) => each !== '');
}
