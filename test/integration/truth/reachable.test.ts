import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Investigator } from '../../../src/agents/ports.ts';
import type { VerifyPlan } from '../../../src/core/tool-call.ts';
import { openDatabase } from '../../../src/infra/db/client.ts';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../../src/infra/db/embedded/start-embedded-postgres.ts';
import { allTools } from '../../../src/targets/all-tools.ts';
import type { HostConfig } from '../../../src/targets/host/config.ts';
import { localAccess } from '../../../src/targets/host/connect/local-access.ts';
import type { ReadTool } from '../../../src/tools/define.ts';
import { createRegistry } from '../../../src/tools/registry.ts';
import { type Core, createCore, findsNothing } from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { quiet } from '../../support/quiet.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import { createHostTargets, createPostgresTargets } from '../../support/targets.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type HostRig, hostRig, hostTarget, scratchHost } from '../targets/host/host-rig.ts';
import { driving, queueInvestigator, queueTools, queueWorld } from './queue-rig.ts';

const world = queueWorld();
let database: ScratchDatabase;
let core: Core;
let incident: ReturnType<typeof driving>;

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  core = await createCore({
    url: database.url,
    tools: queueTools(world),
    investigator: queueInvestigator(world),
  });
  incident = driving(core);
  await core.start();
});
afterAll(async () => {
  await core.stop();
  await database.drop();
});
beforeEach(() => {
  Object.assign(world, queueWorld(), { down: true });
});

const unproven = expect.objectContaining({
  type: 'diagnosis.concluded',
  diagnosis: expect.objectContaining({
    verdict: 'cannot_tell',
    rootCause: expect.stringContaining('Unproven'),
  }),
});
const toolNamed = (name: string) => {
  const tool = allTools.find((each) => each.name === name);
  expect(tool?.name).toBe(name);
  return tool;
};
const up = () => {
  world.down = false;
  world.waiting = 0;
};

describe('where the symptom is that nothing can be read', () => {
  test('the failed read that is cited shows it, and being reached again is what fixed means', async () => {
    world.acts = up;
    const id = await incident.open();
    const { purpose, verify } = await incident.approve(id);
    expect(purpose).toBe('repair');
    expect(verify.steps).toMatchObject([
      { tool: 'queue_reachable', measure: { name: 'reachable', bound: 1 } },
    ]);
    const { incident: ended } = await incident.until(id, 'resolved');
    expect(ended).toMatchObject({ resolvedBy: 'confirmed', verdict: 'fixed' });
    expect(world.acted).toBe(1);
  });

  test('what took effect and left it away has fixed nothing', async () => {
    const id = await incident.open();
    await incident.approve(id);
    const { events } = await incident.until(id, 'reported', ({ incident: { round } }) => round === 2);
    expect(world.acted).toBe(1);
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'verification.concluded', verdict: 'not_fixed' }),
    );
  });

  test('nothing runs when it can be reached again before', async () => {
    const id = await incident.open();
    await incident.proposed(id);
    up();
    await incident.approve(id);
    const { incident: now } = await incident.until(id, 'reported');
    expect(world.acted).toBe(0);
    expect(now.nextStep).toContain('over by itself');
  });

  test('nothing runs when not even that can be told any more', async () => {
    const id = await incident.open();
    await incident.proposed(id);
    world.readable = false;
    await incident.approve(id);
    await waitFor('the void', async () => (await incident.load(id)).actions[0]?.state === 'void');
    expect(world.acted).toBe(0);
  });

  test('a read that failed for another reason shows nothing', async () => {
    world.down = false;
    world.readable = false;
    const { actions, events } = await incident.until(await incident.open(), 'reported');
    expect(actions).toEqual([]);
    expect(events).toContainEqual(unproven);
  });

  test('a read that failed is no sign that all is well', async () => {
    world.says = () => ({ verdict: 'healthy', rootCause: 'All is well.' });
    const { events } = await incident.until(await incident.open(), 'reported');
    expect(events).toContainEqual(unproven);
  });
});

describe('a PostgreSQL server', () => {
  const askedAt = async (url: string) => {
    const targets = createPostgresTargets([
      {
        name: 'shop-db',
        kind: 'postgres',
        environment: 'test',
        aliases: [],
        readUrl: url,
        actUrl: null,
      },
    ]);
    try {
      return await (toolNamed('postgres_reachable') as ReadTool).run(targets.context('shop-db', 15_000), {});
    } finally {
      await targets.close();
    }
  };
  const elsewhere = (change: (url: URL) => void): string => {
    const url = new URL(database.url);
    change(url);
    return url.href;
  };

  test('that answers, or that nobody finds at its port, is told so; what refuses us tells neither', async () => {
    expect((await askedAt(database.url)).data).toEqual({ reachable: true, code: null });
    const closed = await freePort();
    const down = await askedAt(elsewhere((url) => (url.port = String(closed))));
    expect(down.data).toEqual({ reachable: false, code: 'POSTGRES_ECONNREFUSED' });
    expect(down.text).toContain('shop-db cannot be reached');
    await expect(askedAt(elsewhere((url) => (url.pathname = '/nowhere')))).rejects.toMatchObject({
      code: 'POSTGRES_3D000',
    });
  });
});

