import { nothingHeld } from '../fault.ts';
import { type ContainerFault, containerRule, isLooping } from './container-fault.ts';
import { service, told } from './shop-containers.ts';
import { LABELS, OWN } from './shop-engine.ts';

const ORDERS = 'shop-orders';
const QUEUE = 'shop-queue';
/** What the queue and those who need it share: containers without a network see each other there. */
const VOLUME = 'sentry-shop-queue';
const NEEDS = `[ -e /queue/up ] || { echo "Error: connect ECONNREFUSED ${QUEUE}:6379"; exit 1; }`;

export const crashLoop: ContainerFault = {
  id: 'crash_loop',
  title: 'Crash loop',
  description: 'The shop’s queue is gone; its orders service dies and is started again and again without it.',
  rule: containerRule('ContainerCrashLooping', ORDERS, 'restarts again and again'),
  async cause({ engine, make, atWork, tell, ends, loops }) {
    await engine.api.createVolume({ Name: VOLUME, Labels: LABELS });
    const host = { Binds: [`${VOLUME}:/queue`] };
    const queue = service(QUEUE, `${told('/fail', 'rm -f /queue/up; exit 1')}; echo > /queue/up`);
    await make(QUEUE, queue, { host });
    await make(ORDERS, service(ORDERS, NEEDS), { host: { ...host, RestartPolicy: { Name: 'always' } } });
    await atWork(ORDERS);
    await tell(QUEUE, '/fail');
    await ends(QUEUE);
    await loops(ORDERS);
    return nothingHeld;
  },
  async undo({ engine, remove }) {
    await remove(ORDERS, QUEUE);
    const { Volumes: volumes } = await engine.api.listVolumes({ filters: OWN });
    for (const { Name: name } of volumes ?? []) await engine.api.getVolume(name).remove();
  },
  read: (shop) => isLooping(shop, ORDERS),
};
