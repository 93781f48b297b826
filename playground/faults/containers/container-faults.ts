import { freePort } from '../../../src/infra/process/free-port.ts';
import { type FaultFacts, nothingHeld, type ShopFault } from '../fault.ts';
import { until } from '../postgres/client-session.ts';
import { engineTitles, type FoundEngine } from './find-engine.ts';
import { type ContainerOptions, type EngineName, LABELS, OWN, type ShopEngine } from './shop-engine.ts';

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

/** Some hundred lines a second, and no more than 40 MB whatever happens. */
const REPEATS = `m=0
  while true; do
    if [ $m -lt 1500 ]; then
      m=$((m + 1)); l=0
      while [ $l -lt 200 ]; do echo "ERROR mail 4711 refused by the relay: try again at once"; l=$((l + 1)); done
    fi
    sleep 0.2
  done`;
/** What the queue and those who need it share. */
const QUEUE = 'sentry-shop-queue';
/** How far back a look at the log reaches. */
const LOOK_S = 3;

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
  log: {
    id: 'log_fills_disk',
    title: 'A log fills the disk',
    description: 'The shop’s mailer tries the same mail again and again, and writes it down each time.',
    rule: rule('ContainerLogGrowsFast', 'shop-mailer', 'writes its log fast', 'warning'),
  },
  port: {
    id: 'port_clash',
    title: 'Port clash',
    description: 'While the shop’s API was away for a moment, somebody’s debug container took its port.',
    rule: rule('ContainerRestartLoop', 'shop-api', 'cannot stay up'),
  },
  image: {
    id: 'missing_image',
    title: 'Image that cannot be pulled',
    description: 'A deployment stopped the shop’s search and could not get the image of the new one.',
    rule: rule('ContainerImagePullFailed', 'shop-search', 'could not be deployed'),
  },
} satisfies Record<string, FaultFacts>;

function faultsOf(engine: ShopEngine): readonly ContainerFault[] {
  const make = async (name: string, sh: string, options: Omit<ContainerOptions, 'sh'> = {}) => {
    await engine.remove(name);
    await engine.run(name, { ...options, sh });
  };
  /** Undefined when there is none. */
  const look = async (name: string) => {
    const [found] = await engine.api.listContainers({
      all: true,
      filters: { ...OWN, name: [`^/?${name}$`] },
    });
    return found && engine.api.getContainer(found.Id).inspect();
  };
  const runs = async (name: string) => (await look(name))?.State.Running ?? false;
  const tell = async (name: string, file: string) => {
    const exec = await engine.api
      .getContainer(name)
      .exec({ Cmd: ['sh', '-c', `echo > ${file}`], AttachStdout: true });
    (await exec.start({})).resume();
  };
  /** In the last seconds. */
  const newLines = async (name: string) => {
    if (!(await runs(name))) return 0;
    const since = Math.floor(Date.now() / 1_000) - LOOK_S;
    const log = await engine.api.getContainer(name).logs({ stdout: true, since, follow: false });
    return log.toString().split('\n').length;
  };
  /** At its work: what has just started has not shown that it works. */
  const atWork = (name: string, seconds = 3) =>
    until(`${name} to be at its work`, async () => upSeconds(await look(name)) > seconds);
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
        await engine.api.createVolume({ Name: QUEUE, Labels: LABELS });
        const host = { Binds: [`${QUEUE}:/queue`] };
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
        const { Volumes: volumes } = await engine.api.listVolumes({ filters: OWN });
        for (const { Name: name } of volumes ?? []) await engine.api.getVolume(name).remove();
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
        // What has run for less is taken for one that still starts.
        await atWork('shop-web', 11);
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
    {
      ...common,
      ...facts.log,
      async cause() {
        await make('shop-mailer', service('shop-mailer', told('/stuck', REPEATS)));
        await atWork('shop-mailer');
        await tell('shop-mailer', '/stuck');
        await until('shop-mailer to repeat itself', async () => (await newLines('shop-mailer')) > 100);
        return nothingHeld;
      },
      undo: () => removed('shop-mailer').then(() => undefined),
      async read() {
        const lines = await newLines('shop-mailer');
        return { holds: lines > 100, says: `${Math.round(lines / LOOK_S)} lines a second` };
      },
    },
    {
      ...common,
      ...facts.port,
      async cause() {
        const port = await freePort();
        const listens = `nc -l -p ${port} > /dev/null 2>&1 || { echo "Error: listen EADDRINUSE: address already in use 0.0.0.0:${port}"; exit 1; }`;
        const options = { ExposedPorts: { [`${port}/tcp`]: {} } };
        const host = { NetworkMode: 'host' };
        const serves = (name: string) =>
          `trap "kill $!; exit 0" TERM; echo "INFO ${name} listens on ${port}"; while true; do ${listens}; done & wait $!`;
        await make('shop-api', serves('shop-api'), {
          ...options,
          host: { ...host, RestartPolicy: { Name: 'always' } },
        });
        await atWork('shop-api');
        await engine.api.getContainer('shop-api').stop({ t: 2 });
        await make('shop-debug', serves('shop-debug'), { ...options, host });
        await atWork('shop-debug');
        await engine.api.getContainer('shop-api').start();
        await until(
          'shop-api to be started again',
          async () => ((await look('shop-api'))?.RestartCount ?? 0) > 1,
        );
        return nothingHeld;
      },
      undo: () => removed('shop-api', 'shop-debug').then(() => undefined),
      async read() {
        const api = await look('shop-api');
        const holds =
          api !== undefined && (api.RestartCount > 0 || !api.State.Running) && upSeconds(api) < 10;
        return { holds, says: `${api?.RestartCount ?? 0} restarts` };
      },
    },
    {
      ...common,
      ...facts.image,
      async cause() {
        await make('shop-search', service('shop-search', ':'));
        await atWork('shop-search');
        await engine.api.getContainer('shop-search').stop({ t: 2 });
        return nothingHeld;
      },
      undo: () => removed('shop-search').then(() => undefined),
      async read() {
        const search = await look('shop-search');
        const holds = search !== undefined && !search.State.Running;
        return { holds, says: holds ? await refusalOf(engine, 'shop/search:43') : 'it runs' };
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

/** What the engine answers a deployment of an image that is nowhere; no registry is asked. */
const refusalOf = ({ api }: ShopEngine, image: string): Promise<string> =>
  api.createContainer({ Image: image }).then(
    () => `${image} is there`,
    (error: { readonly json?: { readonly message?: string } }) => error.json?.message ?? String(error),
  );
