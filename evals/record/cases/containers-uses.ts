import { Readable } from 'node:stream';
import { found, healthy, undecidable } from '../expected.ts';
import { type ContainerCase, ends, HOST_NETWORK, MIB, works } from './containers-scene.ts';

const STATS = ['container_inspect', 'container_stats', 'container_top', 'container_logs'] as const;
/** Some hundred lines a second. */
const repeats = (line: string): string =>
  `trap "exit 0" TERM; while true; do l=0; while [ $l -lt 60 ]; do echo "${line}"; l=$((l + 1)); done; sleep 0.2; done`;

/** What containers take too much of, or seem to, and what they cannot reach. */
export const containerUses: readonly ContainerCase[] = [
  {
    id: 'containers-log-repeats',
    title: 'A mailer writes the same line hundreds of times a second',
    runbook: 'container-log-flood',
    on: 'docker',
    project: 'school',
    alert: ['ContainerLogGrowsFast', 'letters writes its log fast', 'letters'],
    looks: ['container_inspect', 'container_stats'],
    expected: found('letters writes one line hundreds of times a second: its relay refuses letter 88.', [
      ['letters'],
      ['refused by the relay', 'a second'],
    ]),
    async cause({ run, steady }) {
      await run(
        'letters',
        'school/letters:2.6',
        repeats('ERROR letter 88 refused by the relay, at once again'),
      );
      await steady('letters');
    },
  },
  {
    id: 'containers-log-repeats-podman',
    title: 'A sensor reader says without end that its port is gone',
    runbook: 'container-log-flood',
    on: 'podman',
    project: 'farm',
    alert: ['PodmanLogFlood', 'soil-probe: log grows fast', 'soil-probe'],
    looks: ['container_inspect', 'container_stats'],
    expected: found('soil-probe writes one line hundreds of times a second: its port is gone.', [
      ['soil-probe'],
      ['ttyUSB0', 'a second'],
    ]),
    async cause({ run, steady }) {
      await run('soil-probe', 'farm/probe:1.0', repeats('WARN open /dev/ttyUSB0: no such device'));
      await steady('soil-probe');
    },
  },
  {
    id: 'containers-log-is-work',
    title: 'A busy program writes much, and no line of it comes back',
    runbook: 'container-log-flood',
    on: 'docker',
    project: 'exchange',
    alert: ['ContainerLogGrowsFast', 'order-book writes its log fast', 'order-book'],
    looks: ['container_inspect', 'container_stats'],
    expected: found('order-book writes much, and no one line is most of it.', [
      ['order-book'],
      ['no one line', 'a second'],
    ]),
    async cause({ run, steady }) {
      await run(
        'order-book',
        'exchange/order-book:19',
        'trap "exit 0" TERM; n=0; while true; do n=$((n + 1)); echo "INFO bid $n at $((n * 7 % 1300))"; echo "DEBUG depth $((n % 40)) on side $((n % 2))"; echo "INFO fill $n of account $((n * 13 % 977))"; echo "TRACE clock $((n * 31))"; sleep 0.02; done',
      );
      await steady('order-book');
    },
  },
  {
    id: 'containers-image-of-next',
    title: 'A deployment stopped a container and cannot pull the next one’s image',
    runbook: 'image-missing',
    on: 'docker',
    project: 'newsroom',
    alert: ['ContainerImagePullFailed', 'headlines could not be deployed: manifest unknown', 'headlines'],
    severity: 'critical',
    expected: found(
      'headlines was ended for a deployment whose image cannot be pulled; the old container is still there.',
      [['headlines'], ['cannot be pulled']],
    ),
    async cause({ run, engine, steady, ended }) {
      await run('headlines', 'newsroom/headlines:14.2', works('INFO headline set'));
      await steady('headlines');
      await engine.api.getContainer('headlines').stop({ t: 2 });
      await ended('headlines');
    },
  },
  {
    id: 'containers-image-of-next-podman',
    title: 'The same on Podman',
    runbook: 'image-missing',
    on: 'podman',
    project: 'gym',
    alert: ['PodmanImagePullFailed', 'turnstile could not be deployed: pull access denied', 'turnstile'],
    severity: 'critical',
    expected: found(
      'turnstile was ended for a deployment whose image cannot be pulled; the old container is still there.',
      [['turnstile'], ['cannot be pulled']],
    ),
    async cause({ run, engine, steady, ended }) {
      await run('turnstile', 'gym/turnstile:3', works('INFO card 4711 in', 2));
      await steady('turnstile');
      await engine.api.getContainer('turnstile').stop({ t: 2 });
      await ended('turnstile');
    },
  },
  {
    id: 'containers-cpu-held-back',
    title: 'A container uses all of its small CPU limit',
    runbook: 'container-cpu',
    on: 'docker',
    project: 'lottery',
    alert: ['ContainerCpuThrottled', 'draw-check is throttled', 'draw-check'],
    looks: STATS,
    expected: found('draw-check uses all the CPU that its limit of 0.05 lets it have.', [
      ['draw-check'],
      ['limit', 'held back'],
    ]),
    async cause({ run, steady }) {
      await run(
        'draw-check',
        'lottery/draw-check:6.6',
        'echo "INFO checks 40 million rows"; while true; do :; done',
        {
          host: { NanoCpus: 50_000_000 },
        },
      );
      await steady('draw-check');
    },
  },
  {
    id: 'containers-cpu-held-back-podman',
    title: 'The same on Podman, with another limit',
    runbook: 'container-cpu',
    on: 'podman',
    project: 'genome',
    alert: ['ContainerCpuUsageHigh', 'aligner: CPU usage of container is high', 'aligner'],
    looks: STATS,
    expected: found('aligner uses all the CPU that its limit of 0.08 lets it have.', [
      ['aligner'],
      ['limit', 'held back'],
    ]),
    async cause({ run, steady }) {
      await run('aligner', 'genome/aligner:2.17', 'echo "INFO aligns chromosome 9"; while true; do :; done', {
        host: { NanoCpus: 80_000_000 },
      });
      await steady('aligner');
    },
  },
  {
    id: 'containers-memory-nearly-full',
    title: 'A container is close to its memory limit and stays there',
    runbook: 'container-memory',
    on: 'docker',
    project: 'archive',
    alert: ['ContainerMemoryUsageHigh', 'film-cache uses nearly all of its memory', 'film-cache'],
    looks: STATS,
    expected: found('film-cache uses nearly all of its limit of 64 MiB.', [
      ['film-cache'],
      ['memory'],
      ['limit'],
    ]),
    async cause({ run, steady }) {
      await run(
        'film-cache',
        'archive/film-cache:1.8',
        `dd if=/dev/zero of=/dev/shm/reel bs=1M count=61 2> /dev/null; ${works('INFO 61 MiB of film kept')}`,
        { host: { Memory: 64 * MIB, MemorySwap: 64 * MIB, ShmSize: 128 * MIB } },
      );
      await steady('film-cache');
    },
  },
  {
    id: 'containers-memory-nearly-full-podman',
    title: 'The same on Podman',
    runbook: 'container-memory',
    on: 'podman',
    project: 'telescope',
    alert: ['ContainerMemoryNearLimit', 'frame-stack is near its memory limit', 'frame-stack'],
    looks: STATS,
    expected: found('frame-stack uses nearly all of its limit of 48 MiB.', [
      ['frame-stack'],
      ['memory'],
      ['limit'],
    ]),
    async cause({ run, steady }) {
      await run(
        'frame-stack',
        'telescope/frame-stack:3.0',
        `dd if=/dev/zero of=/dev/shm/frames bs=1M count=46 2> /dev/null; ${works('INFO frame stacked', 2)}`,
        { host: { Memory: 48 * MIB, MemorySwap: 48 * MIB, ShmSize: 96 * MIB } },
      );
      await steady('frame-stack');
    },
  },
  {
    id: 'containers-on-no-network',
    title: 'A container was made without a network',
    runbook: 'container-network',
    on: 'docker',
    project: 'harbour',
    alert: ['ContainerNetworkUnreachable', 'pilot-desk cannot reach its API', 'pilot-desk'],
    expected: found('pilot-desk is on no network.', [['pilot-desk'], ['no network']]),
    async cause({ run, steady }) {
      await run('pilot-desk', 'harbour/pilot-desk:5', works('ERROR cannot resolve api.harbour.example', 2), {
        host: { NetworkMode: 'none' },
      });
      await steady('pilot-desk');
    },
  },
  {
    id: 'containers-cannot-reach-dead',
    title: 'A container cannot reach another one, which has died',
    runbook: 'container-network',
    on: 'podman',
    project: 'zoo',
    alert: ['ContainerDnsFailures', 'feeding-plan cannot reach stock', 'feeding-plan'],
    expected: found('feeding-plan cannot reach hay-stock, which is not running.', [
      ['feeding-plan'],
      ['hay-stock'],
      ['not running'],
    ]),
    async cause({ run, ended, steady }) {
      await run('hay-stock', 'zoo/hay-stock:2', ends(1, 'INFO 12 bales', 'Error: bale count is negative'), {
        host: HOST_NETWORK,
      });
      await ended('hay-stock');
      await run('feeding-plan', 'zoo/feeding-plan:8', works('ERROR hay-stock: host not found'), {
        host: HOST_NETWORK,
      });
      await steady('feeding-plan');
    },
  },
  {
    id: 'containers-memory-has-room',
    title: 'Much memory, and room below the limit',
    runbook: 'container-memory',
    on: 'docker',
    project: 'radio',
    alert: ['ContainerMemoryUsageHigh', 'jingle-store uses much memory', 'jingle-store'],
    looks: STATS,
    expected: healthy('jingle-store has room below its limit.'),
    async cause({ run, steady }) {
      await run(
        'jingle-store',
        'radio/jingle-store:7.7',
        `dd if=/dev/zero of=/dev/shm/jingles bs=1M count=40 2> /dev/null; ${works('INFO 40 MiB of jingles')}`,
        { host: { Memory: 72 * MIB, MemorySwap: 72 * MIB, ShmSize: 96 * MIB } },
      );
      await steady('jingle-store');
    },
  },
  {
    id: 'containers-memory-without-limit',
    title: 'Memory of a container that has no limit',
    runbook: 'container-memory',
    on: 'podman',
    project: 'orchard',
    alert: ['ContainerMemoryUsageHigh', 'apple-count uses much memory', 'apple-count'],
    looks: STATS,
    expected: undecidable('apple-count has no memory limit.'),
    async cause({ run, steady }) {
      await run('apple-count', 'orchard/apple-count:4', works('INFO 611 apples'));
      await steady('apple-count');
    },
  },
  {
    id: 'containers-cpu-is-idle',
    title: 'A container that does next to nothing',
    runbook: 'container-cpu',
    on: 'docker',
    project: 'chess',
    alert: ['ContainerCpuUsageHigh', 'CPU usage of container opening-book is high', 'opening-book'],
    looks: STATS,
    expected: healthy('opening-book uses hardly any CPU.'),
    async cause({ run, steady }) {
      await run('opening-book', 'chess/opening-book:64', works('INFO e4 e5', 2), {
        host: { NanoCpus: 500_000_000 },
      });
      await steady('opening-book');
    },
  },
  {
    id: 'containers-log-is-ordinary',
    title: 'An ordinary log',
    runbook: 'container-log-flood',
    on: 'podman',
    project: 'post',
    alert: ['ContainerLogGrowsFast', 'stamp-shop writes its log fast', 'stamp-shop'],
    looks: ['container_inspect', 'container_stats'],
    expected: healthy('stamp-shop writes an ordinary log.'),
    async cause({ run, steady }) {
      await run('stamp-shop', 'post/stamp-shop:90', works('INFO stamp sold'));
      await steady('stamp-shop');
    },
  },
  {
    id: 'containers-log-was-loud',
    title: 'A log that was loud for a moment and is rotated',
    runbook: 'container-log-flood',
    on: 'docker',
    project: 'railway',
    alert: ['ContainerLogGrowsFast', 'signal-box writes its log fast', 'signal-box'],
    looks: ['container_inspect', 'container_stats'],
    expected: healthy('signal-box has calmed down.'),
    async cause({ run, steady }) {
      await run(
        'signal-box',
        'railway/signal-box:11',
        `n=0; while [ $n -lt 3000 ]; do n=$((n + 1)); echo "WARN signal $n does not answer"; done; ${works('INFO signals answer', 2)}`,
        { host: { LogConfig: { Type: 'json-file', Config: { 'max-size': '100k', 'max-file': '2' } } } },
      );
      await steady('signal-box');
    },
  },
  ...(['docker', 'podman'] as const).map(
    (on, at): ContainerCase => ({
      id: `containers-leftover-images-${on}`,
      title: `Images that nothing names fill the disk of ${on}`,
      runbook: 'engine-disk',
      on,
      project: ['builds', 'nightlies'][at] ?? '',
      alert: [
        ['DockerDiskUsageHigh', 'PodmanDiskUsageHigh'][at] ?? '',
        'The disk of the container engine is filling',
      ],
      expected: found('Dangling images hold disk that nothing uses.', [['dangling']]),
      async cause({ engine: { api }, run }) {
        for (let n = 0; n < 3 + at; n += 1) {
          const progress = await api.importImage(Readable.from([layer(n + 7 * at)]) as never, {});
          progress.resume();
          await new Promise((resolve, reject) => progress.once('end', resolve).once('error', reject));
        }
        await run(
          ['runner', 'compiler'][at] ?? '',
          `ci/${on}-runner:4`,
          works(`INFO build ${at + 30} is done`, 2),
        );
      },
    }),
  ),
];

/** A tar archive with one file of some megabytes, unlike that of another number. */
function layer(number: number): Buffer {
  const size = (2 + number) * MIB;
  const header = Buffer.alloc(512);
  header.write(`build-${number}.bin`, 0);
  header.write('0000644\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.fill(' ', 148, 156);
  header.write('0', 156);
  header.write('ustar\0', 257);
  header.write('00', 263);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([header, Buffer.alloc(size, number + 1), Buffer.alloc(1024)]);
}
