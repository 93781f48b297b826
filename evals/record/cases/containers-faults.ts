import { createServer } from 'node:net';
import { found } from '../expected.ts';
import { ALWAYS, type ContainerCase, ends, MIB, works } from './containers-scene.ts';

const died = 'container-died';

/** Containers that die. */
export const containerFaults: readonly ContainerCase[] = [
  {
    id: 'containers-panic',
    title: 'A program panics, and nothing starts it again',
    runbook: died,
    on: 'docker',
    project: 'bakery',
    alert: ['ContainerDown', 'bakery-oven is not running', 'bakery-oven'],
    severity: 'critical',
    expected: found('bakery-oven is not running: it ended with a panic.', [
      ['bakery-oven'],
      ['panic', 'code 2'],
    ]),
    async cause({ run, ended }) {
      await run(
        'bakery-oven',
        'bakery/oven:3.1',
        ends(2, 'INFO oven warms up', 'panic: runtime error: index out of range [4] with length 4'),
      );
      await ended('bakery-oven');
    },
  },
  {
    id: 'containers-silent-end',
    title: 'A container ends with a code and not a word',
    runbook: died,
    on: 'podman',
    project: 'printshop',
    alert: ['ContainerExited', 'press-driver exited', 'press-driver'],
    severity: 'critical',
    expected: found('press-driver ended with code 3 and has written nothing.', [
      ['press-driver'],
      ['code 3', 'exit code 3'],
    ]),
    async cause({ run, ended }) {
      await run('press-driver', 'printshop/driver:0.8', 'sleep 1; exit 3');
      await ended('press-driver');
    },
  },
  {
    id: 'containers-refused',
    title: 'A container dies again and again: what it needs elsewhere refuses',
    runbook: died,
    on: 'docker',
    project: 'rides',
    alert: ['ContainerRestartLoop', 'dispatch restarts again and again', 'dispatch'],
    severity: 'critical',
    expected: found('dispatch dies again and again because 10.8.0.14:5672 refuses its connection.', [
      ['dispatch'],
      ['ECONNREFUSED', 'refused'],
    ]),
    async cause({ run, restarted }) {
      await run(
        'dispatch',
        'rides/dispatch:7.0',
        ends(1, 'INFO dispatch 7.0', 'Error: connect ECONNREFUSED 10.8.0.14:5672'),
        {
          host: ALWAYS,
        },
      );
      await restarted('dispatch', 3);
    },
  },
  {
    id: 'containers-needs-dead-queue',
    title: 'A container dies again and again, because the queue that it needs has died',
    runbook: died,
    on: 'podman',
    project: 'clinic',
    alert: ['ContainerCrashLooping', 'clinic-reminders restarts again and again', 'clinic-reminders'],
    severity: 'critical',
    expected: found('clinic-reminders needs clinic-queue, which ended with code 1.', [
      ['clinic-queue'],
      ['not running', 'ended'],
    ]),
    async cause({ run, ended, restarted }) {
      await run(
        'clinic-queue',
        'clinic/queue:2.4',
        ends(1, 'INFO ready on 6379', 'FATAL append only file is broken at offset 771'),
      );
      await ended('clinic-queue');
      await run(
        'clinic-reminders',
        'clinic/reminders:12',
        ends(1, 'Error: connect ECONNREFUSED clinic-queue:6379'),
        {
          host: ALWAYS,
        },
      );
      await restarted('clinic-reminders', 3);
    },
  },
  {
    id: 'containers-out-of-memory',
    title: 'A report needs more memory than its container may have',
    runbook: died,
    on: 'docker',
    project: 'ledgers',
    alert: ['ContainerOOMKilled', 'year-end was killed for lack of memory', 'year-end'],
    severity: 'critical',
    expected: found('year-end used more than its limit of 32 MiB and was killed.', [
      ['year-end'],
      ['memory'],
      ['32 MiB', '137'],
    ]),
    async cause({ run, ended }) {
      await run(
        'year-end',
        'ledgers/year-end:1.6',
        'echo "INFO sums up 412000 bookings"; sleep 1; exec tail /dev/zero',
        {
          host: { Memory: 32 * MIB, MemorySwap: 32 * MIB },
        },
      );
      await ended('year-end');
    },
  },
  {
    id: 'containers-out-of-memory-podman',
    title: 'The kernel kills a container at its limit, which Podman does not tell',
    runbook: died,
    on: 'podman',
    project: 'maps',
    alert: ['ContainerKilled', 'tile-render was killed', 'tile-render'],
    severity: 'critical',
    expected: found('tile-render was killed at its memory limit of 24 MiB.', [
      ['tile-render'],
      ['memory'],
      ['24 MiB', '137'],
    ]),
    async cause({ run, ended }) {
      await run(
        'tile-render',
        'maps/render:40',
        'echo "INFO renders zoom 17"; sleep 1; exec tail /dev/zero',
        {
          host: { Memory: 24 * MIB, MemorySwap: 24 * MIB },
        },
      );
      await ended('tile-render');
    },
  },
  {
    id: 'containers-out-of-memory-again',
    title: 'A container is killed for memory again and again',
    runbook: died,
    on: 'docker',
    project: 'vision',
    alert: ['ContainerOOM', 'face-index: out of memory', 'face-index'],
    severity: 'critical',
    expected: found('face-index is killed for memory again and again.', [['face-index'], ['memory']]),
    async cause({ run, restarted }) {
      await run('face-index', 'vision/face-index:5.5', 'echo "INFO loads 90000 faces"; exec tail /dev/zero', {
        host: { ...ALWAYS, Memory: 20 * MIB, MemorySwap: 20 * MIB },
      });
      await restarted('face-index', 2);
    },
  },
  {
    id: 'containers-segfault',
    title: 'A program ends with a segmentation fault',
    runbook: died,
    on: 'docker',
    project: 'studio',
    alert: ['ContainerDied', 'waveform died', 'waveform'],
    expected: found('waveform ended by SIGSEGV, code 139.', [
      ['waveform'],
      ['139', 'SIGSEGV', 'segmentation'],
    ]),
    async cause({ run, ended }) {
      await run(
        'waveform',
        'studio/waveform:0.3',
        'echo "INFO reads take-7.wav"; sleep 1; sh -c \'kill -SEGV $$\'; exit $?',
      );
      await ended('waveform');
    },
  },
  {
    id: 'containers-bad-setting',
    title: 'A container dies at its start: a setting is unknown',
    runbook: died,
    on: 'podman',
    project: 'gate',
    alert: ['ContainerRestartLoop', 'edge-proxy cannot stay up', 'edge-proxy'],
    severity: 'critical',
    expected: found('edge-proxy does not start: its configuration has an unknown directive.', [
      ['edge-proxy'],
      ['unknown directive', 'configuration'],
    ]),
    async cause({ run, restarted }) {
      await run(
        'edge-proxy',
        'gate/proxy:1.27',
        ends(1, 'nginx: [emerg] unknown directive "proxy_buffer_sizes" in /etc/nginx/nginx.conf:41'),
        { host: ALWAYS },
      );
      await restarted('edge-proxy', 3);
    },
  },
  {
    id: 'containers-login-refused',
    title: 'A container dies at its start: its database refuses its login',
    runbook: died,
    on: 'docker',
    project: 'library',
    alert: ['ContainerCrashLooping', 'loans restarts again and again', 'loans'],
    severity: 'critical',
    expected: found('loans dies because its database does not accept its password at login.', [
      ['loans'],
      ['password authentication failed', 'password'],
    ]),
    async cause({ run, restarted }) {
      await run(
        'loans',
        'library/loans:9.2',
        ends(1, 'INFO loans 9.2', 'FATAL: password authentication failed for user "loans"'),
        {
          host: ALWAYS,
        },
      );
      await restarted('loans', 3);
    },
  },
  {
    id: 'containers-no-space',
    title: 'A container dies because its scratch space is full',
    runbook: died,
    on: 'podman',
    project: 'scans',
    alert: ['ContainerCrashLooping', 'ocr-spool restarts again and again', 'ocr-spool'],
    expected: found('ocr-spool dies because no space is left where it writes.', [
      ['ocr-spool'],
      ['No space left', 'disk', 'space'],
    ]),
    async cause({ run, restarted }) {
      await run(
        'ocr-spool',
        'scans/spool:2',
        'echo "INFO spools page 1"; dd if=/dev/zero of=/spool/page bs=64k count=64 2>&1 || exit 1',
        {
          host: { ...ALWAYS, Tmpfs: { '/spool': 'size=1m' } },
        },
      );
      await restarted('ocr-spool', 3);
    },
  },
  {
    id: 'containers-port-newcomer',
    title: 'Somebody’s trial has taken the port of a service',
    runbook: died,
    on: 'docker',
    project: 'museum',
    alert: ['ContainerRestartLoop', 'tour-api cannot stay up', 'tour-api'],
    severity: 'critical',
    expected: found('tour-api cannot have its port 24911, which trial-api has.', [
      ['tour-api'],
      ['trial-api'],
      ['port'],
    ]),
    async cause({ run, engine, steady, restarted, ended }) {
      const ports = { ExposedPorts: { '24911/tcp': {} } };
      const listens = (name: string): string =>
        `trap "exit 0" TERM; echo "INFO ${name} wants 24911"; nc -l -p 24911 > /dev/null 2>&1 & n=$!; sleep 1; kill -0 $n 2>/dev/null || { echo "Error: listen EADDRINUSE: address already in use 0.0.0.0:24911"; exit 1; }; wait $n`;
      await run('tour-api', 'museum/tour-api:4.0', listens('tour-api'), { ...ports, host: ALWAYS });
      await steady('tour-api');
      await engine.api.getContainer('tour-api').stop({ t: 1 });
      await ended('tour-api');
      await run('trial-api', 'museum/tour-api:5.0-trial', listens('trial-api'), ports);
      await steady('trial-api');
      await engine.api.getContainer('tour-api').start();
      await restarted('tour-api', 2);
    },
  },
  {
    id: 'containers-port-of-host',
    title: 'A program of the host has the port that a container wants',
    runbook: died,
    on: 'podman',
    project: 'weather',
    alert: ['ContainerRestartLoop', 'radar cannot stay up', 'radar'],
    expected: found('The port that radar wants is taken by a program of the host.', [
      ['radar'],
      ['port'],
      ['taken', 'EADDRINUSE'],
    ]),
    async cause({ run, restarted }) {
      const server = createServer();
      await new Promise<void>((listening) => server.listen(0, '0.0.0.0', listening).unref());
      const { port } = server.address() as { readonly port: number };
      await run(
        'radar',
        'weather/radar:6',
        `nc -l -p ${port} || { echo "Error: listen EADDRINUSE: address already in use 0.0.0.0:${port}"; exit 1; }`,
        { host: ALWAYS },
      );
      await restarted('radar', 3);
    },
  },
  {
    id: 'containers-never-started',
    title: 'A container was made and its program is not in the image',
    runbook: died,
    on: 'docker',
    project: 'parking',
    alert: ['ContainerDown', 'barrier is not running', 'barrier'],
    severity: 'critical',
    expected: found('barrier was never started: /opt/barrier/run is not in its image.', [
      ['barrier'],
      ['never started', 'could not start'],
      ['/opt/barrier/run'],
    ]),
    async cause({ run }) {
      await run('barrier', 'parking/barrier:2.2', '', { Entrypoint: ['/opt/barrier/run'] }).catch(
        () => undefined,
      );
    },
  },
  {
    id: 'containers-new-image',
    title: 'A container was made anew from another image, and dies',
    runbook: died,
    on: 'docker',
    project: 'auction',
    alert: ['ContainerCrashLooping', 'bidding restarts again and again', 'bidding'],
    severity: 'critical',
    expected: found('bidding was made anew from auction/bidding:8.0, which dies; before it was 7.9.', [
      ['bidding'],
      ['8.0'],
      ['7.9'],
    ]),
    async cause({ run, engine, steady, restarted }) {
      await run('bidding', 'auction/bidding:7.9', works('INFO bid taken'));
      await steady('bidding');
      await engine.api.getContainer('bidding').remove({ force: true });
      await run('bidding', 'auction/bidding:8.0', ends(1, 'Error: Cannot find module "./rules/minimum"'), {
        host: ALWAYS,
      });
      await restarted('bidding', 3);
    },
  },
];
