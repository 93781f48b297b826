import type { Pod } from '../objects.ts';
import { ageSince } from './age.ts';
import { type Column, column } from './table-column.ts';

export const podColumns: readonly Column[] = [
  column<Pod>('Ready', ({ spec, status }) => {
    const ready = (status.containerStatuses ?? []).filter((each) => each.ready).length;
    return `${ready}/${spec.containers.length}`;
  }),
  column<Pod>('Status', podReason),
  column<Pod>('Restarts', restarts),
  { name: 'Age' },
  column<Pod>('IP', ({ status }) => status.podIP, true),
  column<Pod>('Node', ({ spec }) => spec.nodeName, true),
  column<Pod>('Nominated Node', ({ status }) => status.nominatedNodeName, true),
  column<Pod>('Readiness Gates', () => undefined, true),
];

/** The one word that `get pods` has for what goes on in a pod. */
function podReason(pod: Pod): string {
  const { status, metadata } = pod;
  if (metadata.deletionTimestamp !== undefined)
    return status.reason === 'NodeLost' ? 'Unknown' : 'Terminating';
  const waitingInit = initReason(pod);
  if (waitingInit !== null) return waitingInit;
  let reason = status.reason ?? status.phase ?? 'Unknown';
  for (const { state, ready } of (status.containerStatuses ?? []).toReversed()) {
    const word = state?.waiting?.reason ?? state?.terminated?.reason;
    if (word !== undefined && word !== '') reason = word;
    else if (ready && reason === 'Completed') reason = 'Running';
  }
  return reason;
}

function initReason({ spec, status }: Pod): string | null {
  const all = status.initContainerStatuses ?? [];
  const at = all.findIndex(({ state }) => state?.terminated?.exitCode !== 0);
  const first = all[at];
  if (first === undefined) return null;
  const { terminated, waiting } = first.state ?? {};
  if (terminated !== undefined) return `Init:${terminated.reason ?? `ExitCode:${terminated.exitCode}`}`;
  if (waiting?.reason !== undefined && waiting.reason !== 'PodInitializing') return `Init:${waiting.reason}`;
  return `Init:${at}/${spec.initContainers?.length ?? 0}`;
}

function restarts({ status }: Pod): string {
  const all = status.containerStatuses ?? [];
  const count = all.reduce((sum, { restartCount }) => sum + restartCount, 0);
  const last = all
    .flatMap(({ lastState }) => lastState?.terminated?.finishedAt ?? [])
    .toSorted()
    .at(-1);
  return count === 0 || last === undefined ? String(count) : `${count} (${ageSince(last)} ago)`;
}
