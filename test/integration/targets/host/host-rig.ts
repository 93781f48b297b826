import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionResult } from '../../../../src/actions/ledger/execution.ts';
import { loadConfig } from '../../../../src/config/config.ts';
import type { Action } from '../../../../src/core/action.ts';
import { asActionId, type IncidentId } from '../../../../src/core/ids.ts';
import type { Role } from '../../../../src/core/incident.ts';
import type { Target } from '../../../../src/core/target.ts';
import type { Json, ToolCallResult } from '../../../../src/core/tool-call.ts';
import { processIdentity, signalProcess } from '../../../../src/infra/process/process-identity.ts';
import { redact, redactJson } from '../../../../src/safety/screen/redact.ts';
import { fetchDocs } from '../../../../src/safety/urls/fetch-docs.ts';
import { allTools } from '../../../../src/targets/all-tools.ts';
import type { HostConfig } from '../../../../src/targets/host/config.ts';
import { localMachine } from '../../../../src/targets/host/connect/local-machine.ts';
import type { Machine } from '../../../../src/targets/host/machine.ts';
import type { HostAccess } from '../../../../src/targets/host/system.ts';
import type { Docs } from '../../../../src/tools/ports.ts';
import { createRegistry } from '../../../../src/tools/registry.ts';
import { blame } from '../../../support/blamed.ts';
import { boxAlert, type Core, createCore } from '../../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import { createHostTargets } from '../../../support/targets.ts';

export const hostTarget: Target = {
  name: 'web-1',
  kind: 'host',
  domain: 'docker',
  environment: 'test',
  aliases: [],
};

const RESTART = `#!/bin/sh
dir="$1"
[ -f "$dir/fail" ] && exit 3
echo restarted >> "$dir/restarts"
if [ -f "$dir/run.pid" ]; then kill "$(cat "$dir/run.pid")" 2>/dev/null; fi
setsid /bin/sh "$dir/service.sh" "$dir" < /dev/null > /dev/null 2>&1 &
echo $! > "$dir/run.pid"
[ -f "$dir/slow" ] && sleep 30
exit 0
`;
const SERVICE = `dir="$1"
while grep -q '^workers=[0-9][0-9]*$' "$dir/app/worker.conf"; do
  echo "$(date +%s) INFO working" >> "$dir/logs/worker.log"
  sleep 0.1
done
echo "$(date +%s) ERROR worker.conf: workers is no number" >> "$dir/logs/worker.log"
`;

/** A folder that is a host: an application with its configuration, a folder of logs, and a real service. */
export interface ScratchHost {
  readonly dir: string;
  readonly config: HostConfig;
  /** Starts the service as an operator would. */
  start(): void;
  pid(): number | undefined;
  restarts(): number;
  stop(): void;
}

export function scratchHost(name = hostTarget.name): ScratchHost {
  const dir = scratchDir();
  for (const folder of ['app', 'logs']) mkdirSync(join(dir, folder));
  writeFileSync(join(dir, 'restart.sh'), RESTART);
  chmodSync(join(dir, 'restart.sh'), 0o755);
  writeFileSync(join(dir, 'service.sh'), SERVICE);
  writeFileSync(join(dir, 'app', 'worker.conf'), 'name=worker\nworkers=4\nlevel=info\n');
  writeFileSync(join(dir, 'logs', 'worker.log'), 'started\n');
  const read = (file: string): string =>
    existsSync(join(dir, file)) ? readFileSync(join(dir, file), 'utf8') : '';
  const pid = (): number | undefined => {
    const found = Number(read('run.pid'));
    return found > 0 && processIdentity(found) ? found : undefined;
  };
  return {
    dir,
    config: {
      name,
      kind: 'host',
      domain: 'docker',
      environment: 'test',
      aliases: [],
      roots: [
        { path: join(dir, 'app'), patch: true },
        { path: join(dir, 'logs'), patch: false },
      ],
      services: [
        {
          name: 'worker',
          kind: 'command',
          restart: ['/bin/sh', join(dir, 'restart.sh'), dir],
          pidFile: join(dir, 'run.pid'),
        },
      ],
      curlHosts: ['localhost'],
      watch: [],
    },
    start() {
      const { spawnSync } = process.getBuiltinModule('node:child_process');
      spawnSync('/bin/sh', [join(dir, 'restart.sh'), dir], { stdio: 'ignore' });
      writeFileSync(join(dir, 'restarts'), '');
    },
    pid,
    restarts: () => read('restarts').split('\n').filter(Boolean).length,
    stop() {
      const running = pid();
      const identity = running === undefined ? undefined : processIdentity(running);
      if (identity) signalProcess(identity, 'SIGKILL');
    },
  };
}

