import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Gate } from '../../../src/actions/gate.ts';
import type { GateDeps } from '../../../src/actions/gate-deps.ts';
import { createMemoryDocuments } from '../../../src/app/memory-documents.ts';
import { loadConfig } from '../../../src/config/config.ts';
import type { Action } from '../../../src/core/action.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { Role } from '../../../src/core/incident.ts';
import type { Json, ToolCallResult } from '../../../src/core/tool-call.ts';
import { createSearchWords } from '../../../src/memory/context/search-memories.ts';
import { seedStores } from '../../../src/memory/documents/seed-stores.ts';
import { fetchDocs } from '../../../src/safety/urls/fetch-docs.ts';
import type { Credential, CredentialVault, VaultOptions } from '../../../src/safety/vault/credentials.ts';
import { openCredentialVault } from '../../../src/safety/vault/credentials.ts';
import { allTools } from '../../../src/targets/all-tools.ts';
import { localAccess } from '../../../src/targets/host/connect/local-access.ts';
import { evidenceTools } from '../../../src/tools/evidence/evidence-tools.ts';
import { memoryToolset } from '../../../src/tools/memory/memory-tools.ts';
import { createRegistry } from '../../../src/tools/registry.ts';
import { quiet } from '../../support/quiet.ts';
import { createHostTargets, domains } from '../../support/targets.ts';
import { createRig, openIncident, type Rig } from '../actions/rig.ts';
import { hostTarget, type ScratchHost, scratchHost } from '../targets/host/host-rig.ts';

export const DOCS_HOST = 'docs.example.com';
const PUBLIC = '151.101.0.223';

/** Everything a play may attack: the real gate, ledger, approvals, memory and tools over a real database, and a folder that is a host. */
export interface Scene {
  readonly rig: Rig;
  readonly host: ScratchHost;
  readonly deps: GateDeps;
  readonly memory: ReturnType<typeof createMemoryDocuments>;
  /** What came to the server that stands for the rest of the world, as `host path`. */
  readonly carriedOut: string[];
  readonly incidentId: IncidentId;
  mint(role: Role, targets?: readonly string[]): Credential;
  /** One call, as a model in that role would make it. */
  ask(gate: Gate, role: Role, tool: string, input: Json, target?: string | null): Promise<ToolCallResult>;
  /** A vault of another process of the same deployment, or one with another clock. */
  anotherVault(options?: Partial<VaultOptions>): Promise<CredentialVault>;
}

export interface OpenScene extends Scene {
  /** Everything as at the beginning, with a new incident. */
  renew(): Promise<Scene>;
  stop(): Promise<void>;
}

export const came = ({ kind }: ToolCallResult): boolean => kind === 'ok' || kind === 'proposed';

export async function openScene(): Promise<OpenScene> {
  const rig = await createRig();
  const { core } = rig;
  const host = scratchHost();
  const hosts = createHostTargets([host.config], {
    access: localAccess,
    deniedPorts: [loadConfig({}).http.port],
    steadySeconds: 0.3,
  });
  await seedStores(core.sql);
  const memory = createMemoryDocuments({
    sql: core.sql,
    events: core.records,
    audit: core.audit,
    isAdmin: async (user) => user === 'UADMIN',
    runbooks: { tools: createRegistry(allTools), domains, sources: [] },
    dryRun: null,
    enabled: true,
  });
  const world = await theWorld();
  const real = createRegistry([...allTools, ...evidenceTools, ...memoryToolset]);
  const deps: GateDeps = {
    ...core.gateDeps,
    memory: { ...memory, search: createSearchWords(memory.documents) },
    registry: { get: (name) => core.gateDeps.registry.get(name) ?? real.get(name) },
    targets: new Map([...core.gateDeps.targets, [hostTarget.name, hostTarget]]),
    ports: {
      ...hosts.ports,
      system: (name) => (name === hostTarget.name ? hosts.system(name) : undefined),
      docs: world.docs,
    },
    identity: async (name) =>
      name === hostTarget.name ? hosts.identity(name) : core.gateDeps.identity(name),
  };
  const sceneIn = (incidentId: IncidentId): Scene => ({
    rig,
    host,
    deps,
    memory,
    carriedOut: world.carriedOut,
    incidentId,
    mint: (role, targets = ['box']) => core.vault.mint({ role, incidentId, targets }),
    ask: (gate, role, tool, input, target = 'box') =>
      gate.call(
        core.vault.mint({ role, incidentId, targets: target === hostTarget.name ? [target] : ['box'] }),
        { tool, target, input },
        // One for each: many calls at once would all listen to the same.
        { signal: new AbortController().signal },
      ),
    anotherVault: (options = {}) =>
      openCredentialVault({
        sql: core.sql,
        audit: core.audit,
        identities: core.identities,
        executorId: randomUUID(),
        log: quiet,
        ...options,
      }),
  });
  return {
    ...sceneIn('INC-0' as IncidentId),
    async renew() {
      Object.assign(rig.machine, { broken: true, generation: 1, effects: 0, helps: true });
      Object.assign(rig.identity, { systemIdentifier: '1', timelineId: 1 });
      rig.odd.read = () => ({ text: 'fine', data: null });
      world.carriedOut.length = 0;
      await core.sql`UPDATE action SET state = 'failed' WHERE state IN ('started', 'unknown')`;
      await core.sql`UPDATE switch SET stopped = false`;
      return sceneIn(await openIncident(rig));
    },
    async stop() {
      world.stop();
      host.stop();
      await rig.stop();
    },
  };
}

/** Every name leads to one server here, which notes what it is asked for and sends `/moved` on to another host. */
async function theWorld() {
  const carriedOut: string[] = [];
  const server = createServer((request, response) => {
    carriedOut.push(`${request.headers.host ?? ''} ${request.url ?? ''}`);
    if (request.url === '/moved') response.writeHead(302, { location: 'https://evil.example/?d=all' }).end();
    else response.writeHead(200, { 'content-type': 'text/plain' }).end('a page');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const hosts = [DOCS_HOST];
  return {
    carriedOut,
    docs: {
      hosts,
      fetch: (url: string, { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number }) =>
        fetchDocs(url, {
          allow: hosts,
          signal,
          timeoutMs,
          resolve: async () => [{ address: PUBLIC, family: 4 }],
          connector: () => (_options, done) => {
            const socket = connect(port, '127.0.0.1', () => done(null, socket));
            socket.once('error', (error) => done(error, null));
          },
        }),
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A row of the ledger as it was read, for plays that hand the gate another one. */
export const changed = (action: Action, change: Partial<Action>): Action => ({ ...action, ...change });
