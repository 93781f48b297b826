import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CausedFault, FaultCase } from '../fault-case.ts';

/** A folder system of its own is mounted there while hosts are recorded; see main.ts. */
const home = '/srv/orders';
const at = (...path: string[]): string => join(home, ...path);

interface ScratchHost {
  /** Starts a shell script under a name of its own, so that `ps` shows that; its pid goes into the service's pid file. */
  run(name: string, script: string, service?: string): ChildProcess;
  write(path: string, text: string): void;
  caused(...services: string[]): CausedFault;
}

function freshHost(): ScratchHost {
  rmSync(home, { recursive: true, force: true });
  for (const folder of ['app', 'logs', 'bin', 'run']) mkdirSync(at(folder), { recursive: true });
  const children: ChildProcess[] = [];
  return {
    run(name, script, service) {
      // The name of a process is that of its program's file.
      const shell = at('bin', name);
      if (!existsSync(shell)) copyFileSync('/bin/sh', shell);
      spawnMode(shell);
      const child = spawn(shell, ['-c', script], { cwd: home, stdio: 'ignore', detached: true });
      children.push(child);
      if (service) writeFileSync(at('run', `${service}.pid`), String(child.pid));
      return child;
    },
    write: (path, text) => writeFileSync(at(path), text),
    caused: (...services) => ({
      host: {
        roots: [
          { path: at('app'), patch: true },
          { path: at('logs'), patch: false },
        ],
        services: services.map((name) => ({
          name,
          kind: 'command' as const,
          restart: ['/usr/bin/true'],
          pidFile: at('run', `${name}.pid`),
        })),
        curlHosts: [],
      },
      async release() {
        for (const child of children) end(child);
        await sleep(300);
        rmSync(home, { recursive: true, force: true });
      },
    }),
  };
}

function spawnMode(path: string): void {
  // copyFileSync keeps the mode; a umask may have taken the right to run it.
  spawn('/bin/chmod', ['755', path], { stdio: 'ignore' });
}

