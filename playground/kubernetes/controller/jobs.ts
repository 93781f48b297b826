import { isControlledBy, type Job, type Pod, timestamp } from '../objects.ts';
import { resource } from '../resources.ts';
import type { Controller, ControlPlane } from './control-plane.ts';
import { createPodMaker, type PodMaker } from './pod-maker.ts';
import { isReady } from './pod-state.ts';

const jobs = resource('jobs');
const pods = resource('pods', '');
const source = { component: 'job-controller' };

/** Runs pods until enough of them have succeeded, or too many have failed. */
export function createJobController(plane: ControlPlane): Controller {
  const maker = createPodMaker(plane, source.component);
  return () => {
    for (const job of plane.store.list<Job>(jobs)) {
      const isOver = job.status.conditions?.some(({ status }) => status === 'True') === true;
      if (!isOver && job.spec.suspend !== true && job.metadata.deletionTimestamp === undefined)
        sync(plane, job, maker);
    }
  };
}

function sync(plane: ControlPlane, job: Job, maker: PodMaker): void {
  const own = ownPods(plane, job);
  const succeeded = own.filter(({ status }) => status.phase === 'Succeeded').length;
  const failed = own.filter(({ status }) => status.phase === 'Failed').length;
  const restarts = own.flatMap(({ status }) => status.containerStatuses ?? []);
  const failures = failed + restarts.reduce((sum, { restartCount }) => sum + restartCount, 0);
  const active = own.length - succeeded - failed;
  const isDone = succeeded >= (job.spec.completions ?? 1);
  const hasFailed = failures > (job.spec.backoffLimit ?? 6);
  if (hasFailed) for (const pod of own) end(plane, pod);
  if (!isDone && !hasFailed) {
    const missing = Math.min(job.spec.parallelism ?? 1, (job.spec.completions ?? 1) - succeeded) - active;
    for (let made = 0; made < missing; made += 1) if (!maker.make(job)) break;
  }
  const now = timestamp();
  plane.registry.setStatus<Job>(jobs, job, (current) => {
    const { status } = current;
    status.startTime ??= now;
    Object.assign(status, {
      active: hasFailed ? 0 : ownPods(plane, job).length - succeeded - failed,
      succeeded,
      failed,
    });
    status.ready = own.filter(isReady).length;
    if (!isDone && !hasFailed) return;
    const why = isDone
      ? {
          type: 'Complete',
          reason: 'CompletionsReached',
          message: 'Reached expected number of succeeded pods',
        }
      : {
          type: 'Failed',
          reason: 'BackoffLimitExceeded',
          message: 'Job has reached the specified backoff limit',
        };
    if (isDone) status.completionTime = now;
    status.conditions = [{ ...why, status: 'True', lastProbeTime: now, lastTransitionTime: now }];
  });
  if (isDone) plane.events.normal(source, job, 'Completed', 'Job completed');
  if (hasFailed) {
    plane.events.warning(source, job, 'BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  }
}

const ownPods = ({ store }: ControlPlane, job: Job) =>
  store.list<Pod>(pods, job.metadata.namespace).filter((pod) => isControlledBy(pod, job));

function end({ registry }: ControlPlane, { metadata, status }: Pod): void {
  const isOver = status.phase === 'Succeeded' || status.phase === 'Failed';
  if (!isOver && metadata.deletionTimestamp === undefined)
    registry.remove(pods, metadata.namespace, metadata.name);
}
