import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { Diagnosis } from '../../../../src/core/diagnosis.ts';
import { loadRunbooks } from '../../../../src/runbooks/load-runbooks.ts';
import type { Runbook } from '../../../../src/runbooks/runbook.ts';
import { allTools } from '../../../../src/targets/all-tools.ts';
import { localAccess } from '../../../../src/targets/host/connect/local-access.ts';
import type { HostAccess } from '../../../../src/targets/host/system.ts';
import { createRegistry } from '../../../../src/tools/registry.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import { createHostTargets } from '../../../support/targets.ts';
import { hostTarget } from '../../targets/host/host-rig.ts';
import { liveIncident } from './live-incident.ts';

interface Alert {
  readonly title?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** A folder that is a host, with a service `orders`, and real processes of its own. */
interface ScratchScene {
  readonly dir: string;
  readonly children: ChildProcess[];
  /** What the commands of these names print here instead of what they print on the machine that tests. */
  readonly printed: Record<string, () => string>;
  /** Declares the port of the service. */
  listensAt(port: number): void;
  hosts(): ReturnType<typeof createHostTargets>;
  /** Starts a program; its pid. */
  run(program: string, ...args: string[]): number;
  /** What the playbook says of such an alert. It has read all it wanted to, and proposes nothing. */
  diagnose(alertName: string, alert?: Alert): Promise<Diagnosis>;
}

/** A fresh one for each test; whatever a test started has ended after it. */
export function scratchScene(): () => ScratchScene {
  const tools = createRegistry(allTools);
  let runbooks: readonly Runbook[];
  let scene: ScratchScene;
  beforeAll(async () => {
    const folder = fileURLToPath(new URL('../../../../runbooks', import.meta.url));
    const loaded = await loadRunbooks(folder, { tools });
    expect(loaded.problems).toEqual([]);
    runbooks = loaded.runbooks.map(inHaste);
  });
  beforeEach(() => {
    scene = sceneIn(scratchDir());
  });
  afterEach(() => {
    for (const { pid } of scene.children) if (pid !== undefined) end(pid);
  });
  return () => scene;

  function sceneIn(dir: string): ScratchScene {
    for (const name of ['app', 'logs']) mkdirSync(join(dir, name));
    const children: ChildProcess[] = [];
    const printed: Record<string, () => string> = {};
    let port: number | undefined;
    const run: HostAccess['run'] = async (command, options) => {
      const made = printed[command.binary];
      if (made) return { ok: true, exitCode: 0, stdout: made(), stderr: '', killed: null, durationMs: 1 };
      const result = await localAccess.run(command, options);
      return command.binary === 'ps' && result.ok
        ? { ...result, stdout: onlyOf(children, result.stdout) }
        : result;
    };
    const hosts = () =>
      createHostTargets(
        [
          {
            name: hostTarget.name,
            kind: 'host',
            domain: 'docker',
            environment: 'test',
            aliases: [],
            roots: ['app', 'logs'].map((name) => ({ path: join(dir, name), patch: false })),
            services: [
              {
                name: 'orders',
                kind: 'command',
                restart: ['/bin/true'],
                pidFile: join(dir, 'orders.pid'),
                ...(port === undefined ? {} : { port }),
              },
            ],
            curlHosts: [],
            watch: [],
          },
        ],
        { access: { ...localAccess, run }, deniedPorts: [], steadySeconds: 0.2 },
      );
    return {
      dir,
      children,
      printed,
      hosts,
      listensAt(number) {
        port = number;
      },
      run(program, ...args) {
        const child = spawn(program, args, { cwd: dir, stdio: 'ignore', detached: true });
        children.push(child);
        return child.pid ?? 0;
      },
      async diagnose(alertName, { title = alertName, labels = {} } = {}) {
        const live = liveIncident({
          readUrl: 'postgres://127.0.0.1:9/none',
          actUrl: 'postgres://127.0.0.1:9/none',
          on: { target: hostTarget, ports: hosts().ports },
          tools,
          runbooks,
          incident: { alertName, title, labels },
        });
        try {
          const { diagnosis } = await live.triageAndDiagnose();
          expect(diagnosis.unknown).toEqual([]);
          expect(diagnosis.suggested ?? []).toEqual([]);
          return diagnosis;
        } finally {
          await live.close();
        }
      },
    };
  }
}

/** What lasts for a moment here lasts; in the product it gets longer. */
function inHaste(runbook: Runbook): Runbook {
  const steps = runbook.steps.map((step) => {
    const given = step.with as object;
    const input = 'watch_seconds' in given ? { ...given, watch_seconds: 1 } : step.with;
    return { ...step, waitMs: Math.min(step.waitMs, 500), with: input };
  });
  return { ...runbook, steps };
}

/** What else runs on the machine that tests is its own matter. */
function onlyOf(children: readonly ChildProcess[], listed: string): string {
  const mine = new Set(children.map(({ pid }) => String(pid)));
  const isOurs = (line: string): boolean => {
    const [pid = '', parent = ''] = line.trim().split(/\s+/);
    return mine.has(pid) || mine.has(parent);
  };
  return listed.split('\n').filter(isOurs).join('\n');
}

/** With everything it started. */
function end(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // It has ended by itself.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
