import type { LogBook } from '../api/logs.ts';
import type { Registry } from '../registry/registry.ts';
import { createBudgetController } from './budgets.ts';
import type { ControlPlane } from './control-plane.ts';
import { createDaemonSetController } from './daemon-sets.ts';
import { createDeploymentController } from './deployments.ts';
import { EventRecorder } from './event-recorder.ts';
import { createGarbageCollector } from './garbage-collector.ts';
import { createJobController } from './jobs.ts';
import { createKubelet } from './kubelet.ts';
import { createNamespaceController } from './namespaces.ts';
import { createNodeController } from './nodes.ts';
import { createReplicaSetController } from './replica-sets.ts';
import { createScheduler } from './scheduler.ts';
import { createEndpointController } from './services.ts';
import { createStatefulSetController } from './stateful-sets.ts';
import { createVolumeController } from './volumes.ts';

/**
 * Starts all controllers. They run one after the other in passes: after each change of the store, and when one of them has
 * asked for a time. Returns what ends them.
 */
export function startControllers(registry: Registry, logs: LogBook, speed: number): () => void {
  const began = Date.now();
  const wakes = new Map<number, NodeJS.Timeout>();
  let pass: NodeJS.Immediate | undefined;
  const soon = () => {
    pass ??= setImmediate(() => {
      pass = undefined;
      for (const control of controllers) control();
    });
  };
  const plane: ControlPlane = {
    store: registry.store,
    registry,
    logs,
    events: new EventRecorder(registry),
    now: () => (Date.now() - began) * speed,
    wake(at) {
      const due = began + Math.ceil(at / speed);
      if (wakes.has(due)) return;
      const timer = setTimeout(
        () => {
          wakes.delete(due);
          soon();
        },
        Math.max(1, due - Date.now()),
      );
      wakes.set(due, timer);
    },
  };
  const controllers = [
    createNamespaceController,
    createNodeController,
    createGarbageCollector,
    createDeploymentController,
    createReplicaSetController,
    createStatefulSetController,
    createDaemonSetController,
    createJobController,
    createVolumeController,
    createScheduler,
    createKubelet,
    createEndpointController,
    createBudgetController,
  ].map((create) => create(plane));
  // Events are told of what has happened: nothing happens because of them.
  const stop = registry.store.onChange(null, ({ object }) => {
    if (object.kind !== 'Event') soon();
  });
  soon();
  return () => {
    stop();
    clearImmediate(pass);
    for (const timer of wakes.values()) clearTimeout(timer);
  };
}
