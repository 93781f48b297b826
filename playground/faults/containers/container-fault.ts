import type { AlertRule, FaultFacts, HeldFault, Reading } from '../fault.ts';
import type { ShopContainers } from './shop-containers.ts';

/** Something that goes wrong with a shop's containers, on any engine. */
export interface ContainerFault extends FaultFacts {
  cause(shop: ShopContainers): Promise<HeldFault>;
  undo(shop: ShopContainers): Promise<void>;
  read(shop: ShopContainers): Promise<Reading>;
}

/** As cAdvisor or an exporter of Docker would have it. */
export const containerRule = (
  alertname: string,
  container: string,
  summary: string,
  severity: AlertRule['severity'] = 'critical',
): AlertRule => ({
  alertname,
  severity,
  forMs: 3_000,
  summary: `${container} ${summary}`,
  description: 'Seen by its exporter.',
  inhibitedBy: [],
  labels: { container, name: container },
});

/** Whether it is there and does not run. */
export async function isDown({ look }: ShopContainers, container: string): Promise<Reading> {
  const state = (await look(container))?.State;
  const holds = state !== undefined && !state.Running;
  return { holds, says: holds ? `it ended with code ${state.ExitCode}` : 'it runs' };
}

/** Whether it dies and is started again and again. */
export async function isLooping({ look, upSeconds }: ShopContainers, container: string): Promise<Reading> {
  const restarts = (await look(container))?.RestartCount ?? 0;
  return { holds: restarts > 0 && (await upSeconds(container)) < 10, says: `${restarts} restarts` };
}
