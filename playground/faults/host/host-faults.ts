import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { nothingHeld, type ShopFault } from '../fault.ts';
import { until } from '../until.ts';
import { GOOD_CONFIGURATION, ownText, putText, type ShopHost } from './shop-host.ts';

/** As node_exporter and a process exporter would label them. */
const labels = { instance: 'shop-host', job: 'node-exporter', service: 'shop-worker', team: 'shop' };
/** A log that grows faster than this is not at work. */
const FAST = 20 * 1024;

/** What goes wrong on the playground's host: a service that is down, a bad change of its configuration, a log that grows. */
export function hostFaults(host: ShopHost): readonly ShopFault[] {
  const changed = join(host.dir, 'state', 'changed');
  const mended = async (): Promise<void> => {
    rmSync(changed, { force: true });
    putText(host.configFile, GOOD_CONFIGURATION);
    host.start();
    await until('the worker to run', () => host.isRunning());
  };
  /** At its work: what is asked of one that only starts, its start takes back. */
  const well = async (): Promise<void> => {
    if (!(await host.isRunning())) await mended();
    await until('the worker to have sent mails', async () => host.hasWorked());
  };
  const common = { system: 'shop-host', impossible: null } as const;
  let last = { at: performance.now(), bytes: host.logBytes(), speed: 0 };

  return [
    {
      ...common,
      id: 'service_down',
      title: 'Service down',
      description: 'The shop’s mail worker is killed, and nobody starts it again.',
      rule: {
        alertname: 'HostServiceDown',
        severity: 'critical',
        forMs: 5_000,
        summary: 'shop-worker does not run on shop-host',
        description: 'The process of shop-worker is gone.',
        inhibitedBy: ['bad_configuration'],
        labels,
      },
      async cause() {
        // Who is killed while it starts leaves a log that says so; this one is to be killed at its work.
        await well();
        await host.kill();
        await until('the worker to be gone', async () => !(await host.isRunning()));
        return nothingHeld;
      },
      undo: mended,
      async read() {
        const runs = await host.isRunning();
        return { holds: !runs && !existsSync(changed), says: runs ? 'it runs' : 'no process' };
      },
    },
    {
      ...common,
      id: 'bad_configuration',
      title: 'Bad configuration',
      description: 'Somebody changes worker.conf, and the mail worker cannot go on.',
      rule: {
        alertname: 'HostConfigurationError',
        severity: 'critical',
        forMs: 5_000,
        summary: 'shop-worker stopped after a configuration change on shop-host',
        description: 'shop-worker ended with a fatal error.',
        inhibitedBy: [],
        labels,
      },
      async cause() {
        await well();
        const good = await ownText(host.configFile);
        putText(`${host.configFile}.bak`, good);
        putText(changed, '');
        putText(host.configFile, good.replace(/^workers=.*$/m, 'workers=plenty'));
        await until('the worker to end', async () => !(await host.isRunning()));
        return nothingHeld;
      },
      undo: mended,
      async read() {
        // Just after the change the worker still runs: it reads its configuration every two seconds.
        const good = /^workers=\d+$/m.test(await ownText(host.configFile));
        const runs = await host.isRunning();
        if (good && runs) rmSync(changed, { force: true });
        const holds = existsSync(changed) && !runs;
        return { holds, says: holds ? 'no process since worker.conf was changed' : 'it runs' };
      },
    },
    {
      ...common,
      id: 'log_fills_disk',
      title: 'A log fills the disk',
      description: 'The mail worker tries the same mail again and again, and writes it down each time.',
      rule: {
        alertname: 'HostLogGrowsFast',
        severity: 'warning',
        forMs: 5_000,
        summary: 'A log on shop-host grows fast',
        description: 'The disk will be full if it goes on.',
        inhibitedBy: [],
        labels,
      },
      async cause() {
        await well();
        host.makeStuck();
        return nothingHeld;
      },
      undo: mended,
      async read() {
        const now = { at: performance.now(), bytes: host.logBytes() };
        if (now.at - last.at >= 500) {
          const speed = Math.max(0, Math.round(((now.bytes - last.bytes) / (now.at - last.at)) * 1_000));
          last = { ...now, speed };
        }
        return { holds: last.speed >= FAST, says: `${Math.round(last.speed / 1_024)} KiB a second` };
      },
    },
  ];
}
