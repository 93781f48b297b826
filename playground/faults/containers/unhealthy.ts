import { type HeldFault, nothingHeld } from '../fault.ts';
import { until } from '../until.ts';
import { type ContainerFault, containerRule } from './container-fault.ts';
import { type ShopContainers, service, told } from './shop-containers.ts';
import type { ShopEngine } from './shop-engine.ts';

const WEB = 'shop-web';
const HANGS =
  'echo "WARN request GET /web: waiting for a connection of the pool"; rm -f /well; while true; do sleep 0.2; done';

export const unhealthy: ContainerFault = {
  id: 'unhealthy',
  title: 'Unhealthy container',
  description: 'The shop’s web service hangs: it runs, and its health check fails.',
  rule: containerRule('ContainerUnhealthy', WEB, 'fails its health check', 'warning'),
  async cause(shop) {
    await shop.make(WEB, `echo > /well; ${service(WEB, told('/hang', HANGS))}`, {
      Healthcheck: {
        Test: ['CMD-SHELL', 'test -e /well || { echo "GET /health: no answer within 2 s"; exit 1; }'],
        Interval: 1e9,
        Timeout: 5e9,
        Retries: 2,
      },
    });
    const checks = await checking(shop.engine);
    await until(`${WEB} to be healthy`, async () => (await healthOf(shop)) === 'healthy');
    // What has run for less is taken for one that still starts.
    await shop.atWork(WEB, 11);
    await shop.tell(WEB, '/hang');
    await until(`${WEB} to be unhealthy`, async () => (await healthOf(shop)) === 'unhealthy');
    return checks;
  },
  undo: ({ remove }) => remove(WEB),
  async read(shop) {
    const health = await healthOf(shop);
    return { holds: health === 'unhealthy', says: `its health check says ${health ?? 'nothing'}` };
  },
};

const healthOf = async ({ look }: ShopContainers) => (await look(WEB))?.State.Health?.Status;

/** Docker looks by itself; of Podman's checks systemd's timers ask, which a machine may not have. */
async function checking({ name, api }: ShopEngine): Promise<HeldFault> {
  if (name === 'docker') return nothingHeld;
  const path = `/v4.0.0/libpod/containers/${WEB}/healthcheck`;
  const check = () =>
    new Promise((resolve) => api.modem.dial({ path, method: 'GET', statusCodes: { 200: true } }, resolve));
  await check();
  const timer = setInterval(() => void check(), 1_000);
  return { release: async () => clearInterval(timer) };
}
