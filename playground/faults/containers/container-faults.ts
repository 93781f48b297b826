import { type FaultFacts, nothingHeld, type ShopFault } from '../fault.ts';
import { until } from '../postgres/client-session.ts';
import { engineTitles, type FoundEngine } from './find-engine.ts';
import { type ContainerOptions, type EngineName, LABELS, type ShopEngine } from './shop-engine.ts';

const MIB = 1024 * 1024;
/** Its main process follows a stop, and looks for what it is told every half second: files, as nothing else gets in. */
const service = (name: string, work: string): string => `
trap "exit 0" TERM
echo "INFO ${name} starts"
while true; do
  ${work}
  echo "INFO request GET /${name.replace('shop-', '')} 200 12ms"
  sleep 0.5
done`;
/** What ends it is gone with it: one more start helps. */
const told = (file: string, does: string): string => `if [ -e ${file} ]; then rm ${file}; ${does}; fi`;

/** What goes wrong with the containers of one engine, as cAdvisor and an exporter of Docker would label the alerts. */
export function containerFaults(name: EngineName, { engine, missing }: FoundEngine): readonly ShopFault[] {
  const faults = engine === null ? impossibleFaults(missing) : faultsOf(engine);
  return faults.map((fault) => ({
    ...fault,
    id: `${name}_${fault.id}`,
    system: engineTitles[name],
    rule: {
      ...fault.rule,
      inhibitedBy: fault.rule.inhibitedBy.map((id) => `${name}_${id}`),
      labels: {
        ...fault.rule.labels,
        instance: `shop-${name}`,
        job: 'cadvisor',
        container_runtime: name,
        team: 'shop',
      },
    },
  }));
}

type ContainerFault = Omit<ShopFault, 'system'>;

const impossibleFaults = (impossible: string): readonly ContainerFault[] =>
  Object.values(facts).map((fault) => ({
    ...fault,
    impossible,
    cause: () => Promise.reject(new Error(impossible)),
    undo: async () => undefined,
    read: async () => ({ holds: false, says: impossible }),
  }));

const rule = (
  alertname: string,
  container: string,
  summary: string,
  severity: 'critical' | 'warning' = 'critical',
): FaultFacts['rule'] => ({
  alertname,
  severity,
  forMs: 3_000,
  summary: `${container} ${summary}`,
  description: 'Seen by its exporter.',
  inhibitedBy: [],
  labels: { container, name: container },
});

const facts = {
  down: {
    id: 'container_down',
    title: 'Container down',
    description: 'The shop’s cart ends with an error, and nothing starts it again.',
    rule: rule('ContainerDown', 'shop-cart', 'is not running'),
  },
  loop: {
    id: 'crash_loop',
    title: 'Crash loop',
    description:
      'The shop’s queue is gone; its orders service dies and is started again and again without it.',
    rule: {
      ...rule('ContainerCrashLooping', 'shop-orders', 'restarts again and again'),
      // What it needs is down, which is the cause and not another problem.
      inhibitedBy: [],
    },
  },
  memory: {
    id: 'oom_kill',
    title: 'Out of memory',
    description: 'A report takes more memory than its container may have, and the kernel kills it (137).',
    rule: rule('ContainerOOMKilled', 'shop-reports', 'was killed for lack of memory'),
  },
  unhealthy: {
    id: 'unhealthy',
    title: 'Unhealthy container',
    description: 'The shop’s web service hangs: it runs, and its health check fails.',
    rule: rule('ContainerUnhealthy', 'shop-web', 'fails its health check', 'warning'),
  },
} satisfies Record<string, FaultFacts>;

