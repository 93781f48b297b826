import type { ShopFault } from '../fault.ts';
import { containerDown } from './container-down.ts';
import type { ContainerFault } from './container-fault.ts';
import { crashLoop } from './crash-loop.ts';
import { engineTitles, type FoundEngine } from './find-engine.ts';
import { logFillsDisk } from './log-fills-disk.ts';
import { missingImage } from './missing-image.ts';
import { oomKill } from './oom-kill.ts';
import { portClash } from './port-clash.ts';
import { shopContainers } from './shop-containers.ts';
import type { EngineName } from './shop-engine.ts';
import { unhealthy } from './unhealthy.ts';

const faults = [containerDown, crashLoop, oomKill, unhealthy, logFillsDisk, portClash, missingImage];

/** What goes wrong with the containers of one engine; why it cannot be caused, where there is none. */
export function containerFaults(name: EngineName, found: FoundEngine): readonly ShopFault[] {
  const labels = { instance: `shop-${name}`, job: 'cadvisor', container_runtime: name, team: 'shop' };
  return faults.map((fault) => ({
    ...fault,
    id: `${name}_${fault.id}`,
    system: engineTitles[name],
    impossible: found.missing,
    rule: { ...fault.rule, labels: { ...fault.rule.labels, ...labels } },
    ...actsOf(fault, found),
  }));
}

function actsOf(
  fault: ContainerFault,
  { engine, missing }: FoundEngine,
): Pick<ShopFault, 'cause' | 'undo' | 'read'> {
  if (engine === null)
    return {
      cause: () => Promise.reject(new Error(missing)),
      undo: async () => undefined,
      read: async () => ({ holds: false, says: missing }),
    };
  const shop = shopContainers(engine);
  return {
    cause: () => fault.cause(shop),
    undo: () => fault.undo(shop),
    read: () => fault.read(shop),
  };
}