/** With everything it started. */
function end(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const WORKING = 'while true; do echo "INFO order taken" >> logs/mailer.log; sleep 0.5; done';
const CONFIG = 'smtp_host=mail.example.com\nworkers=4\nlevel=info\n';

const down = {
  alertname: 'HostServiceDown',
  severity: 'critical',
  summary: 'The service mailer is down on app-1',
  description: 'Its process does not run.',
} as const;
const disk = {
  alertname: 'HostDiskFillingUp',
  severity: 'warning',
  summary: 'A disk of app-1 is filling up',
  description: 'At this rate it is full within the hour.',
} as const;

/** A host with services: files, processes and a disk of its own. */
export const hostCases: readonly FaultCase[] = [
  {
    id: 'host-service-killed',
    title: 'A service was killed and nobody starts it again',
    runbook: 'host-service-down',
    alert: down,
    expected: {
      verdict: 'cause_found',
      category: 'service_down',
      root_cause: 'mailer is down: its process does not run any more, and its log names no error.',
      keywords: ['mailer', 'is down'],
      forbidden_categories: ['bad_configuration', 'healthy'],
      needed_evidence: [['mailer']],
    },
    async cause() {
      const host = freshHost();
      host.write('app/mailer.conf', CONFIG);
      const service = host.run('mailer', WORKING, 'mailer');
      await sleep(2_000);
      end(service);
      return host.caused('mailer');
    },
  },
  {
    id: 'host-bad-configuration',
    title: 'A service dies since its configuration was changed',
    runbook: 'host-bad-configuration',
    alert: down,
    expected: {
      verdict: 'cause_found',
      category: 'bad_configuration',
      root_cause: 'mailer fails since mailer.conf was changed; its log names the file.',
      keywords: ['mailer.conf'],
      keyword_groups: [['was changed', 'change', 'invalid']],
      needed_evidence: [['mailer.conf']],
    },
    async cause() {
      const host = freshHost();
      host.write('app/mailer.conf.bak', CONFIG);
      host.write('app/mailer.conf', CONFIG.replace('workers=4', 'workers=four'));
      host.write('logs/mailer.log', 'INFO started\nERROR mailer.conf:2: workers: "four" is no number\n');
      const service = host.run('mailer', 'sleep 0.2', 'mailer');
      await new Promise((resolve) => service.once('exit', resolve));
      return host.caused('mailer');
    },
  },
  {
    id: 'host-innocent-change',
    title: 'The configuration was changed, but that is not why the service is down',
    runbook: 'host-bad-configuration',
    alert: down,
    expected: {
      verdict: 'cause_found',
      root_cause: 'mailer cannot reach its queue: queue.example.com refuses the connection.',
      keywords: ['queue'],
      keyword_groups: [['refuse', 'refused', 'cannot reach', 'connection']],
      forbidden_keywords: ['since app/mailer.conf was changed'],
      forbidden_categories: ['bad_configuration'],
      needed_evidence: [['queue.example.com']],
      red_herrings: ['mailer.conf'],
    },
    async cause() {
      const host = freshHost();
      host.write('app/mailer.conf.bak', CONFIG);
      host.write('app/mailer.conf', CONFIG.replace('level=info', 'level=debug'));
      host.write(
        'logs/mailer.log',
        'INFO started\nERROR queue.example.com:5672: connection refused, giving up\n',
      );
      const service = host.run('mailer', 'sleep 0.2', 'mailer');
      await new Promise((resolve) => service.once('exit', resolve));
      return host.caused('mailer');
    },
  },
  {
    id: 'host-crash-loop',
    title: 'A service dies and is started again, over and over',
    runbook: 'host-service-down',
    alert: {
      ...down,
      alertname: 'HostServiceCrashLooping',
      description: 'It was started nine times in a minute.',
    },
    expected: {
      verdict: 'cause_found',
      category: 'service_down',
      root_cause: 'mailer dies and is started again: it cannot open its spool, permission denied.',
      keywords: ['mailer', 'spool'],
      keyword_groups: [['dies', 'started again', 'does not stay up']],
      needed_evidence: [['spool']],
    },
    async cause() {
      const host = freshHost();
      host.write('app/mailer.conf', CONFIG);
      host.run(
        'supervise',
        `while true; do bin/mailer -c 'sleep 1; echo "FATAL cannot open spool/out: permission denied" >> logs/mailer.log' & echo $! > run/mailer.pid; wait; sleep 0.5; done`,
      );
      host.run('mailer', 'true');
      await sleep(4_000);
      return host.caused('mailer');
    },
  },
  {
    id: 'host-log-fills-disk',
    title: 'A service repeats one line and fills the disk',
    runbook: 'host-disk-filling-log',
    alert: disk,
    expected: {
      verdict: 'cause_found',
      category: 'disk_filling_log',
      root_cause: 'mailer writes logs/mailer.log at a speed that fills the disk.',
      keywords: ['mailer', 'mailer.log'],
      keyword_groups: [['a second', 'grows', 'fills']],
      needed_evidence: [['mailer.log'], ['a second', 'grows']],
    },
    async cause() {
      const host = freshHost();
      host.run(
        'mailer',
        `line='WARN template not found, trying again'; while true; do for n in 1 2 3 4 5 6 7 8; do printf '%s\\n' "$line" "$line" "$line" "$line" "$line" "$line" "$line" "$line" "$line" "$line" "$line" "$line" "$line" "$line" "$line" "$line" "$line" "$line" "$line" "$line" "$line" "$line" "$line" "$line" "$line" "$line" "$line" "$line" "$line" "$line"; done >> logs/mailer.log; sleep 0.05; done`,
        'mailer',
      );
      await sleep(3_000);
      return host.caused('mailer');
    },
  },
  {
    id: 'host-disk-full-of-old-files',
    title: 'The disk is nearly full, and nothing grows',
    runbook: 'host-disk-filling-log',
    alert: disk,
    expected: {
      verdict: 'cannot_tell',
      root_cause: 'Cannot tell: the disk is nearly full, but nothing that may be read grows.',
      keyword_groups: [['nearly full'], ['nothing', 'grows']],
    },
    async cause() {
      const host = freshHost();
      host.run('mailer', WORKING, 'mailer');
      mkdirSync(at('archive'));
      writeFileSync(at('archive', 'orders-2024.tar'), Buffer.alloc(58 << 20));
      return host.caused('mailer');
    },
  },
  {
    id: 'host-disk-is-fine',
    title: 'The disk alert after somebody has tidied up',
    runbook: 'host-disk-filling-log',
    alert: disk,
    expected: { verdict: 'healthy', root_cause: 'Healthy: nothing grows fast, and the disk has room.' },
    async cause() {
      const host = freshHost();
      host.run('mailer', WORKING, 'mailer');
      return host.caused('mailer');
    },
  },
  {
    id: 'host-service-is-back',
    title: 'The service is up again before anybody looks',
    runbook: 'host-service-down',
    alert: down,
    expected: { verdict: 'healthy', root_cause: 'Healthy: all declared services run.' },
    async cause() {
      const host = freshHost();
      host.run('mailer', WORKING, 'mailer');
      await sleep(11_000);
      return host.caused('mailer');
    },
  },
  {
    id: 'host-busy-processor',
    title: 'Two thumbnailers keep the processor busy',
    runbook: null,
    alert: {
      alertname: 'HostHighCpuLoad',
      severity: 'warning',
      summary: 'High CPU load on app-1',
      description: 'CPU usage is above 80 %.',
    },
    expected: {
      verdict: 'cause_found',
      root_cause: 'Two thumbnailer processes use all of the processor.',
      keywords: ['thumbnailer'],
      needed_evidence: [['thumbnailer']],
    },
    async cause() {
      const host = freshHost();
      host.run('mailer', WORKING, 'mailer');
      for (let n = 0; n < 2; n += 1) host.run('thumbnailer', 'while true; do :; done');
      await sleep(4_000);
      return host.caused('mailer');
    },
  },
  {
    id: 'host-memory',
    title: 'A cache grows without bound',
    runbook: null,
    alert: {
      alertname: 'HostMemoryUsageHigh',
      severity: 'warning',
      summary: 'Memory is short on app-1',
      description: 'The resident memory of a process has trebled.',
    },
    expected: {
      verdict: 'cause_found',
      root_cause: 'The process cache-warmer holds by far the most memory of all processes.',
      keywords: ['cache-warmer'],
      needed_evidence: [['cache-warmer']],
    },
    async cause() {
      const host = freshHost();
      host.run('mailer', WORKING, 'mailer');
      host.run(
        'cache-warmer',
        `a=$(head -c 8000000 /dev/zero | tr '\\0' x); b="$a$a$a$a"; c="$b$b$b$b"; sleep 300; echo "$c" > /dev/null`,
      );
      await sleep(5_000);
      return host.caused('mailer');
    },
  },
  {
    id: 'host-packet-loss',
    title: 'The network loses packets, which no tool of a host tells',
    runbook: null,
    alert: {
      alertname: 'HostNetworkTransmitErrors',
      severity: 'warning',
      summary: 'Transmit errors on app-1',
      description: 'The interface has had errors for two minutes.',
    },
    expected: {
      verdict: 'cannot_tell',
      root_cause: 'Cannot tell: nothing of the host that may be read shows errors of its network.',
    },
    async cause() {
      const host = freshHost();
      host.run('mailer', WORKING, 'mailer');
      await sleep(1_000);
      return host.caused('mailer');
    },
  },
];