export interface HostRig {
  readonly core: Core;
  readonly database: ScratchDatabase;
  readonly host: ScratchHost;
  call(role: Role, tool: string, input: Json, target?: string): Promise<ToolCallResult>;
  /** Proposes, approves and runs. */
  act(tool: string, input: Json): Promise<ExecutionResult>;
  propose(tool: string, input: Json): Promise<Action>;
  approve(action: Action): Promise<Action>;
  execute(action: Action): Promise<ExecutionResult>;
  incident(): Promise<IncidentId>;
  stop(): Promise<void>;
}

export interface HostRigOptions {
  readonly access?: Partial<HostAccess>;
  /** Where the host is; this machine when left out. */
  readonly machine?: Machine;
  /** Tools that are not for it. */
  readonly refuses?: Target['refuses'];
  readonly docs?: Docs;
  readonly database?: ScratchDatabase;
  readonly host?: ScratchHost;
  readonly steadySeconds?: number;
  readonly policyPath?: string;
}

/** The real gate over a real database, with the real tools on a folder that is a host. */
export async function hostRig(options: HostRigOptions = {}): Promise<HostRig> {
  const host = options.host ?? scratchHost();
  const database = options.database ?? (await scratchDatabase({ migrate: true }));
  const machine = options.machine ?? localMachine;
  const target = { ...hostTarget, ...(options.refuses ? { refuses: options.refuses } : {}) };
  const hosts = createHostTargets([host.config], {
    machine,
    access: { ...machine.access, ...options.access },
    deniedPorts: [loadConfig({}).http.port],
    steadySeconds: options.steadySeconds ?? 0.3,
  });
  const core = await createCore({
    url: database.url,
    tools: [],
    dataDir: scratchDir(),
    ...(options.policyPath ? { policyPath: options.policyPath } : {}),
    gate: {
      registry: createRegistry(allTools),
      targets: new Map([[hostTarget.name, target]]),
      ports: {
        ...hosts.ports,
        docs: options.docs ?? { hosts: [], fetch: (url) => fetchDocs(url, { allow: [] }) },
      },
      identity: async (name) => hosts.identity(name),
      redact,
      redactJson: (value: Json) => redactJson(value),
    },
  });
  const never = new AbortController().signal;

  async function incident(): Promise<IncidentId> {
    const { incidentId } = await core.accept(boxAlert());
    if (incidentId === null) throw new Error('no incident');
    return incidentId;
  }
  async function callIn(
    id: IncidentId,
    role: Role,
    tool: string,
    input: Json,
    target: string,
  ): Promise<ToolCallResult> {
    const credential = core.vault.mint({ role, incidentId: id, targets: [hostTarget.name] });
    if (role === 'surgeon') await blame(core, id, input, 'host');
    return core.gate.call(credential, { tool, target, input }, { signal: never });
  }
  async function actionOf(id: string): Promise<Action> {
    const action = await core.records.action(asActionId(id));
    if (!action) throw new Error(`no action ${id}`);
    return action;
  }
  const rig: HostRig = {
    core,
    database,
    host,
    incident,
    call: async (role, tool, input, target = hostTarget.name) =>
      callIn(await incident(), role, tool, input, target),
    async propose(tool, input) {
      const result = await callIn(await incident(), 'surgeon', tool, input, hostTarget.name);
      if (result.kind !== 'proposed') throw new Error(JSON.stringify(result));
      return actionOf(result.actionId);
    },
    async approve(action) {
      const answer = await core.approvals.decide({
        actionId: action.id,
        planHash: action.planHash,
        by: 'UONCALL',
        decision: 'approve',
        reason: '',
        anotherWay: false,
      });
      if (!answer.ok) throw new Error(answer.reason);
      return actionOf(action.id);
    },
    execute: async (action) =>
      core.gate.execute(
        await actionOf(action.id),
        { claimed: async () => undefined, released: async () => undefined, ended: async () => undefined },
        never,
      ),
    act: async (tool, input) => rig.execute(await rig.approve(await rig.propose(tool, input))),
    async stop() {
      host.stop();
      await core.stop();
      if (!options.database) await database.drop();
    },
  };
  return rig;
}
