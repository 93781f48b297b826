import { nothingHeld } from '../fault.ts';
import { type ContainerFault, containerRule, isDown } from './container-fault.ts';
import { service, told } from './shop-containers.ts';

const REPORTS = 'shop-reports';
const LIMIT = 32 * 1024 * 1024;

export const oomKill: ContainerFault = {
  id: 'oom_kill',
  title: 'Out of memory',
  description: 'A report takes more memory than its container may have, and the kernel kills it (137).',
  rule: containerRule('ContainerOOMKilled', REPORTS, 'was killed for lack of memory'),
  async cause({ make, atWork, tell, ends }) {
    await make(REPORTS, service(REPORTS, told('/report', 'exec tail /dev/zero')), {
      host: { Memory: LIMIT, MemorySwap: LIMIT },
    });
    await atWork(REPORTS);
    await tell(REPORTS, '/report');
    await ends(REPORTS);
    return nothingHeld;
  },
  undo: ({ remove }) => remove(REPORTS),
  read: (shop) => isDown(shop, REPORTS),
};
