import { mkdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../../src/core/errors.ts';
import { createLog } from '../../src/infra/log/log.ts';
import { Alerter } from './alerter.ts';
import { containerFaults } from './containers/container-faults.ts';
import { findEngine, removeAll } from './containers/find-engine.ts';
import { engineNames } from './containers/shop-engine.ts';
import { FaultPanel } from './fault-panel.ts';
import { createFaultsServer } from './faults-server.ts';
import { hostFaults } from './host/host-faults.ts';
import { startShopHost } from './host/shop-host.ts';
import { clusterFaults } from './kubernetes/cluster-faults.ts';
import { namespaces, startShopCluster } from './kubernetes/shop-cluster.ts';
import { databaseFaults } from './postgres/database-fault.ts';
import { startShop } from './postgres/shop.ts';
import { startWorkload } from './postgres/workload.ts';
import { changeTeller } from './tell-change.ts';

const HELP = `The shop, the system under care: a database, a host, containers and a Kubernetes cluster, with real faults to cause in them
and the alerts they raise.

  --data DIR               keep the database and the state here (required)
  --host-data DIR          keep the host's files here, else in a folder of --data
  --port N                 listen on this port of 127.0.0.1; 0 or nothing: any free one
  --alert-url URL          Sentry's Alertmanager webhook; without it no alert is sent there
  --webhook-secret-file F  its content is sent to it as a bearer token
  --slack-webhook-url URL  a Slack incoming webhook that gets the alerts as messages, too
  --docker-socket PATH     where Docker may answer; can be repeated, the first that does is used
  --podman-socket PATH     the same for Podman
  --quiet-workload         no steady workload

Prints one JSON line when it is ready: {"ready":true,"url":"http://127.0.0.1:…","readUrl":"postgres://…","actUrl":"postgres://…","target":"shop-db","host":{…},"engines":[…],"cluster":{…}}.
`;

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    port: { type: 'string' },
    'alert-url': { type: 'string' },
    'webhook-secret-file': { type: 'string' },
    'slack-webhook-url': { type: 'string' },
    'host-data': { type: 'string' },
    'docker-socket': { type: 'string', multiple: true, default: [] },
    'podman-socket': { type: 'string', multiple: true, default: [] },
    'quiet-workload': { type: 'boolean' },
    help: { type: 'boolean' },
  },
});

if (values.help === true) process.stdout.write(HELP);
else await serve(wanted('data', values.data), port(values.port));

async function serve(data: string, listenOn: number): Promise<void> {
  const log = createLog('info');
  const dataDir = resolve(data);
  mkdirSync(dataDir, { recursive: true });
  const shop = await startShop(dataDir, log);
  const receivers = {
    webhook:
      values['alert-url'] === undefined
        ? null
        : { url: values['alert-url'], secret: secretIn(values['webhook-secret-file']) },
    slackUrl: values['slack-webhook-url'] ?? null,
  };
  const alerter = new Alerter(join(dataDir, 'alerts.json'), receivers, log);
  const host = await startShopHost(resolve(values['host-data'] ?? join(dataDir, 'shop-host')));
  const engines = {
    docker: await findEngine('docker', values['docker-socket']),
    podman: await findEngine('podman', values['podman-socket']),
  };
  const kubernetes = await startShopCluster(join(dataDir, 'shop-cluster'));
  const faults = [
    ...databaseFaults(shop),
    ...hostFaults(host),
    ...engineNames.flatMap((name) => containerFaults(name, engines[name])),
    ...clusterFaults(kubernetes.cluster, changeTeller(receivers, log)),
  ];
  const panel = new FaultPanel({ faults, alerter, path: join(dataDir, 'faults.json'), log });
  await panel.start();
  const workload = values['quiet-workload'] === true ? undefined : startWorkload(shop.appUrl, log);
  const server = createFaultsServer(panel);
  await new Promise<void>((listening, failed) =>
    server.once('error', failed).listen(listenOn, '127.0.0.1', listening),
  );

  let ending = false;
  const end = async (): Promise<void> => {
    if (ending) return;
    ending = true;
    server.close();
    server.closeAllConnections();
    await workload?.stop();
    await panel.stop();
    await host.kill();
    for (const { engine } of Object.values(engines))
      if (engine)
        await removeAll(engine).catch((error: unknown) =>
          log.warn({ error: messageOf(error) }, 'containers stay'),
        );
    await kubernetes.stop();
    await shop.stop();
    process.exit(0);
  };
  process.on('SIGTERM', () => void end());
  process.on('SIGINT', () => void end());

  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.stdout.write(
    `${JSON.stringify({
      ready: true,
      url,
      readUrl: shop.readUrl,
      actUrl: shop.actUrl,
      target: 'shop-db',
      host: { dir: host.dir, restart: host.restart, pidFile: host.pidFile },
      engines: Object.values(engines).flatMap(({ engine }) =>
        engine ? [{ kind: engine.name, socket: engine.socket }] : [],
      ),
      cluster: { kubeconfigFile: kubernetes.kubeconfigFile, namespaces },
    })}\n`,
  );
}

/** From a file: arguments can be read by everybody on the machine. */
function secretIn(file: string | undefined): string | null {
  return file === undefined ? null : readFileSync(file, 'utf8').trim();
}

function wanted(name: string, value: string | undefined): string {
  if (value !== undefined) return value;
  process.stderr.write(`--${name} is required; --help tells more\n`);
  process.exit(2);
}

function port(value: string | undefined): number {
  if (value === undefined) return 0;
  if (/^\d{1,5}$/.test(value) && Number(value) <= 65_535) return Number(value);
  process.stderr.write(`--port must be a port number, not "${value}"\n`);
  process.exit(2);
}
