import type { ScratchEngine } from '../../evals/record/scratch-engine.ts';
import type { ContainerOptions, EngineName } from '../../playground/faults/containers/shop-engine.ts';
import type { ShopFault } from '../../playground/faults/fault.ts';
import type { IncidentId } from '../../src/core/ids.ts';
import { startEngine } from './engines.ts';
import { startTargetScene, type TargetScene } from './target-scene.ts';
import { waitFor } from './wait-for.ts';

/** Traps TERM, so that a stop takes no ten seconds, and sleeps for ever. */
export const SLEEPS = 'trap "exit 0" TERM; while true; do sleep 0.1; done';
/** The same, saying when its trap is set: before that, a first process takes no notice of a signal, and is killed. */
export const SAYS_READY = SLEEPS.replace('while', 'echo ready; while');
export const untilReady = ({ api }: ScratchEngine, container: string): Promise<unknown> =>
  waitFor(`${container} is ready`, async () =>
    String(await api.getContainer(container).logs({ stdout: true })).includes('ready'),
  );

interface ContainerAlert {
  readonly name?: string;
  readonly title?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** A real engine, the target `shop`, and a core whose playbook investigates it with the runbooks of the repository. */
export interface ContainerScene extends Omit<TargetScene, 'open'> {
  readonly engine: ScratchEngine;
  run(container: string, options: ContainerOptions): Promise<string>;
  ended(container: string): Promise<void>;
  /** The incident that an alert of this name about the container opens. */
  open(container: string, alert?: ContainerAlert): Promise<IncidentId>;
  /** The incident that the alert of a fault of the playground opens. */
  alert(fault: ShopFault): Promise<IncidentId>;
}

/** @param claudeUrl see `startTargetScene` */
export async function startContainerScene(
  engineName: EngineName,
  claudeUrl?: string,
): Promise<ContainerScene> {
  const engine = await startEngine(engineName);
  const scene = await startTargetScene(
    { name: 'shop', kind: engineName, socket: engine.socket, acts: true },
    claudeUrl,
  );
  return {
    ...scene,
    engine,
    run: engine.run,
    async ended(container) {
      await waitFor(
        `${container} has ended`,
        async () => !(await engine.api.getContainer(container).inspect()).State.Running,
      );
    },
    open: (container, { name = 'ContainerDown', title = `${container} is down`, labels = {} } = {}) =>
      scene.open({ name, title, labels: { container, ...labels } }),
    alert: async ({ rule, read }) => {
      const { alertname, summary, description, labels, severity } = rule;
      return scene.open({
        name: alertname,
        title: alertname,
        labels: { ...labels, severity },
        annotations: { summary, description: `${description} Now: ${(await read()).says}.` },
      });
    },
    async stop() {
      await scene.stop();
      await engine.stop();
    },
  };
}