function faultsOf(engine: ShopEngine): readonly ContainerFault[] {
  const make = async (name: string, sh: string, options: Omit<ContainerOptions, 'sh'> = {}) => {
    await engine.remove(name);
    await engine.run(name, { ...options, sh, Labels: { ...LABELS, ...options.Labels } });
  };
  /** Undefined when there is none. */
  const look = async (name: string) => {
    const [found] = await engine.api.listContainers({ all: true, filters: { name: [`^/?${name}$`] } });
    return found && engine.api.getContainer(found.Id).inspect();
  };
  const runs = async (name: string) => (await look(name))?.State.Running ?? false;
  const tell = async (name: string, file: string) => {
    const exec = await engine.api
      .getContainer(name)
      .exec({ Cmd: ['sh', '-c', `echo > ${file}`], AttachStdout: true });
    (await exec.start({})).resume();
  };
  /** At its work: what has just started has not shown that it works. */
  const atWork = (name: string) =>
    until(`${name} to be at its work`, async () => upSeconds(await look(name)) > 3);
  const ends = (name: string) => until(`${name} to end`, async () => !(await runs(name)));
  const removed = (...names: readonly string[]) => Promise.all(names.map((name) => engine.remove(name)));
  const common = { impossible: null } as const;

  return [
    {
      ...common,
      ...facts.down,
      async cause() {
        await make('shop-cart', service('shop-cart', told('/fail', 'exit 2')));
        await atWork('shop-cart');
        await tell('shop-cart', '/fail');
        await ends('shop-cart');
        return nothingHeld;
      },
      undo: () => removed('shop-cart').then(() => undefined),
      async read() {
        const cart = await look('shop-cart');
        const holds = cart !== undefined && !cart.State.Running;
        return { holds, says: holds ? `it ended with code ${cart.State.ExitCode}` : 'it runs' };
      },
    },
    {
      ...common,
      ...facts.loop,
      async cause() {
        const data = `${engine.name}-shop-queue`;
        const host = { Binds: [`${data}:/queue`] };
        await make(
          'shop-queue',
          service('shop-queue', `${told('/fail', 'rm -f /queue/up; exit 1')}; echo > /queue/up`),
          {
            host,
          },
        );
        const needs = '[ -e /queue/up ] || { echo "Error: connect ECONNREFUSED shop-queue:6379"; exit 1; }';
        await make('shop-orders', service('shop-orders', needs), {
          host: { ...host, RestartPolicy: { Name: 'always' } },
        });
        await atWork('shop-orders');
        await tell('shop-queue', '/fail');
        await ends('shop-queue');
        await until(
          'shop-orders to be started again',
          async () => ((await look('shop-orders'))?.RestartCount ?? 0) > 1,
        );
        return nothingHeld;
      },
      async undo() {
        await removed('shop-orders', 'shop-queue');
        await engine.api
          .getVolume(`${engine.name}-shop-queue`)
          .remove()
          .catch(() => undefined);
      },
      async read() {
        const orders = await look('shop-orders');
        const holds = orders !== undefined && orders.RestartCount > 0 && upSeconds(orders) < 10;
        return { holds, says: `${orders?.RestartCount ?? 0} restarts` };
      },
    },
    {
      ...common,
      ...facts.memory,
      async cause() {
        await make('shop-reports', service('shop-reports', told('/report', 'exec tail /dev/zero')), {
          host: { Memory: 32 * MIB, MemorySwap: 32 * MIB },
        });
        await atWork('shop-reports');
        await tell('shop-reports', '/report');
        await ends('shop-reports');
        return nothingHeld;
      },
      undo: () => removed('shop-reports').then(() => undefined),
      async read() {
        const reports = await look('shop-reports');
        const holds = reports !== undefined && !reports.State.Running;
        return { holds, says: holds ? `it ended with code ${reports.State.ExitCode}` : 'it runs' };
      },
    },
    {
      ...common,
      ...facts.unhealthy,
      async cause() {
        const hangs = told(
          '/hang',
          'echo "WARN request GET /web: waiting for a connection of the pool"; rm -f /well; while true; do sleep 0.2; done',
        );
        await make('shop-web', `echo > /well; ${service('shop-web', hangs)}`, {
          Healthcheck: {
            Test: ['CMD-SHELL', 'test -e /well || { echo "GET /health: no answer within 2 s"; exit 1; }'],
            Interval: 1e9,
            Timeout: 5e9,
            Retries: 2,
          },
        });
        const checks = await checking(engine, 'shop-web');
        await until(
          'shop-web to be healthy',
          async () => (await look('shop-web'))?.State.Health?.Status === 'healthy',
        );
        await tell('shop-web', '/hang');
        await until(
          'shop-web to be unhealthy',
          async () => (await look('shop-web'))?.State.Health?.Status === 'unhealthy',
        );
        return checks;
      },
      undo: () => removed('shop-web').then(() => undefined),
      async read() {
        const health = (await look('shop-web'))?.State.Health;
        return {
          holds: health?.Status === 'unhealthy',
          says: `its health check says ${health?.Status ?? 'nothing'}`,
        };
      },
    },
  ];
}

const upSeconds = (
  container: { readonly State: { readonly Running: boolean; readonly StartedAt: string } } | undefined,
) => (container?.State.Running ? (Date.now() - Date.parse(container.State.StartedAt)) / 1_000 : 0);

/** Docker looks by itself; of Podman's checks systemd's timers ask, which a machine may not have. */
async function checking({ name, api }: ShopEngine, container: string) {
  if (name === 'docker') return nothingHeld;
  const path = `/v4.0.0/libpod/containers/${container}/healthcheck`;
  const check = () =>
    new Promise((resolve) => api.modem.dial({ path, method: 'GET', statusCodes: { 200: true } }, resolve));
  await check();
  const timer = setInterval(() => void check(), 1_000);
  return { release: async () => clearInterval(timer) };
}