describe('a service of a host', () => {
  let rig: HostRig;
  let port: number;
  const scratch = scratchHost();
  beforeAll(async () => {
    port = await freePort();
    // It runs and takes no connections until its folder says so, as one that hangs.
    const listen = `require('net').createServer().listen(${port},'127.0.0.1')`;
    writeFileSync(
      join(scratch.dir, 'service.sh'),
      `dir="$1"\n[ -f "$dir/listens" ] && exec "${process.execPath}" -e "${listen}"\nexec sleep 600\n`,
    );
    const services = scratch.config.services.map((service) => ({ ...service, port }));
    rig = await hostRig({ host: { ...scratch, config: { ...scratch.config, services } } });
  });
  afterAll(() => rig.stop());

  const plan: VerifyPlan = {
    steps: [
      {
        tool: 'service_reachable',
        input: { service: 'worker' },
        measure: { name: 'reachable' },
        says: 'it takes connections',
      },
    ],
    holdMs: 100,
    timeoutMs: 5_000,
  };
  const read = async () =>
    rig.core.gate.readCriterion({
      incidentId: await rig.incident(),
      target: hostTarget.name,
      plan,
      purpose: 'look',
      signal: new AbortController().signal,
    });

  test('that runs with its port closed is red, and green once it is started so that it listens', async () => {
    scratch.start();
    await waitFor('the service to run', async () => {
      const status = await rig.call('validator', 'service_status', { service: 'worker' });
      return status.kind === 'ok' && (status.data as { running: boolean }).running;
    });
    const closed = await read();
    expect(closed.state).toBe('red');
    expect(closed.lines.join()).toContain('the service takes connections at its port: no');
    writeFileSync(join(scratch.dir, 'listens'), '');
    expect(await rig.act('restart_service', { service: 'worker' })).toMatchObject({ kind: 'ran' });
    await waitFor('the port', async () => (await read()).state === 'green');
  });

  test('without a declared port is not told', async () => {
    const [service] = scratch.config.services;
    const other = await hostRig({
      database: rig.database,
      host: { ...scratch, config: { ...scratch.config, services: service ? [service] : [] } },
    });
    expect(await other.call('validator', 'service_reachable', { service: 'worker' })).toMatchObject({
      kind: 'failed',
      code: 'HOST_NO_PORT',
    });
    await other.core.stop();
  });
});

describe('a database that is down, and whose service on the host can be started', () => {
  let db: EmbeddedPostgres;
  let host: Core;
  const dir = scratchDir();
  const pidFile = join(dir, 'shop-db.pid');
  const dataDir = join(dir, 'database');
  const investigator: Investigator = {
    ...queueInvestigator(world),
    diagnose: async (work) => {
      const seen = await work.callTool({
        tool: 'service_reachable',
        target: work.incident.target,
        input: { service: 'shop-db' },
      });
      const quote = seen.kind === 'ok' ? seen.text : null;
      return {
        ...findsNothing,
        verdict: 'cause_found',
        rootCause: 'shop-db is down.',
        category: 'service_down',
        confidence: 0.97,
        suggested: [],
        evidence: [{ claim: 'shop-db takes no connections.', toolCallIds: [seen.toolCallId], quote }],
      };
    },
    plan: async (work) => {
      const asked = await work.callTool({
        tool: 'restart_service',
        target: work.incident.target,
        input: { service: 'shop-db' },
        proposal: { why: 'It is down.', runbookId: null, verify: null },
      });
      return asked.kind === 'proposed'
        ? { kind: 'proposed', actionId: asked.actionId }
        : { kind: 'none', reason: asked.kind === 'ok' ? 'it only reads' : asked.reason };
    },
  };

  beforeAll(async () => {
    await core.stop();
    db = await startEmbeddedPostgres({ dataDir, name: 'shop-db', log: quiet });
    writeFileSync(pidFile, `${db.pid}\n`);
    const starts = fileURLToPath(new URL('start-database.ts', import.meta.url));
    const config: HostConfig = {
      name: 'box',
      kind: 'host',
      domain: 'postgres',
      environment: 'test',
      aliases: [],
      roots: [{ path: dir, patch: false }],
      services: [
        {
          name: 'shop-db',
          kind: 'command',
          restart: [
            process.execPath,
            '--import',
            import.meta.resolve('tsx'),
            starts,
            dataDir,
            String(db.port),
            pidFile,
          ],
          pidFile,
          port: db.port,
        },
      ],
      curlHosts: [],
      watch: [],
    };
    const hosts = createHostTargets([config], { access: localAccess, deniedPorts: [], steadySeconds: 0.3 });
    const { name, domain, environment, aliases } = config;
    host = await createCore({
      url: database.url,
      tools: [],
      investigator,
      gate: {
        registry: createRegistry(allTools),
        targets: new Map([[name, { name, kind: 'host', domain, environment, aliases }]]),
        ports: hosts.ports,
        identity: async () => hosts.identity(name),
      },
    });
    await host.start();
  });
  afterAll(async () => {
    await host.stop();
    await (await startEmbeddedPostgres({ dataDir, name: 'shop-db', log: quiet })).stop();
  });

  test('is fixed by starting it, when its port takes connections again', async () => {
    await db.stop();
    const here = driving(host);
    const id = await here.open();
    const { purpose, verify } = await here.approve(id);
    expect(purpose).toBe('repair');
    expect(verify.steps[0]).toMatchObject({ tool: 'service_reachable', measure: { name: 'reachable' } });
    const { incident: ended } = await here.until(id, 'resolved');
    expect(ended).toMatchObject({ resolvedBy: 'confirmed', verdict: 'fixed' });
    const client = openDatabase(db.url);
    expect(await client.sql`SELECT 1 AS one`).toMatchObject([{ one: 1 }]);
    await client.close();
  });
});

/** One at which nobody listens. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
